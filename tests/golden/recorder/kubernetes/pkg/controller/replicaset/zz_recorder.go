package replicaset

import (
	"context"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
)

// RecorderRanked are the pods that rs counts and can delete, as they are compared when it shrinks at the time now.
func (rsc *ReplicaSetController) RecorderRanked(ctx context.Context, rs *apps.ReplicaSet, now metav1.Time) (controller.ActivePodsWithRanks, error) {
	none := controller.ActivePodsWithRanks{}
	logger := klog.FromContext(ctx)
	selector, err := metav1.LabelSelectorAsSelector(rs.Spec.Selector)
	if err != nil {
		return none, err
	}
	var own, related []*v1.Pod
	if own, err = controller.FilterPodsByOwner(rsc.podIndexer, &rs.ObjectMeta, rsc.Kind, true); err != nil {
		return none, err
	}
	if own, err = rsc.claimPods(ctx, rs, selector, controller.FilterActivePods(logger, own)); err != nil {
		return none, err
	}
	if related, err = rsc.getIndirectlyRelatedPods(logger, rs); err != nil {
		return none, err
	}
	ranked := getPodsRankedByRelatedPodsOnSameNode(own, related)
	ranked.Now = now
	return ranked, nil
}
