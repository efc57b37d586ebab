package main

import (
	"slices"

	apps "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/replicaset"
)

type ScaleDown struct {
	Active []string       `json:"active"`
	Ranks  map[string]int `json:"ranks"`
	Order  [][]string     `json:"order"`
	Cyclic []int          `json:"cyclic,omitempty"`
}

func scaleDown(c *Case) (any, error) {
	ctx, stop := stoppable()
	defer stop()
	in := newCluster()
	replicaSets, pods := in.informers.Apps().V1().ReplicaSets(), in.informers.Core().V1().Pods()
	rsc := replicaset.NewReplicaSetController(ctx, replicaSets, pods, in.client, replicaset.BurstReplicas)
	add(in, replicaSets.Informer(), c.ReplicaSets...)
	add(in, pods.Informer(), c.Pods...)
	shrinking := c.ReplicaSets[slices.IndexFunc(c.ReplicaSets, func(rs *apps.ReplicaSet) bool { return rs.Name == c.ReplicaSet })]
	ranked, err := rsc.RecorderRanked(ctx, shrinking)
	if err != nil {
		return nil, err
	}
	ranked.Now = metav1.NewTime(c.Now)
	found := ScaleDown{Active: []string{}, Ranks: map[string]int{}, Order: [][]string{}}
	for i, pod := range ranked.Pods {
		found.Active = append(found.Active, pod.Name)
		found.Ranks[pod.Name] = ranked.Rank[i]
	}
	slices.Sort(found.Active)
	for at, group := range groups(ranked) {
		names := []string{}
		for _, i := range group {
			names = append(names, ranked.Pods[i].Name)
		}
		slices.Sort(names)
		found.Order = append(found.Order, names)
		if isCircle(ranked, group) {
			found.Cyclic = append(found.Cyclic, at)
		}
	}
	return found, nil
}

// groups are the pods in their order. Those of a group are equal, or go before each other in a circle.
func groups(pods controller.ActivePodsWithRanks) [][]int {
	before := make([][]bool, len(pods.Pods)) // or equal, directly or by others in between
	for i := range before {
		before[i] = make([]bool, len(pods.Pods))
		for j := range before {
			before[i][j] = !pods.Less(j, i)
		}
	}
	for k := range before {
		for i := range before {
			for j := range before {
				before[i][j] = before[i][j] || before[i][k] && before[k][j]
			}
		}
	}
	found := [][]int{}
	for i := range before {
		at, same := slices.BinarySearchFunc(found, i, func(group []int, i int) int {
			switch first := group[0]; {
			case !before[i][first]:
				return -1
			case !before[first][i]:
				return 1
			}
			return 0
		})
		if same {
			found[at] = append(found[at], i)
		} else {
			found = slices.Insert(found, at, []int{i})
		}
	}
	return found
}

func isCircle(pods controller.ActivePodsWithRanks, group []int) bool {
	return slices.ContainsFunc(group, func(i int) bool {
		return slices.ContainsFunc(group, func(j int) bool { return pods.Less(i, j) })
	})
}
