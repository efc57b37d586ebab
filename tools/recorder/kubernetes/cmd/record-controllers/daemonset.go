package main

import (
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controller/daemon"
)

type Belongs struct {
	ShouldRun      bool `json:"shouldRun"`
	ShouldContinue bool `json:"shouldContinue"`
}

func daemonSet(c *Case) (any, error) {
	legacyscheme.Scheme.Default(c.DaemonSet)
	found := map[string]Belongs{}
	for _, node := range c.Nodes {
		legacyscheme.Scheme.Default(node)
		run, stay := daemon.NodeShouldRunDaemonPod(klog.Background(), node, c.DaemonSet)
		found[node.Name] = Belongs{run, stay}
	}
	return found, nil
}
