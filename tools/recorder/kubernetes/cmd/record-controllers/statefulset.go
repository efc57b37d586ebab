package main

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controller/history"
	"k8s.io/kubernetes/pkg/controller/statefulset"
)

const enoughPasses = 200

type StatefulSet struct {
	Actions   []Action          `json:"actions"`
	Then      [][]Action        `json:"then"`
	Revisions map[string]string `json:"revisions"`
}

type Action struct {
	Op       string `json:"op"`
	Pod      string `json:"pod"`
	Revision string `json:"revision,omitempty"`
}

// podControl remembers what is created and deleted. The methods that it lacks are those of volumes.
type podControl struct {
	statefulset.StatefulPodControlObjectManager
	lock    sync.Mutex
	actions []Action
	created []*v1.Pod
	status  *apps.StatefulSetStatus
}

func (p *podControl) CreatePod(_ context.Context, pod *v1.Pod, _ *apps.StatefulSet) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.actions = append(p.actions, Action{"create", pod.Name, pod.Labels[apps.StatefulSetRevisionLabel]})
	p.created = append(p.created, pod)
	return nil
}

func (p *podControl) UpdatePod(*v1.Pod, *apps.StatefulSet) error { return nil }

// DeletePod is called twice in a pass for some pods; the second time the API server finds nothing.
func (p *podControl) DeletePod(pod *v1.Pod) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if deleted := (Action{"delete", pod.Name, ""}); !slices.Contains(p.actions, deleted) {
		p.actions = append(p.actions, deleted)
	}
	return nil
}

func (p *podControl) UpdateStatefulSetStatus(_ context.Context, _ *apps.StatefulSet, status *apps.StatefulSetStatus) error {
	p.status = status.DeepCopy()
	return nil
}

func statefulSet(c *Case) (any, error) {
	set, pods := c.StatefulSet, c.Pods
	legacyscheme.Scheme.Default(set)
	in := newCluster()
	revisions := in.informers.Apps().V1().ControllerRevisions()
	for _, revision := range c.ControllerRevisions {
		if err := completeData(revision); err != nil {
			return nil, err
		}
	}
	add(in, revisions.Informer(), c.ControllerRevisions...)
	for _, pod := range pods {
		legacyscheme.Scheme.Default(pod)
	}
	ctx, stop := stoppable()
	defer stop()
	found := StatefulSet{Then: [][]Action{}}
	for i := range enoughPasses {
		done := &podControl{actions: []Action{}, status: &set.Status}
		control := statefulset.NewDefaultStatefulSetControl(
			statefulset.NewStatefulPodControlFromManager(done, &record.FakeRecorder{}), done, history.NewFakeHistory(revisions))
		if _, err := control.UpdateStatefulSet(ctx, set, pods, time.Now()); err != nil {
			return nil, err
		}
		if set.Spec.PodManagementPolicy == apps.ParallelPodManagement {
			slices.SortFunc(done.actions, func(a, b Action) int {
				return cmp.Or(strings.Compare(a.Op, b.Op), ordinal(a.Pod)-ordinal(b.Pod))
			})
		}
		if i == 0 {
			found.Actions = done.actions
			found.Revisions = map[string]string{
				"currentRevision": done.status.CurrentRevision, "updateRevision": done.status.UpdateRevision,
			}
		} else {
			found.Then = append(found.Then, done.actions)
		}
		if len(done.actions) == 0 && apiequality.Semantic.DeepEqual(set.Status, *done.status) {
			break
		}
		set.Status = *done.status
		pods = settled(pods, done)
	}
	for n := len(found.Then); n > 0 && len(found.Then[n-1]) == 0; n-- {
		found.Then = found.Then[:n-1]
	}
	return found, nil
}

// completeData is the data of a revision as the controller writes it: of a template with defaults.
func completeData(revision *apps.ControllerRevision) error {
	set := &apps.StatefulSet{}
	if err := json.Unmarshal(revision.Data.Raw, set); err != nil {
		return err
	}
	legacyscheme.Scheme.Default(set)
	data, err := statefulset.RecorderPatch(set)
	revision.Data.Raw = data
	return err
}

// settled are the pods after a pass: deleted ones are gone, created ones are ready, all others are as they were.
func settled(pods []*v1.Pod, done *podControl) []*v1.Pod {
	left := []*v1.Pod{}
	for _, pod := range pods {
		if !slices.Contains(done.actions, Action{"delete", pod.Name, ""}) {
			left = append(left, pod)
		}
	}
	for _, pod := range done.created {
		pod.Status = v1.PodStatus{Phase: v1.PodRunning, Conditions: []v1.PodCondition{
			{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Hour))},
		}}
		left = append(left, pod)
	}
	return left
}

func ordinal(name string) int {
	found, _ := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
	return found
}
