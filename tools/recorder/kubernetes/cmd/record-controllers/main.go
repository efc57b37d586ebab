// record-controllers answers cases with the code of controllers, of the eviction API and of kubectl drain. The README
// beside the recorded answers says what a case and an answer of each family are.
package main

import (
	"encoding/json"
	"errors"
	"time"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/kubernetes/cmd/recorder/lines"
)

// Case is one of any family: which one is told by the fields it has.
type Case struct {
	Now  time.Time `json:"now"`
	Pods []*v1.Pod `json:"pods"`

	ReplicaSet  string             `json:"replicaSet"`
	ReplicaSets []*apps.ReplicaSet `json:"replicaSets"`

	Deployment *apps.Deployment `json:"deployment"`
	Steps      []Step           `json:"steps"`
	MaxPasses  []int            `json:"maxPasses"`
	Readiness  string           `json:"readiness"`
	Stuck      []string         `json:"stuck"`

	StatefulSet         *apps.StatefulSet          `json:"statefulSet"`
	ControllerRevisions []*apps.ControllerRevision `json:"controllerRevisions"`

	Objects              []json.RawMessage             `json:"objects"`
	PodDisruptionBudgets []*policy.PodDisruptionBudget `json:"podDisruptionBudgets"`
	Evictions            []string                      `json:"evictions"`
	Sync                 bool                          `json:"sync"`
	Resync               bool                          `json:"resync"`

	Node       string            `json:"node"`
	DaemonSets []*apps.DaemonSet `json:"daemonSets"`
	Flags      DrainFlags        `json:"flags"`

	DaemonSet *apps.DaemonSet `json:"daemonSet"`
	Nodes     []*v1.Node      `json:"nodes"`

	Job *batch.Job `json:"job"`
}

func main() {
	lines.Main(func(asked []byte) (any, error) {
		c := &Case{}
		if err := json.Unmarshal(asked, c); err != nil {
			return nil, err
		}
		switch {
		case c.ReplicaSet != "":
			return scaleDown(c)
		case c.Steps != nil:
			return rollout(c)
		case c.Deployment != nil:
			return deployStep(c)
		case c.StatefulSet != nil:
			return statefulSet(c)
		case c.PodDisruptionBudgets != nil:
			return budgets(c)
		case c.Node != "":
			return drained(c)
		case c.DaemonSet != nil:
			return daemonSet(c)
		case c.Job != nil:
			return ranJob(c)
		}
		return nil, errors.New("a case of no family")
	})
}
