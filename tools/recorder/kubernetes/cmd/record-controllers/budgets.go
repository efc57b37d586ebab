package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v1"
	batch "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/scale"
	scalefake "k8s.io/client-go/scale/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	internalpolicy "k8s.io/kubernetes/pkg/apis/policy"
	"k8s.io/kubernetes/pkg/controller/disruption"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
	podstorage "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
)

const example = "example.com"

// kinds are what the API of the cases serves, and whether they have a scale.
var kinds = []struct {
	schema.GroupVersionKind
	scaled bool
}{
	{v1.SchemeGroupVersion.WithKind("Node"), false},
	{v1.SchemeGroupVersion.WithKind("ReplicationController"), true},
	{apps.SchemeGroupVersion.WithKind("DaemonSet"), false},
	{apps.SchemeGroupVersion.WithKind("Deployment"), true},
	{apps.SchemeGroupVersion.WithKind("ReplicaSet"), true},
	{apps.SchemeGroupVersion.WithKind("StatefulSet"), true},
	{batch.SchemeGroupVersion.WithKind("Job"), false},
	{schema.GroupVersionKind{Group: example, Version: "v1", Kind: "Gadget"}, false},
	{schema.GroupVersionKind{Group: example, Version: "v1", Kind: "Widget"}, true},
}

type Budgets struct {
	Status    map[string]Status `json:"status,omitzero"`
	Evictions []Eviction        `json:"evictions"`
}

type Status struct {
	ExpectedPods       int32  `json:"expectedPods"`
	CurrentHealthy     int32  `json:"currentHealthy"`
	DesiredHealthy     int32  `json:"desiredHealthy"`
	DisruptionsAllowed int32  `json:"disruptionsAllowed"`
	Reason             string `json:"reason"`
	Message            any    `json:"message,omitempty"`
}

type Eviction struct {
	Pod               string           `json:"pod"`
	Code              int32            `json:"code"`
	Message           string           `json:"message,omitempty"`
	Cause             any              `json:"cause,omitempty"`
	RetryAfterSeconds int32            `json:"retryAfterSeconds,omitempty"`
	Gone              *bool            `json:"gone,omitempty"`
	Allowed           map[string]int32 `json:"allowed"`
}

// budgets are the statuses and evictions of a case. Which pod's fault a failed sync names is decided by the order of a
// list: every pod is listed first once.
func budgets(c *Case) (any, error) {
	found, err := evicted(c, c.Pods)
	if err != nil {
		return nil, err
	}
	for i := range c.Pods {
		other, err := evicted(c, first(c.Pods, i))
		if err != nil {
			return nil, err
		}
		for name, status := range found.Status {
			status.Message = either(status.Message, other.Status[name].Message)
			found.Status[name] = status
		}
		for at := range found.Evictions {
			found.Evictions[at].Cause = either(found.Evictions[at].Cause, other.Evictions[at].Cause)
		}
	}
	return found, nil
}

// anyOf are the texts of which one appears.
type anyOf struct {
	AnyOf []string `json:"anyOf"`
}

func either(seen, other any) any {
	if seen == other || other == nil {
		return seen
	}
	texts := anyOf{}
	switch seen := seen.(type) {
	case string:
		texts.AnyOf = []string{seen}
	case *anyOf:
		texts = *seen
	}
	if !slices.Contains(texts.AnyOf, other.(string)) {
		texts.AnyOf = append(texts.AnyOf, other.(string))
		slices.Sort(texts.AnyOf)
	}
	return &texts
}

// world is a cluster in which the disruption controller and the eviction API work.
type world struct {
	*cluster
	pods       podsInOrder
	controller *disruption.DisruptionController
	evictions  *podstorage.EvictionREST
}

func evicted(c *Case, pods []*v1.Pod) (*Budgets, error) {
	ctx, stop := stoppable()
	defer stop()
	in, err := newWorld(ctx, c, pods)
	if err != nil {
		return nil, err
	}
	defer in.controller.RecorderStop()
	found := &Budgets{Evictions: []Eviction{}}
	if c.Sync {
		if err := in.sync(ctx); err != nil {
			return nil, err
		}
		found.Status = in.statuses(ctx)
	}
	for _, name := range c.Evictions {
		said := in.evict(ctx, name)
		if said.Gone != nil && c.Resync {
			if err := in.sync(ctx); err != nil {
				return nil, err
			}
		}
		said.Allowed = map[string]int32{}
		for name, status := range in.statuses(ctx) {
			said.Allowed[name] = status.DisruptionsAllowed
		}
		found.Evictions = append(found.Evictions, said)
	}
	return found, nil
}

