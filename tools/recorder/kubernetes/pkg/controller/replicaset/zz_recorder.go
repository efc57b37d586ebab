package replicaset

import (
	"context"

	apps "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
)

// RecorderRanked is what a sync sorts to find the pods to delete; then the controller is of no more use.
func (rsc *ReplicaSetController) RecorderRanked(ctx context.Context, rs *apps.ReplicaSet) (controller.ActivePodsWithRanks, error) {
	defer rsc.queue.ShutDown()
	selector, err := metav1.LabelSelectorAsSelector(rs.Spec.Selector)
	if err != nil {
		return controller.ActivePodsWithRanks{}, err
	}
	pods, err := controller.FilterPodsByOwner(rsc.podIndexer, &rs.ObjectMeta, rsc.Kind, true)
	if err != nil {
		return controller.ActivePodsWithRanks{}, err
	}
	active, err := rsc.claimPods(ctx, rs, selector, controller.FilterActivePods(klog.FromContext(ctx), pods))
	if err != nil {
		return controller.ActivePodsWithRanks{}, err
	}
	related, err := rsc.getIndirectlyRelatedPods(klog.FromContext(ctx), rs)
	return getPodsRankedByRelatedPodsOnSameNode(active, related), err
}
