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
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
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

// onFailure tells of every pod that ScheduleOne does not place, and why, and what becomes of it then.
func (cluster *Cluster) onFailure(tell func(pod *v1.Pod, why string), then scheduler.FailureHandlerFn) {
	cluster.sched.FailureHandler = func(ctx context.Context, f framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		tell(info.Pod, why(status))
		then(ctx, f, info, status, nominating, start)
	}
}

func (cluster *Cluster) drop(_ context.Context, _ framework.Framework, info *framework.QueuedPodInfo, _ *fwk.Status, _ *fwk.NominatingInfo, _ time.Time) {
	cluster.sched.SchedulingQueue.Done(info.Pod.UID)
}

// giveBack is the scheduler's own handler, by which a pod waits in the queue for what may help it. It looks for the pod in
// the informer, where replicas are only as long as that takes: preemption does not run for them. A pod that no plugin
// rejects would be tried again without end.
func (cluster *Cluster) giveBack() scheduler.FailureHandlerFn {
	own := cluster.sched.FailureHandler
	return func(ctx context.Context, f framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		if fit, ok := status.AsError().(*framework.FitError); !ok || fit.Diagnosis.UnschedulablePlugins.Len() == 0 {
			cluster.drop(ctx, f, info, status, nominating, start)
			return
		}
		pod := info.Pod
		known := f.SharedInformerFactory().Core().V1().Pods().Informer().GetStore()
		known.Add(pod)
		defer known.Delete(pod)
		own(ctx, f, info, status, nominating, start)
	}
}

// ready says whether a pod waits for a cycle; without the gate nothing takes those that back off.
func (cluster *Cluster) ready() bool {
	queue := cluster.sched.SchedulingQueue
	backsOff := utilfeature.DefaultFeatureGate.Enabled(features.SchedulerPopFromBackoffQ) && len(queue.PodsInBackoffQ()) > 0
	return backsOff || len(queue.PodsInActiveQ()) > 0
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
	cluster.onFailure(func(_ *v1.Pod, why string) { answer.Stopped = why }, cluster.drop)
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

// queue puts all replicas of all workloads into the scheduling queue at once; the answer is "pod node" for each cycle, and
// "pod " for one that fails. A placed pod moves those that wait for it, which then have another cycle.
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
	}, cluster.giveBack())
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
	for cluster.ready() {
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
		cluster.sched.SchedulingQueue.AssignedPodAdded(klog.FromContext(cluster.ctx), placed)
	}
}
