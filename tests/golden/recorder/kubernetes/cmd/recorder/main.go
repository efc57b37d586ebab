// recorder answers scheduling cases, JSON lines on stdin, with kube-scheduler's own code. Its README says what a case is.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

type Case struct {
	Name     string            `json:"name"`
	Nodes    []json.RawMessage `json:"nodes"`
	Pods     []json.RawMessage `json:"pods"`
	Objects  []json.RawMessage `json:"objects"`
	Pod      json.RawMessage   `json:"pod"`
	Config   string            `json:"config"`
	Replicas int               `json:"replicas"`
	Preempt  bool              `json:"preempt"`
	Stored   bool              `json:"stored"` // the pod is one of Pods
	Mode     string            `json:"mode"`   // "real": replicas go through the queue and ScheduleOne
	Sample   bool              `json:"sample"` // as many nodes are scored as Config says, otherwise all
	Gang     *Gang             `json:"gang"`
	Queue    []Workload        `json:"queue"`
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
	Name         string                `json:"name"`
	Nodes        map[string]NodeAnswer `json:"nodes,omitempty"`
	FitError     string                `json:"fitError,omitempty"`
	PreFilterMsg string                `json:"preFilterMsg,omitempty"`
	Preemption   *Preemption           `json:"preemption,omitempty"`
	Tail         string                `json:"tail,omitempty"` // what preemption adds to the message
	Placements   []Placement           `json:"placements,omitempty"`
	Stopped      string                `json:"stopped,omitempty"`
	Validation   []string              `json:"validation,omitempty"`
	ConfigError  string                `json:"configError,omitempty"`
	Error        string                `json:"error,omitempty"`
	ScoreError   string                `json:"scoreError,omitempty"`
	Nominated    string                `json:"nominated,omitempty"`
	Sequence     []string              `json:"sequence,omitempty"`
	Gang         *GangAnswer           `json:"gang,omitempty"`
	Harness      string                `json:"harness,omitempty"` // the recorder's own fault, no answer
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

var (
	gates   = flag.String("feature-gates", "", "as kube-scheduler takes them; one process has one set")
	workers = flag.Int("workers", 2, "how many cases are answered at once")
)

func main() {
	klog.InitFlags(nil)
	flag.Parse()
	flag.Set("logtostderr", "false")
	flag.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
	utilruntime.ErrorHandlers = nil
	if err := utilfeature.DefaultMutableFeatureGate.Set(*gates); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	defaultpreemption.RecorderOffset(func(int32) int32 { return 0 })
	answers := make(chan chan []byte, *workers) // in the order of the cases
	go read(bufio.NewReaderSize(os.Stdin, 1<<20), answers)
	out := bufio.NewWriter(os.Stdout)
	for answer := range answers {
		out.Write(<-answer)
		out.WriteByte('\n')
		if len(answers) == 0 {
			out.Flush()
		}
	}
	out.Flush()
}

func read(in *bufio.Reader, answers chan<- chan []byte) {
	defer close(answers)
	for {
		line, err := in.ReadBytes('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			answer := make(chan []byte, 1)
			answers <- answer
			go func() { answer <- answered(line) }()
		}
		if err != nil {
			return
		}
	}
}

func answered(line []byte) (out []byte) {
	c := &Case{}
	answer := &Answer{}
	var other map[string]any
	defer func() {
		if caught := recover(); caught != nil {
			answer = &Answer{Harness: fmt.Sprintf("panic: %v", caught)}
		}
		answer.Name = c.Name
		out, _ = json.Marshal(answer)
		if other != nil {
			other["name"] = c.Name
			out, _ = json.Marshal(other)
		}
	}()
	err := json.Unmarshal(line, c)
	if err == nil {
		other, err = controlled(line)
	}
	if err != nil {
		answer.Harness = err.Error()
		return
	}
	if other != nil {
		return
	}
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
	return
}
