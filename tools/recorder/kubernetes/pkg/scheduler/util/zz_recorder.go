package util

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

var recorderNow = metav1.Now()

// recorderStarted are the same pods, of which those that have not started start at one time: which of two nodes is
// asked first, and so before the other by the clock, is the order of a map.
func recorderStarted(victims *extenderv1.Victims) *extenderv1.Victims {
	started := &extenderv1.Victims{NumPDBViolations: victims.NumPDBViolations}
	for _, pod := range victims.Pods {
		if pod.Status.StartTime == nil {
			pod = pod.DeepCopy()
			pod.Status.StartTime = &recorderNow
		}
		started.Pods = append(started.Pods, pod)
	}
	return started
}