func newWorld(ctx context.Context, c *Case, pods []*v1.Pod) (*world, error) {
	in := newCluster()
	coreV1, workloads, budgets := in.informers.Core().V1(), in.informers.Apps().V1(), in.informers.Policy().V1()
	scales := map[string]*autoscaling.Scale{}
	for _, raw := range c.Objects {
		scale := &autoscaling.Scale{} // any workload's metadata and spec.replicas
		if err := json.Unmarshal(raw, scale); err != nil {
			return nil, err
		}
		scales[scale.Kind+" "+nameOf(scale)] = scale
		if scale.GroupVersionKind().Group == example {
			continue
		}
		object, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			return nil, err
		}
		switch object := object.(type) {
		case *v1.ReplicationController:
			add(in, coreV1.ReplicationControllers().Informer(), object)
		case *apps.ReplicaSet:
			add(in, workloads.ReplicaSets().Informer(), object)
		case *apps.Deployment:
			add(in, workloads.Deployments().Informer(), object)
		case *apps.StatefulSet:
			add(in, workloads.StatefulSets().Informer(), object)
		}
	}
	found := &world{cluster: in, pods: podsInOrder{coreV1.Pods(), pods}}
	add(in, coreV1.Pods().Informer(), c.Pods...)
	add(in, budgets.PodDisruptionBudgets().Informer(), c.PodDisruptionBudgets...)
	mapper, scaler := served(in, scales)
	found.controller = disruption.NewDisruptionControllerInternal(
		ctx, found.pods, budgets.PodDisruptionBudgets(), coreV1.ReplicationControllers(), workloads.ReplicaSets(),
		workloads.Deployments(), workloads.StatefulSets(), in.client, mapper, scaler, in.client.Discovery(),
		testingclock.NewFakeClock(c.Now), time.Hour)
	found.evictions = podstorage.RecorderEviction(podStore{client: in.client}, in.client.PolicyV1())
	return found, nil
}

// served is what the API says of its kinds, and of the scales of the objects.
func served(in *cluster, scales map[string]*autoscaling.Scale) (meta.RESTMapper, scale.ScalesGetter) {
	mapper := meta.NewDefaultRESTMapper(nil)
	lists := map[string]*metav1.APIResourceList{}
	kindOf := map[schema.GroupResource]string{}
	for _, kind := range kinds {
		mapper.Add(kind.GroupVersionKind, meta.RESTScopeNamespace)
		plural, _ := meta.UnsafeGuessKindToResource(kind.GroupVersionKind)
		version := kind.GroupVersion().String()
		if lists[version] == nil {
			lists[version] = &metav1.APIResourceList{GroupVersion: version}
		}
		if kind.scaled {
			kindOf[plural.GroupResource()] = kind.Kind
			lists[version].APIResources = append(lists[version].APIResources, metav1.APIResource{
				Name: plural.Resource + "/scale", Group: autoscaling.GroupName, Version: "v1", Kind: "Scale",
			})
		}
	}
	in.client.Discovery().(*fakediscovery.FakeDiscovery).Resources = slices.Collect(maps.Values(lists))
	scaler := &scalefake.FakeScaleClient{}
	scaler.AddReactor("get", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		asked := action.(clienttesting.GetAction)
		resource := asked.GetResource().GroupResource()
		if found := scales[kindOf[resource]+" "+asked.GetNamespace()+"/"+asked.GetName()]; found != nil {
			return true, found, nil
		}
		return true, nil, apierrors.NewNotFound(resource, asked.GetName())
	})
	return mapper, scaler
}

// sync lets the disruption controller see how things are, and sync every budget once.
func (w *world) sync(ctx context.Context) error {
	pods, err := w.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	budgets := w.budgets(ctx)
	informers := w.informers.Policy().V1().PodDisruptionBudgets().Informer()
	if err := errors.Join(refill(w.pods.Informer(), pods.Items), refill(informers, budgets)); err != nil {
		return err
	}
	for i := range budgets {
		if err := w.controller.RecorderSync(ctx, nameOf(&budgets[i])); err != nil {
			return err
		}
	}
	return nil
}

