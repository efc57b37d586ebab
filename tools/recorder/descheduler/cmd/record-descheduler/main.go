// record-descheduler answers cases with the code of the descheduler. The README beside the recorded answers of controllers
// says what a case and an answer are.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"math/rand"
	"slices"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/descheduler/cmd/recorder/lines"
	"sigs.k8s.io/descheduler/pkg/descheduler"
)

const (
	times       = 32 // in the order of the case, and in a random one
	maxOutcomes = 12
	maxInOrder  = 8
	maxSmall    = 12 // up to so many elements Go's sort is an insertion sort, which keeps the order of equal ones
	noDomain    = "<none>"
)

type Case struct {
	Policy     json.RawMessage `json:"policy"`
	Nodes      []*v1.Node      `json:"nodes"`
	Pods       []*v1.Pod       `json:"pods"`
	Namespaces []*v1.Namespace `json:"namespaces"`
}

type Answer struct {
	Error        string     `json:"error,omitempty"`
	Totals       []int      `json:"totals,omitempty"`
	Outcomes     []Outcome  `json:"outcomes,omitempty"`
	OutcomesCut  int        `json:"outcomesCut,omitempty"`
	Always       []string   `json:"always"`
	Sometimes    []string   `json:"sometimes"`
	InOrder      [][]string `json:"inOrder"`
	InOrderCount int        `json:"inOrderCount"`
	Small        bool       `json:"small"`
}

// Outcome is how many pods of each domain a cycle evicts, by topology key.
type Outcome struct {
	Domains map[string]map[string]int `json:"domains"`
	Total   int                       `json:"total"`
}

func main() {
	descheduler.SetupPlugins()
	lines.Main(func(asked []byte) (any, error) {
		c := &Case{}
		if err := json.Unmarshal(asked, c); err != nil {
			return nil, err
		}
		return answered(c)
	})
}

func answered(c *Case) (*Answer, error) {
	var objects []runtime.Object
	for _, node := range c.Nodes {
		objects = append(objects, node)
	}
	for _, pod := range c.Pods {
		objects = append(objects, pod)
	}
	for _, namespace := range c.Namespaces {
		objects = append(objects, namespace)
	}
	client := fake.NewSimpleClientset(objects...)
	var evicted []string
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		eviction := action.(clienttesting.CreateAction).GetObject().(*policy.Eviction)
		evicted = append(evicted, eviction.Namespace+"/"+eviction.Name)
		return true, nil, nil
	})
	read, err := descheduler.RecorderDecode(c.Policy, client)
	if err != nil {
		return &Answer{Error: err.Error()}, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	order := &descheduler.RecorderOrder{}
	cycle, err := descheduler.RecorderCycles(ctx, read, client, order)
	if err != nil {
		return &Answer{Error: err.Error()}, nil
	}
	run := func(nodes func([]*v1.Node), pods func([]*v1.Pod)) ([]string, error) {
		evicted, order.Nodes, order.Pods = nil, nodes, pods
		err := cycle()
		slices.Sort(evicted)
		return evicted, err
	}
	return c.repeated(run)
}

