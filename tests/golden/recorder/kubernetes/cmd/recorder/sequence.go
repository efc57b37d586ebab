package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func replica(pod *v1.Pod, i int) *v1.Pod {
	copied := pod.DeepCopy()
	copied.Name = fmt.Sprintf("%s-%d", pod.Name, i)
	copied.UID = types.UID(fmt.Sprintf("%s-%d", pod.UID, i))
	return copied
}

// placements binds one replica after another to the node with the best total, of equal ones to the smallest name.
func placements(c *Case, answer *Answer) {
	pod := candidate(c.Pod, c, answer)
	if pod == nil {
		return
	}
	cluster := build(c, More{}, answer)
	if cluster == nil {
		return
	}
	defer cluster.close()
	f, ok := cluster.profile(pod, answer)
	if !ok {
		return
	}
	for i := range c.Replicas {
		copied := replica(pod, i)
		placed, ok := cluster.place(f, copied, answer)
		if !ok {
			return
		}
		answer.Placements = append(answer.Placements, placed)
		copied.Spec.NodeName = placed.Node
		if err := cluster.sched.Cache.AddPod(klog.FromContext(cluster.ctx), copied); err != nil {
			answer.Harness = err.Error()
			return
		}
	}
}

func (cluster *Cluster) place(f framework.Framework, pod *v1.Pod, answer *Answer) (placed Placement, ok bool) {
	if err := cluster.sched.RecorderUpdate(cluster.ctx); err != nil {
		answer.Harness = err.Error()
		return placed, false
	}
	state := framework.NewCycleState()
	feasible, diagnosis, err := cluster.sched.RecorderFind(cluster.ctx, f, state, podInfo(pod))
	if err != nil {
		answer.Error = err.Error()
		return placed, false
	}
	if len(feasible) == 0 {
		answer.Stopped = (&framework.FitError{Pod: pod, NumAllNodes: len(cluster.nodes), Diagnosis: diagnosis}).Error()
		return placed, false
	}
	scores, err := cluster.sched.RecorderPrioritize(cluster.ctx, f, state, pod, feasible)
	if err != nil && len(feasible) > 1 {
		answer.Error = err.Error()
		return placed, false
	}
	if err != nil {
		answer.ScoreError = err.Error() // the scheduler takes a single node without scoring it
		scores = []fwk.NodePluginScores{{Name: feasible[0].Node().Name}}
	}
	best := slices.MinFunc(scores, func(a, b fwk.NodePluginScores) int {
		return cmp.Or(cmp.Compare(b.TotalScore, a.TotalScore), strings.Compare(a.Name, b.Name))
	})
	placed = Placement{Node: best.Name, Total: best.TotalScore}
	for _, other := range scores {
		if other.TotalScore == best.TotalScore {
			placed.Ties++
		}
	}
	return placed, true
}

// onFailure tells of every pod that ScheduleOne does not place, and why.
func (cluster *Cluster) onFailure(tell func(pod *v1.Pod, why string)) {
	cluster.sched.FailureHandler = func(_ context.Context, _ framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, _ *fwk.NominatingInfo, _ time.Time) {
		tell(info.Pod, why(status))
		cluster.sched.SchedulingQueue.Done(info.Pod.UID)
	}
}

// why is the fit error without what preemption adds: replicas are not in the informers, so that it cannot run for them.
func why(status *fwk.Status) string {
	err := status.AsError()
	if fit, ok := err.(*framework.FitError); ok {
		fit.Diagnosis.PostFilterMsg = ""
	}
	if err != nil {
		return err.Error()
	}
	return status.Message()
}

// sequence sends replicas through the scheduling queue and ScheduleOne: its own order of nodes, ties and batches.
func sequence(c *Case, answer *Answer) {
	pod := candidate(c.Pod, c, answer)
	if pod == nil {
		return
	}
	cluster := build(c, More{sorted: true}, answer)
	if cluster == nil {
		return
	}
	defer cluster.close()
	if _, ok := cluster.profile(pod, answer); !ok {
		return
	}
	cluster.onFailure(func(_ *v1.Pod, why string) { answer.Stopped = why })
	cluster.sched.RecorderStart(0)
	for i := range c.Replicas {
		copied := replica(pod, i)
		cluster.sched.SchedulingQueue.Add(cluster.ctx, copied)
		cluster.sched.ScheduleOne(cluster.ctx)
		if answer.Stopped != "" {
			return
		}
		placed, err := cluster.sched.Cache.GetPod(copied)
		if err != nil {
			answer.Harness = err.Error()
			return
		}
		answer.Sequence = append(answer.Sequence, placed.Spec.NodeName)
	}
}

// queue puts all replicas of all workloads into the scheduling queue at once; the answer is "pod node" for each cycle.
func queue(c *Case, answer *Answer) {
	pods := map[types.UID]*v1.Pod{}
	var inOrder []*v1.Pod
	for _, workload := range c.Queue {
		pod := candidate(workload.Pod, c, answer)
		if pod == nil {
			return
		}
		pod.UID = types.UID("uid-" + pod.Name)
		for i := range workload.Replicas {
			inOrder = append(inOrder, replica(pod, i))
		}
	}
	cluster := build(c, More{sorted: true}, answer)
	if cluster == nil {
		return
	}
	defer cluster.close()
	var failed bool
	cluster.onFailure(func(pod *v1.Pod, why string) {
		failed = true
		answer.Sequence = append(answer.Sequence, pod.Name+" ")
		answer.Stopped = cmp.Or(answer.Stopped, why)
	})
	for _, pod := range inOrder {
		pods[pod.UID] = pod
		cluster.sched.SchedulingQueue.Add(cluster.ctx, pod)
		time.Sleep(20 * time.Microsecond) // those of one priority go by the time at which they came
	}
	next := cluster.sched.NextPod
	var popped *framework.QueuedPodInfo
	cluster.sched.NextPod = func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		var err error
		popped, err = next(logger)
		return popped, err
	}
	for range inOrder {
		failed = false
		cluster.sched.ScheduleOne(cluster.ctx)
		if failed {
			continue
		}
		placed, err := cluster.sched.Cache.GetPod(pods[popped.Pod.UID])
		if err != nil {
			answer.Harness = err.Error()
			return
		}
		answer.Sequence = append(answer.Sequence, popped.Pod.Name+" "+placed.Spec.NodeName)
	}
}
