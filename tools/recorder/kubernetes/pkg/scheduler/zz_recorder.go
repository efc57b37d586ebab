package scheduler

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Through these the recorder reaches what the scheduler does not export. Nothing is written anew.

func (sched *Scheduler) RecorderSnapshot() *internalcache.Snapshot { return sched.nodeInfoSnapshot }

func (sched *Scheduler) RecorderUpdate(ctx context.Context) error {
	return sched.Cache.UpdateSnapshot(klog.FromContext(ctx), sched.nodeInfoSnapshot)
}

func (sched *Scheduler) RecorderFind(ctx context.Context, f framework.Framework, state fwk.CycleState, pod *framework.QueuedPodInfo) ([]fwk.NodeInfo, framework.Diagnosis, error) {
	nodes, diagnosis, _, err := sched.findNodesThatFitPod(ctx, f, state, pod)
	return nodes, diagnosis, err
}

func (sched *Scheduler) RecorderPrioritize(ctx context.Context, f framework.Framework, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, error) {
	return prioritizeNodes(ctx, sched.Extenders, f, state, pod, nodes)
}

func (sched *Scheduler) RecorderSynced() bool {
	for _, handler := range sched.registeredHandlers {
		if !handler.HasSynced() {
			return false
		}
	}
	return true
}

func (sched *Scheduler) RecorderStart(node int) { sched.nextStartNodeIndex = node }
