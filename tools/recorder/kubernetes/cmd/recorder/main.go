// recorder answers scheduling cases, JSON lines on stdin, with kube-scheduler's own code. Its README says what a case is.
package main

import (
	"encoding/json"
	"errors"

	"k8s.io/kubernetes/cmd/recorder/lines"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

type Case struct {
	Nodes     []json.RawMessage `json:"nodes"`
	Pods      []json.RawMessage `json:"pods"`
	Objects   []json.RawMessage `json:"objects"`
	Pod       json.RawMessage   `json:"pod"`
	Config    string            `json:"config"`
	Replicas  int               `json:"replicas"`
	Preempt   bool              `json:"preempt"`
	Admission bool              `json:"admission"`
	Stored    bool              `json:"stored"` // the pod is one of Pods
	Mode      string            `json:"mode"`   // "real": replicas go through the queue and ScheduleOne
	Sample    bool              `json:"sample"` // as many nodes are scored as Config says, otherwise all
	Gang      *Gang             `json:"gang"`
	Queue     []Workload        `json:"queue"`
}

type Gang struct {
	Count int    `json:"count"`
	Same  string `json:"same"` // a topology key
}

type Workload struct {
	Pod      json.RawMessage `json:"pod"`
	Replicas int             `json:"replicas"`
}

type Answer struct {
	Nodes        map[string]NodeAnswer `json:"nodes,omitempty"`
	FitError     string                `json:"fitError,omitempty"`
	PreFilterMsg string                `json:"preFilterMsg,omitempty"`
	Preemption   *Preemption           `json:"preemption,omitempty"`
	Tail         string                `json:"tail,omitempty"` // what preemption adds to the message
	Placements   []Placement           `json:"placements,omitempty"`
	Stopped      string                `json:"stopped,omitempty"`
	Validation   []string              `json:"validation,omitempty"`
	Forbidden    string                `json:"forbidden,omitempty"`
	ConfigError  string                `json:"configError,omitempty"`
	Error        string                `json:"error,omitempty"`
	ScoreError   string                `json:"scoreError,omitempty"`
	Nominated    string                `json:"nominated,omitempty"`
	Sequence     []string              `json:"sequence,omitempty"`
	Gang         *GangAnswer           `json:"gang,omitempty"`
	Harness      string                `json:"-"` // the recorder's own fault, no answer
}

type Verdict struct {
	Code    string   `json:"code"`
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
}

type NodeAnswer struct {
	Filter  Verdict            `json:"filter"`
	Plugins map[string]Verdict `json:"plugins,omitempty"` // every one that rejects the node when it runs alone
	Scores  map[string]int64   `json:"scores,omitempty"`
	Total   *int64             `json:"total,omitempty"`
}

type Preemption struct {
	Node       string   `json:"node"`
	Victims    []string `json:"victims"`
	Violations int64    `json:"violations"`
}

type Placement struct {
	Node  string `json:"node"`
	Total int64  `json:"total"`
	Ties  int    `json:"ties"`
}

type GangAnswer struct {
	Placed map[string]string `json:"placed"`
}

func main() {
	defaultpreemption.RecorderOffset(func(int32) int32 { return 0 })
	lines.Main(answered)
}

func answered(asked []byte) (any, error) {
	c := &Case{}
	if err := json.Unmarshal(asked, c); err != nil {
		return nil, err
	}
	answer := &Answer{}
	switch {
	case c.Gang != nil:
		gang(c, answer)
	case len(c.Queue) > 0:
		queue(c, answer)
	case c.Mode == "real":
		sequence(c, answer)
	case c.Replicas > 0:
		placements(c, answer)
	default:
		explain(c, answer)
	}
	if answer.Harness != "" {
		return nil, errors.New(answer.Harness)
	}
	return answer, nil
}
