package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	apps "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/deployment/util"
	"k8s.io/utils/ptr"
)

var annotations = map[string]string{
	"desired":  util.DesiredReplicasAnnotation,
	"max":      util.MaxReplicasAnnotation,
	"revision": util.RevisionAnnotation,
}

// pass is what a reconcile pass of the Deployment controller leaves.
type pass struct {
	deployment  *apps.Deployment
	replicaSets map[string]*apps.ReplicaSet
	created     *apps.ReplicaSet
	writes      []write
}

// write is a size that the pass wrote; none where it deleted the ReplicaSet.
type write struct {
	name string
	size *int32
}

func reconciled(c *Case, d *apps.Deployment, replicaSets []*apps.ReplicaSet) (*pass, error) {
	ctx, stop := stoppable()
	defer stop()
	in := newCluster()
	workloads, pods := in.informers.Apps().V1(), in.informers.Core().V1().Pods()
	deployments, sets := workloads.Deployments(), workloads.ReplicaSets()
	dc, err := deployment.NewDeploymentController(ctx, deployments, sets, pods, in.client)
	if err != nil {
		return nil, err
	}
	add(in, deployments.Informer(), d)
	add(in, sets.Informer(), replicaSets...)
	add(in, pods.Informer(), c.Pods...)
	if err := dc.RecorderSync(ctx, nameOf(d)); err != nil {
		return nil, err
	}
	found := &pass{replicaSets: map[string]*apps.ReplicaSet{}}
	sizes := map[string]int32{}
	for _, rs := range replicaSets {
		sizes[rs.Name] = *rs.Spec.Replicas
	}
	createdName := ""
	for _, action := range in.client.Actions() {
		if action.GetResource().Resource != "replicasets" {
			continue
		}
		switch action := action.(type) {
		case clienttesting.CreateAction: // or of an update, which has the same methods
			rs := action.GetObject().(*apps.ReplicaSet)
			size, isThere := sizes[rs.Name]
			if !isThere {
				createdName = rs.Name
			}
			if !isThere || size != *rs.Spec.Replicas {
				sizes[rs.Name] = *rs.Spec.Replicas
				found.writes = append(found.writes, write{rs.Name, ptr.To(*rs.Spec.Replicas)})
			}
		case clienttesting.DeleteAction:
			found.writes = append(found.writes, write{action.GetName(), nil})
		}
	}
	left, err := in.client.AppsV1().ReplicaSets(d.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range left.Items {
		rs := &left.Items[i]
		found.replicaSets[rs.Name] = rs
	}
	found.created = found.replicaSets[createdName]
	found.deployment, err = in.client.AppsV1().Deployments(d.Namespace).Get(ctx, d.Name, metav1.GetOptions{})
	return found, err
}

type DeployStep struct {
	MaxSurge       int32                        `json:"maxSurge"`
	MaxUnavailable int32                        `json:"maxUnavailable"`
	New            *string                      `json:"new"`
	ReplicaSets    map[string]int32             `json:"replicaSets"`
	Created        *Created                     `json:"created"`
	Writes         [][2]any                     `json:"writes"`
	Annotations    map[string]map[string]string `json:"annotations"`
}

type Created struct {
	Replicas    int32             `json:"replicas"`
	Annotations map[string]string `json:"annotations"`
}

func deployStep(c *Case) (any, error) {
	done, err := reconciled(c, c.Deployment, c.ReplicaSets)
	if err != nil {
		return nil, err
	}
	found := DeployStep{
		MaxSurge:       util.MaxSurge(*c.Deployment),
		MaxUnavailable: util.MaxUnavailable(*c.Deployment),
		ReplicaSets:    map[string]int32{},
		Writes:         [][2]any{},
		Annotations:    map[string]map[string]string{},
	}
	if rs := util.FindNewReplicaSet(c.Deployment, c.ReplicaSets); rs != nil {
		found.New = &rs.Name
	}
	for name, rs := range done.replicaSets {
		if rs == done.created {
			found.Created = &Created{*rs.Spec.Replicas, annotationsOf(rs)}
			continue
		}
		found.ReplicaSets[name] = *rs.Spec.Replicas
		found.Annotations[name] = annotationsOf(rs)
	}
	for _, each := range done.writes {
		name, size := each.name, any("deleted")
		if done.created != nil && name == done.created.Name {
			name = "<created>"
		}
		if each.size != nil {
			size = *each.size
		}
		found.Writes = append(found.Writes, [2]any{name, size})
	}
	return found, nil
}

func annotationsOf(rs *apps.ReplicaSet) map[string]string {
	found := map[string]string{}
	for short, name := range annotations {
		if value, isThere := rs.Annotations[name]; isThere {
			found[short] = value
		}
	}
	return found
}

// Step is an event of a rollout.
type Step struct {
	Set *struct {
		Image    *string `json:"image"`
		Replicas *int32  `json:"replicas"`
		Paused   *bool   `json:"paused"`
	} `json:"set"`
	Ready   map[string]int32 `json:"ready"`
	Unready map[string]int32 `json:"unready"`
}

type Rollout struct {
	Passes       []RolloutPass `json:"passes"`
	Final        Sizes         `json:"final"`
	MinAvailable *int32        `json:"minAvailable"`
	MaxTotal     *int32        `json:"maxTotal"`
}

// Sizes are by the revision, which is the tag of the image.
type Sizes struct {
	Sizes     map[string]int32 `json:"sizes"`
	Available map[string]int32 `json:"available"`
}

type RolloutPass struct {
	Step int `json:"step"`
	Sizes
	Writes [][2]any `json:"writes"`
}

// replay is a Deployment whose pods become available as the case says.
type replay struct {
	c           *Case
	deployment  *apps.Deployment
	replicaSets []*apps.ReplicaSet
	now         time.Time
	found       Rollout
}

func rollout(c *Case) (any, error) {
	r := &replay{c: c, deployment: c.Deployment, replicaSets: c.ReplicaSets, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	r.found.Passes = []RolloutPass{}
	for at, step := range c.Steps {
		r.apply(step)
		limit := 0
		if at < len(c.MaxPasses) {
			limit = c.MaxPasses[at]
		}
		for idle, changed := 0, 0; idle < 2 && (limit == 0 || changed < limit); {
			writes, err := r.pass()
			if err != nil {
				return nil, err
			}
			if len(writes) == 0 {
				idle++
				continue
			}
			idle, changed = 0, changed+1
			r.found.Passes = append(r.found.Passes, RolloutPass{at, r.sizes(), writes})
		}
	}
	r.found.Final = r.sizes()
	return r.found, nil
}

func (r *replay) apply(step Step) {
	if set := step.Set; set != nil {
		if set.Image != nil {
			r.deployment.Spec.Template.Spec.Containers[0].Image = *set.Image
		}
		r.deployment.Spec.Replicas = cmp.Or(set.Replicas, r.deployment.Spec.Replicas)
		r.deployment.Spec.Paused = *cmp.Or(set.Paused, &r.deployment.Spec.Paused)
	}
	for _, rs := range r.replicaSets {
		settle(rs, rs.Status.AvailableReplicas-step.Unready[revision(rs)])
		settle(rs, rs.Status.AvailableReplicas+step.Ready[revision(rs)])
	}
}

func (r *replay) pass() ([][2]any, error) {
	r.now = r.now.Add(time.Second)
	done, err := reconciled(r.c, r.deployment, r.replicaSets)
	if err != nil {
		return nil, err
	}
	if rs := done.created; rs != nil {
		rs.UID = types.UID(rs.Name)
		rs.CreationTimestamp = metav1.NewTime(r.now)
		legacyscheme.Scheme.Default(rs)
	}
	r.deployment, r.replicaSets = done.deployment, nil
	var available, total int32
	for _, rs := range done.replicaSets {
		r.replicaSets = append(r.replicaSets, rs)
		settle(rs, rs.Status.AvailableReplicas)
		available, total = available+rs.Status.AvailableReplicas, total+*rs.Spec.Replicas
	}
	writes := [][2]any{}
	for _, each := range done.writes {
		writes = append(writes, [2]any{revision(done.replicaSets[each.name]), *each.size})
	}
	if len(writes) > 0 {
		r.found.MinAvailable = ptr.To(min(available, *cmp.Or(r.found.MinAvailable, &available)))
		r.found.MaxTotal = ptr.To(max(total, *cmp.Or(r.found.MaxTotal, &total)))
	}
	for _, rs := range r.replicaSets {
		if r.c.Readiness == "instant" && !slices.Contains(r.c.Stuck, revision(rs)) {
			settle(rs, *rs.Spec.Replicas)
		}
	}
	return writes, nil
}

func (r *replay) sizes() Sizes {
	found := Sizes{map[string]int32{}, map[string]int32{}}
	for _, rs := range r.replicaSets {
		found.Sizes[revision(rs)] = *rs.Spec.Replicas
		found.Available[revision(rs)] = rs.Status.AvailableReplicas
	}
	return found
}

// settle is what the ReplicaSet controller writes when this many pods can be available.
func settle(rs *apps.ReplicaSet, available int32) {
	available = max(0, min(available, *rs.Spec.Replicas))
	rs.Status = apps.ReplicaSetStatus{Replicas: *rs.Spec.Replicas, ReadyReplicas: available, AvailableReplicas: available}
}

func revision(rs *apps.ReplicaSet) string {
	_, tag, _ := strings.Cut(rs.Spec.Template.Spec.Containers[0].Image, ":")
	return tag
}
