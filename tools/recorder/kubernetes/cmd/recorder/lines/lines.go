// Package lines answers cases, JSON lines on stdin, several at once and in their order.
package lines

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
)

var (
	gates   = flag.String("feature-gates", "", "as components take them; one process has one set")
	workers = flag.Int("workers", 2, "how many cases are answered at once")
)

type line struct {
	Name   string `json:"name"`
	Answer any    `json:"answer,omitempty"`
	Fault  string `json:"fault,omitempty"` // the recorder's own, no answer
}

// Main answers every case with what answer makes of it.
func Main(answer func(asked []byte) (any, error)) {
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
	answers := make(chan chan []byte, *workers) // in the order of the cases
	go read(bufio.NewReaderSize(os.Stdin, 1<<20), answer, answers)
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

func read(in *bufio.Reader, answer func([]byte) (any, error), answers chan<- chan []byte) {
	defer close(answers)
	for {
		asked, err := in.ReadBytes('\n')
		if len(strings.TrimSpace(string(asked))) > 0 {
			answered := make(chan []byte, 1)
			answers <- answered
			go func() { answered <- answeredLine(asked, answer) }()
		}
		if err != nil {
			return
		}
	}
}

func answeredLine(asked []byte, answer func([]byte) (any, error)) (out []byte) {
	found := line{}
	defer func() {
		if caught := recover(); caught != nil {
			found.Answer, found.Fault = nil, fmt.Sprintf("panic: %v", caught)
		}
		out, _ = json.Marshal(found)
	}()
	err := json.Unmarshal(asked, &found)
	if err == nil {
		found.Answer, err = answer(asked)
	}
	if err != nil {
		found.Answer, found.Fault = nil, err.Error()
	}
	return
}
