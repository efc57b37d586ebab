package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// explain is one scheduling cycle: every node's verdict, the filters one by one, scores, and preemption where asked for.
func explain(c *Case, answer *Answer) {
	pod := candidate(c.Pod, c, answer)
	if pod == nil {
		return
	}
	more := More{}
	if !c.Stored && pod.Spec.NodeName == "" {
		more.pods = []*v1.Pod{pod}
	}
	cluster := build(c, more, answer)
	if cluster == nil {
		return
	}
	defer cluster.close()
	f, ok := cluster.profile(pod, answer)
	if !ok {
		return
	}
	if len(cluster.nodes) == 0 {
		answer.FitError = scheduler.ErrNoNodesAvailable.Error()
		return
	}
	asked := pod
	if nominated := pod.Status.NominatedNodeName; nominated != "" {
		nodes, _, err := cluster.sched.RecorderFind(cluster.ctx, f, framework.NewCycleState(), podInfo(pod))
		if err == nil && len(nodes) == 1 && nodes[0].Node().Name == nominated {
			answer.Nominated = nominated
		}
		asked = pod.DeepCopy() // all nodes are told of as if it had no nomination
		asked.Status.NominatedNodeName = ""
	}
	state := framework.NewCycleState()
	feasible, diagnosis, err := cluster.sched.RecorderFind(cluster.ctx, f, state, podInfo(asked))
	if err != nil {
		answer.Error = err.Error()
	} else if len(feasible) > 0 && !f.HasScorePlugins() {
		feasible = cluster.everyFeasible(f, asked, &diagnosis) // the scheduler stops at the first one
	}
	answer.PreFilterMsg = diagnosis.PreFilterMsg
	answer.Nodes = verdicts(cluster.nodes, feasible, &diagnosis)
	if err != nil {
		return
	}
	cluster.filtersAlone(f, asked, answer)
	if len(feasible) == 0 {
		answer.FitError = (&framework.FitError{Pod: asked, NumAllNodes: len(cluster.nodes), Diagnosis: diagnosis}).Error()
		if c.Preempt && f.HasPostFilterPlugins() {
			cluster.preempt(f, state, pod, &diagnosis, answer)
		}
		return
	}
	cluster.score(c, f, state, asked, feasible, answer)
}

func (cluster *Cluster) profile(pod *v1.Pod, answer *Answer) (framework.Framework, bool) {
	f, ok := cluster.sched.Profiles[pod.Spec.SchedulerName]
	if !ok {
		answer.Error = fmt.Sprintf("profile not found for scheduler name %q", pod.Spec.SchedulerName)
	}
	return f, ok
}

func (cluster *Cluster) everyFeasible(f framework.Framework, pod *v1.Pod, diagnosis *framework.Diagnosis) (feasible []fwk.NodeInfo) {
	state := framework.NewCycleState()
	chosen, status, _ := f.RunPreFilterPlugins(cluster.ctx, state, pod)
	if !status.IsSuccess() {
		return nil
	}
	for _, name := range cluster.nodes {
		node, err := cluster.sched.RecorderSnapshot().NodeInfos().Get(name)
		if err != nil || !chosen.AllNodes() && !chosen.NodeNames.Has(name) {
			continue
		}
		if status := f.RunFilterPluginsWithNominatedPods(cluster.ctx, state, pod, node); status.IsSuccess() {
			feasible = append(feasible, node)
		} else {
			diagnosis.NodeToStatus.Set(name, status)
		}
	}
	return feasible
}

func verdicts(nodes []string, feasible []fwk.NodeInfo, diagnosis *framework.Diagnosis) map[string]NodeAnswer {
	answers := map[string]NodeAnswer{}
	for _, name := range nodes {
		answers[name] = NodeAnswer{Filter: verdict(diagnosis.NodeToStatus.Get(name))}
	}
	for _, node := range feasible {
		answers[node.Node().Name] = NodeAnswer{Filter: verdict(nil)}
	}
	return answers
}

func verdict(status *fwk.Status) Verdict {
	if status.IsSuccess() {
		return Verdict{Code: "Success"}
	}
	return Verdict{Code: status.Code().String(), Plugin: status.Plugin(), Reasons: status.Reasons()}
}

// filtersAlone asks every default filter by itself, also those that the profile leaves out, with its arguments.
func (cluster *Cluster) filtersAlone(f framework.Framework, pod *v1.Pod, answer *Answer) {
	if all, ok := cluster.sched.Profiles[shadow+pod.Spec.SchedulerName]; ok {
		f = all
	}
	for _, plugin := range frameworkruntime.RecorderFilters(f) {
		only := frameworkruntime.RecorderOnly(f, plugin)
		state := framework.NewCycleState()
		chosen, status, _ := only.RunPreFilterPlugins(cluster.ctx, state, pod)
		for _, name := range cluster.nodes {
			said := status
			if status.IsSuccess() && !chosen.AllNodes() && !chosen.NodeNames.Has(name) {
				said = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "excluded by PreFilterResult")
			} else if status.IsSuccess() {
				node, err := cluster.sched.RecorderSnapshot().NodeInfos().Get(name)
				if err != nil {
					continue
				}
				said = only.RunFilterPluginsWithNominatedPods(cluster.ctx, state, pod, node)
			}
			if said.IsSuccess() {
				continue
			}
			of := answer.Nodes[name]
			if of.Plugins == nil {
				of.Plugins = map[string]Verdict{}
			}
			of.Plugins[plugin] = Verdict{Code: said.Code().String(), Reasons: said.Reasons()}
			answer.Nodes[name] = of
		}
	}
}

func (cluster *Cluster) score(c *Case, f framework.Framework, state fwk.CycleState, pod *v1.Pod, feasible []fwk.NodeInfo, answer *Answer) {
	scores, err := cluster.sched.RecorderPrioritize(cluster.ctx, f, state, pod, feasible)
	if strings.Contains(c.Config, "NodeResourcesBalancedAllocation") && strings.Contains(text(c.Objects), `"DeviceClass"`) {
		time.Sleep(30 * time.Millisecond) // kube-scheduler crashes on some of these, in another goroutine, a little later
	}
	if err != nil && len(feasible) == 1 {
		answer.ScoreError = err.Error() // the scheduler takes a single node without scoring it
		return
	}
	if err != nil {
		answer.Error = err.Error()
		return
	}
	for _, scored := range scores {
		of := answer.Nodes[scored.Name]
		of.Scores = map[string]int64{}
		for _, plugin := range scored.Scores {
			of.Scores[plugin.Name] = plugin.Score
		}
		of.Total = &scored.TotalScore
		answer.Nodes[scored.Name] = of
	}
}

func text(objects []json.RawMessage) string {
	var all strings.Builder
	for _, raw := range objects {
		all.Write(raw)
	}
	return all.String()
}

func (cluster *Cluster) preempt(f framework.Framework, state fwk.CycleState, pod *v1.Pod, diagnosis *framework.Diagnosis, answer *Answer) {
	var best preemption.Candidate
	ctx := context.WithValue(cluster.ctx, preemption.RecorderKey{}, func(taken preemption.Candidate) { best = taken })
	result, status := f.RunPostFilterPlugins(ctx, state, pod, diagnosis.NodeToStatus)
	if best == nil || result == nil || result.NominatedNodeName != best.Name() {
		answer.Tail = status.Message()
		return
	}
	answer.Preemption = &Preemption{Node: best.Name(), Violations: best.Victims().NumPDBViolations}
	for _, victim := range best.Victims().Pods {
		answer.Preemption.Victims = append(answer.Preemption.Victims, victim.Namespace+"/"+victim.Name)
	}
}