// repeated is what all cycles come to: the choice among equal pods and domains is arbitrary.
func (c *Case) repeated(run func(func([]*v1.Node), func([]*v1.Pod)) ([]string, error)) (*Answer, error) {
	places := map[string]int{}
	for i, node := range c.Nodes {
		places[node.Name] = i
	}
	nodesInOrder := func(nodes []*v1.Node) {
		slices.SortFunc(nodes, func(a, b *v1.Node) int { return places[a.Name] - places[b.Name] })
	}
	podsInOrder := func(pods []*v1.Pod) {
		slices.SortFunc(pods, func(a, b *v1.Pod) int { return cmp.Compare(name(a), name(b)) })
	}
	var inOrder, all [][]string
	for range times {
		found, err := run(nodesInOrder, podsInOrder)
		if err != nil {
			return nil, err
		}
		inOrder, all = with(inOrder, found), with(all, found)
	}
	for i := range times {
		chance := rand.New(rand.NewSource(int64(i)))
		found, err := run(func(nodes []*v1.Node) {
			nodesInOrder(nodes)
			chance.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		}, func(pods []*v1.Pod) {
			podsInOrder(pods)
			chance.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		})
		if err != nil {
			return nil, err
		}
		all = with(all, found)
	}
	for _, pod := range c.Pods {
		if !slices.ContainsFunc(all, func(each []string) bool { return slices.Contains(each, name(pod)) }) {
			continue
		}
		for _, sign := range []int{-1, -1, 1, 1} {
			found, err := run(func(nodes []*v1.Node) {
				nodesInOrder(nodes)
				slices.SortStableFunc(nodes, func(a, b *v1.Node) int {
					return sign * (one(a.Name == pod.Spec.NodeName) - one(b.Name == pod.Spec.NodeName))
				})
			}, func(pods []*v1.Pod) {
				podsInOrder(pods)
				slices.SortStableFunc(pods, func(a, b *v1.Pod) int { return sign * (one(name(a) == name(pod)) - one(name(b) == name(pod))) })
			})
			if err != nil {
				return nil, err
			}
			all = with(all, found)
		}
	}
	return c.answer(inOrder, all), nil
}

func (c *Case) answer(inOrder, all [][]string) *Answer {
	answer := &Answer{
		Always: []string{}, Sometimes: []string{}, InOrder: inOrder[:min(len(inOrder), maxInOrder)],
		InOrderCount: len(inOrder), Small: c.isSmall(),
	}
	evicted := map[string]int{}
	var seen [][]byte
	for _, each := range all {
		for _, pod := range each {
			evicted[pod]++
		}
		if !slices.Contains(answer.Totals, len(each)) {
			answer.Totals = append(answer.Totals, len(each))
		}
		outcome := c.outcome(each)
		text, _ := json.Marshal(outcome)
		if !slices.ContainsFunc(seen, func(other []byte) bool { return bytes.Equal(other, text) }) {
			seen, answer.Outcomes = append(seen, text), append(answer.Outcomes, outcome)
		}
	}
	slices.Sort(answer.Totals)
	for pod, cycles := range evicted {
		if cycles == len(all) {
			answer.Always = append(answer.Always, pod)
		} else {
			answer.Sometimes = append(answer.Sometimes, pod)
		}
	}
	slices.Sort(answer.Always)
	slices.Sort(answer.Sometimes)
	if len(answer.Outcomes) > maxOutcomes {
		answer.OutcomesCut = len(answer.Outcomes)
		answer.Outcomes = answer.Outcomes[:maxOutcomes]
	}
	return answer
}

func (c *Case) outcome(evicted []string) Outcome {
	outcome := Outcome{Domains: map[string]map[string]int{}, Total: len(evicted)}
	for _, key := range c.keys() {
		counts := map[string]int{}
		for _, pod := range c.Pods {
			if slices.Contains(evicted, name(pod)) {
				counts[c.domain(pod, key)]++
			}
		}
		outcome.Domains[key] = counts
	}
	return outcome
}

func (c *Case) keys() (keys []string) {
	for _, pod := range c.Pods {
		for _, constraint := range pod.Spec.TopologySpreadConstraints {
			keys = append(keys, constraint.TopologyKey)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func (c *Case) domain(pod *v1.Pod, key string) string {
	for _, node := range c.Nodes {
		if value, ok := node.Labels[key]; ok && node.Name == pod.Spec.NodeName {
			return value
		}
	}
	return noDomain
}

// isSmall is whether no domain holds more pods of a namespace than Go sorts by insertion.
func (c *Case) isSmall() bool {
	for _, key := range c.keys() {
		counts := map[[2]string]int{}
		for _, pod := range c.Pods {
			in := [2]string{pod.Namespace, c.domain(pod, key)}
			if counts[in]++; counts[in] > maxSmall && in[1] != noDomain {
				return false
			}
		}
	}
	return true
}

func name(pod *v1.Pod) string { return pod.Namespace + "/" + pod.Name }

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// with are the distinct sets of pods.
func with(sets [][]string, found []string) [][]string {
	if slices.ContainsFunc(sets, func(each []string) bool { return slices.Equal(each, found) }) {
		return sets
	}
	return append(sets, append([]string{}, found...))
}
