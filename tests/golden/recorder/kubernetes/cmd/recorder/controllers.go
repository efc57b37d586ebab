package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/kubectl/pkg/drain"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/replicaset"
)

// Controlled is a case for a controller or for kubectl drain.
type Controlled struct {
	Now         time.Time          `json:"now"`
	Node        string             `json:"node"`
	Nodes       []json.RawMessage  `json:"nodes"`
	Pods        []*v1.Pod          `json:"pods"`
	DaemonSet   *apps.DaemonSet    `json:"daemonSet"`
	DaemonSets  []*apps.DaemonSet  `json:"daemonSets"`
	Flags       *Flags             `json:"flags"`
	ReplicaSet  string             `json:"replicaSet"` // the one of ReplicaSets that shrinks
	ReplicaSets []*apps.ReplicaSet `json:"replicaSets"`
}

// Flags are kubectl's.
type Flags struct {
	Force                    bool   `json:"force"`
	IgnoreDaemonSets         bool   `json:"ignore-daemonsets"`
	DeleteEmptyDirData       bool   `json:"delete-emptydir-data"`
	PodSelector              string `json:"pod-selector"`
	SkipWaitForDeleteTimeout int    `json:"skip-wait-for-delete-timeout"`
}

type Belongs struct {
	ShouldRun      bool `json:"shouldRun"`
	ShouldContinue bool `json:"shouldContinue"`
}

// controlled answers a case that is not the scheduler's; nil if it is.
func controlled(line []byte) (map[string]any, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil || fields["pod"] != nil {
		return nil, err
	}
	c := &Controlled{}
	if err := json.Unmarshal(line, c); err != nil {
		return nil, err
	}
	switch {
	case c.DaemonSet != nil:
		return belongs(c)
	case c.Flags != nil:
		return drained(c)
	case c.ReplicaSet != "":
		return shrunk(c)
	}
	return nil, errors.New("what is asked cannot be told from the keys of the case")
}

// belongs tells of each node whether the DaemonSet's pod should run there, and whether it may stay.
func belongs(c *Controlled) (map[string]any, error) {
	legacyscheme.Scheme.Default(c.DaemonSet)
	answer := map[string]any{}
	for _, raw := range c.Nodes {
		object, err := decode(raw)
		if err != nil {
			return nil, err
		}
		node := object.(*v1.Node)
		run, stay := daemon.NodeShouldRunDaemonPod(klog.TODO(), node, c.DaemonSet)
		answer[node.Name] = Belongs{run, stay}
	}
	return answer, nil
}

// drained is what kubectl drain would evict, and say.
func drained(c *Controlled) (map[string]any, error) {
	var objects []runtime.Object
	for _, set := range c.DaemonSets {
		objects = append(objects, set)
	}
	client := fake.NewSimpleClientset(objects...)
	client.PrependReactor("list", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		wanted := action.(clienttesting.ListAction).GetListRestrictions()
		list := &v1.PodList{}
		for _, pod := range c.Pods {
			at := fields.Set{"spec.nodeName": pod.Spec.NodeName}
			if wanted.Labels.Matches(labels.Set(pod.Labels)) && wanted.Fields.Matches(at) {
				list.Items = append(list.Items, *pod)
			}
		}
		return true, list, nil
	})
	helper := &drain.Helper{
		Ctx: context.Background(), Client: client, GracePeriodSeconds: -1,
		Force: c.Flags.Force, IgnoreAllDaemonSets: c.Flags.IgnoreDaemonSets, DeleteEmptyDirData: c.Flags.DeleteEmptyDirData,
		PodSelector: c.Flags.PodSelector, SkipWaitForDeleteTimeoutSeconds: c.Flags.SkipWaitForDeleteTimeout,
	}
	list, faults := helper.GetPodsForDeletion(c.Node)
	evicted, warnings, texts := []string{}, []string{}, []string{}
	for _, fault := range faults {
		texts = append(texts, fault.Error())
	}
	if list != nil {
		for _, pod := range list.Pods() {
			evicted = append(evicted, pod.Namespace+"/"+pod.Name)
		}
		if said := list.Warnings(); said != "" {
			warnings = strings.Split(said, "; ")
		}
	}
	slices.Sort(warnings) // kubectl's own order is a map's
	slices.Sort(texts)
	return map[string]any{"evict": evicted, "warnings": warnings, "errors": texts}, nil
}

// shrunk is the order in which a ReplicaSet deletes its pods: groups, in each of which any pod may go first.
func shrunk(c *Controlled) (map[string]any, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var objects []runtime.Object
	var shrinking *apps.ReplicaSet
	for _, set := range c.ReplicaSets {
		objects = append(objects, set)
		if set.Name == c.ReplicaSet {
			shrinking = set
		}
	}
	for _, pod := range c.Pods {
		objects = append(objects, pod)
	}
	client := fake.NewSimpleClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	sets, pods := factory.Apps().V1().ReplicaSets(), factory.Core().V1().Pods()
	shrinker := replicaset.NewReplicaSetController(ctx, sets, pods, client, replicaset.BurstReplicas)
	for _, set := range c.ReplicaSets {
		sets.Informer().GetIndexer().Add(set)
	}
	for _, pod := range c.Pods {
		pods.Informer().GetIndexer().Add(pod)
	}
	ranked, err := shrinker.RecorderRanked(ctx, shrinking, metav1.NewTime(c.Now))
	if err != nil {
		return nil, err
	}
	names, ranks := []string{}, map[string]int{}
	for i, pod := range ranked.Pods {
		names = append(names, pod.Name)
		ranks[pod.Name] = ranked.Rank[i]
	}
	slices.Sort(names)
	answer := map[string]any{"active": names, "ranks": ranks}
	order, cyclic := groups(ranked)
	answer["order"] = order
	if len(cyclic) > 0 {
		answer["cyclic"] = cyclic
	}
	return answer, nil
}

// groups are pods in the order of their deletion. The comparison is not transitive: those that can come before each other
// by way of others are one group, as equals are; the indexes of groups that are no mere equals are cyclic.
func groups(ranked controller.ActivePodsWithRanks) (order [][]string, cyclic []int) {
	n := ranked.Len()
	before := make([][]bool, n) // or beside, over any number of steps
	for i := range n {
		before[i] = make([]bool, n)
		for j := range n {
			before[i][j] = i == j || !ranked.Less(j, i)
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				before[i][j] = before[i][j] || before[i][k] && before[k][j]
			}
		}
	}
	places := make([]int, n)
	for i := range n {
		places[i] = i
	}
	ahead := func(i int) (count int) {
		for j := range n {
			if before[j][i] {
				count++
			}
		}
		return count
	}
	slices.SortFunc(places, func(a, b int) int {
		if d := ahead(a) - ahead(b); d != 0 {
			return d
		}
		return strings.Compare(ranked.Pods[a].Name, ranked.Pods[b].Name)
	})
	order = [][]string{}
	for at := 0; at < n; {
		end := at
		var members []string
		circular := false
		for ; end < n && before[places[end]][places[at]] && before[places[at]][places[end]]; end++ {
			members = append(members, ranked.Pods[places[end]].Name)
			for _, other := range places[at:end] {
				circular = circular || ranked.Less(other, places[end]) || ranked.Less(places[end], other)
			}
		}
		if circular {
			cyclic = append(cyclic, len(order))
		}
		order = append(order, members)
		at = end
	}
	return order, cyclic
}
