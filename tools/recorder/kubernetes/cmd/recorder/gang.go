package main

import (
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingapi "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const group = "group"

// gang sends one PodGroup through ScheduleOne; the feature gates GenericWorkload and GangScheduling have to be on.
func gang(c *Case, answer *Answer) {
	pod := candidate(c.Pod, c, answer)
	if pod == nil {
		return
	}
	name := group
	pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name}
	podGroup := &schedulingapi.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: pod.Namespace, UID: group}}
	podGroup.Spec.SchedulingPolicy.Gang = &schedulingapi.GangSchedulingPolicy{MinCount: int32(c.Gang.Count)}
	if c.Gang.Same != "" {
		podGroup.Spec.SchedulingConstraints = &schedulingapi.PodGroupSchedulingConstraints{
			Topology: []schedulingapi.TopologyConstraint{{Key: c.Gang.Same}},
		}
	}
	var members []*v1.Pod
	for i := range max(c.Replicas, c.Gang.Count) {
		member := replica(pod, i)
		member.CreationTimestamp = metav1.NewTime(time.Unix(1700000000+int64(i), 0))
		members = append(members, member)
	}
	cluster := build(c, More{pods: members, objects: []runtime.Object{podGroup}, sorted: true}, answer)
	if cluster == nil {
		return
	}
	defer cluster.close()
	cluster.onFailure(func(*v1.Pod, string) {}, cluster.drop)
	done := make(chan struct{})
	go func() { cluster.sched.ScheduleOne(cluster.ctx); close(done) }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		answer.Harness = "nothing in the queue"
		return
	}
	answer.Gang = &GangAnswer{Placed: map[string]string{}}
	for _, member := range members {
		if placed, err := cluster.sched.Cache.GetPod(member); err == nil && placed.Spec.NodeName != "" {
			answer.Gang.Placed[member.Name] = placed.Spec.NodeName
		}
	}
}
