package main

import (
	"io"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kubectl/pkg/drain"
)

// DrainFlags are kubectl's.
type DrainFlags struct {
	Force                        bool   `json:"force"`
	IgnoreDaemonSets             bool   `json:"ignore-daemonsets"`
	DeleteEmptyDirData           bool   `json:"delete-emptydir-data"`
	PodSelector                  string `json:"pod-selector"`
	SkipWaitForDeleteTimeoutSecs int    `json:"skip-wait-for-delete-timeout"`
}

type Drained struct {
	Evict    []string `json:"evict"`
	Warnings []string `json:"warnings"`
	Errors   []string `json:"errors"`
}

func drained(c *Case) (any, error) {
	in := newCluster()
	add(in, in.informers.Core().V1().Pods().Informer(), c.Pods...)
	add(in, in.informers.Apps().V1().DaemonSets().Informer(), c.DaemonSets...)
	// The fake client knows no field selectors, and lists in no order: the case has both.
	in.client.PrependReactor("list", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		selector := action.(clienttesting.ListAction).GetListRestrictions().Fields
		found := &v1.PodList{}
		for _, pod := range c.Pods {
			if selector.Matches(fields.Set{"spec.nodeName": pod.Spec.NodeName}) {
				found.Items = append(found.Items, *pod)
			}
		}
		return true, found, nil
	})
	ctx, stop := stoppable()
	defer stop()
	helper := drain.Helper{
		Ctx:                             ctx,
		Client:                          in.client,
		Force:                           c.Flags.Force,
		IgnoreAllDaemonSets:             c.Flags.IgnoreDaemonSets,
		DeleteEmptyDirData:              c.Flags.DeleteEmptyDirData,
		PodSelector:                     c.Flags.PodSelector,
		SkipWaitForDeleteTimeoutSeconds: c.Flags.SkipWaitForDeleteTimeoutSecs,
		Out:                             io.Discard,
		ErrOut:                          io.Discard,
	}
	list, failed := helper.GetPodsForDeletion(c.Node)
	found := Drained{Evict: []string{}, Warnings: []string{}, Errors: []string{}}
	for _, pod := range list.Pods() {
		found.Evict = append(found.Evict, nameOf(&pod))
	}
	if warnings := list.Warnings(); warnings != "" {
		found.Warnings = strings.Split(warnings, "; ")
	}
	for _, err := range failed {
		found.Errors = append(found.Errors, err.Error())
	}
	slices.Sort(found.Warnings)
	slices.Sort(found.Errors)
	return found, nil
}