func refill[T any](informer cache.SharedIndexInformer, items []T) error {
	objects := []any{}
	for i := range items {
		objects = append(objects, &items[i])
	}
	return informer.GetIndexer().Replace(objects, "")
}

func (w *world) budgets(ctx context.Context) []policy.PodDisruptionBudget {
	found, err := w.client.PolicyV1().PodDisruptionBudgets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		panic(err) // a fake never fails
	}
	return found.Items
}

func (w *world) statuses(ctx context.Context) map[string]Status {
	found := map[string]Status{}
	for _, budget := range w.budgets(ctx) {
		status := Status{
			ExpectedPods:       budget.Status.ExpectedPods,
			CurrentHealthy:     budget.Status.CurrentHealthy,
			DesiredHealthy:     budget.Status.DesiredHealthy,
			DisruptionsAllowed: budget.Status.DisruptionsAllowed,
		}
		if condition := meta.FindStatusCondition(budget.Status.Conditions, policy.DisruptionAllowedCondition); condition != nil {
			status.Reason = condition.Reason
			if condition.Message != "" {
				status.Message = condition.Message
			}
		}
		found[nameOf(&budget)] = status
	}
	return found
}

func (w *world) evict(ctx context.Context, pod string) Eviction {
	namespace, name, _ := strings.Cut(pod, "/")
	ctx = genericapirequest.WithNamespace(ctx, namespace)
	asked := &internalpolicy.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	done, err := w.evictions.Create(ctx, name, asked, nil, &metav1.CreateOptions{})
	var refused apierrors.APIStatus
	status := metav1.Status{}
	if errors.As(err, &refused) {
		status = refused.Status()
	} else {
		status = *done.(*metav1.Status)
	}
	found := Eviction{Pod: pod, Code: status.Code, Message: status.Message}
	if status.Status == metav1.StatusSuccess {
		_, err := w.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		found.Code, found.Gone = http.StatusCreated, ptr.To(apierrors.IsNotFound(err))
	}
	if details := status.Details; details != nil {
		found.RetryAfterSeconds = details.RetryAfterSeconds
		if len(details.Causes) > 0 {
			found.Cause = details.Causes[0].Message
		}
	}
	return found
}

// podStore are the pods of a client as the eviction API stores them. What it lacks is not asked for.
type podStore struct {
	rest.StandardStorage
	client kubernetes.Interface
}

func (s podStore) pods(ctx context.Context) typedcore.PodInterface {
	return s.client.CoreV1().Pods(genericapirequest.NamespaceValue(ctx))
}

func (s podStore) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	pod, err := s.pods(ctx).Get(ctx, name, *options)
	if err != nil {
		return nil, err
	}
	found := &core.Pod{}
	return found, legacyscheme.Scheme.Convert(pod, found, nil)
}

func (s podStore) Update(
	ctx context.Context, name string, info rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc, _ rest.ValidateObjectUpdateFunc,
	_ bool, _ *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	old, err := s.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	updated, err := info.UpdatedObject(ctx, old)
	if err != nil {
		return nil, false, err
	}
	return updated, false, s.write(ctx, updated)
}

func (s podStore) write(ctx context.Context, object runtime.Object) error {
	pod := &v1.Pod{}
	if err := legacyscheme.Scheme.Convert(object, pod, nil); err != nil {
		return err
	}
	_, err := s.pods(ctx).Update(ctx, pod, metav1.UpdateOptions{})
	return err
}

// Delete leaves a pod that has time to stop, as its strategy says.
func (s podStore) Delete(
	ctx context.Context, name string, _ rest.ValidateObjectFunc, options *metav1.DeleteOptions,
) (runtime.Object, bool, error) {
	object, err := s.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	pod := object.(*core.Pod)
	podregistry.Strategy.CheckGracefulDelete(ctx, pod, options)
	if *options.GracePeriodSeconds == 0 {
		return pod, true, s.pods(ctx).Delete(ctx, name, metav1.DeleteOptions{})
	}
	pod.DeletionTimestamp = cmp.Or(pod.DeletionTimestamp, ptr.To(metav1.Now()))
	return pod, false, s.write(ctx, pod)
}
