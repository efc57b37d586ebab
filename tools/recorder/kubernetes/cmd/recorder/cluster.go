package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	api "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/features"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

const poll = 500 * time.Microsecond

var decoder = legacyscheme.Codecs.UniversalDeserializer()

// namespaced are the kinds among a case's objects that have a namespace, "default" unless they name one.
var namespaced = []string{
	"CSIStorageCapacity", "DaemonSet", "Deployment", "Job", "LimitRange", "PersistentVolumeClaim", "PodDisruptionBudget", "ReplicaSet",
	"ReplicationController", "ResourceClaim", "ResourceClaimTemplate", "Service", "StatefulSet",
}

// decode is an object as the scheduler reads it from the API server: with defaults, and with quantities in canonical
// form. (Parsed from "2.5Gi" a quantity keeps a pointer that resource helpers add to in place.)
func decode(raw json.RawMessage) (runtime.Object, error) {
	object, _, err := decoder.Decode(raw, nil, nil)
	if err != nil {
		return nil, err
	}
	legacyscheme.Scheme.Default(object)
	wire, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	again, _, err := decoder.Decode(wire, nil, nil)
	return again, err
}

// candidate is the pod as it is stored after its creation; nil once the answer says why it is not.
func candidate(raw json.RawMessage, c *Case, answer *Answer) *v1.Pod {
	object, err := decode(raw)
	if err != nil {
		answer.Harness = "candidate: " + err.Error()
		return nil
	}
	pod := object.(*v1.Pod)
	if pod.Namespace == "" {
		pod.Namespace = metav1.NamespaceDefault
	}
	if c.Stored {
		return pod
	}
	internal := &api.Pod{}
	if err := legacyscheme.Scheme.Convert(pod, internal, nil); err != nil {
		answer.Harness = "candidate: " + err.Error()
		return nil
	}
	ctx := genericapirequest.WithNamespace(genericapirequest.NewContext(), pod.Namespace)
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{APIVersion: "v1", Resource: "pods"})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chain := &admissionChain{}
	if c.Admission {
		if chain, err = newAdmissionChain(ctx, c.Objects, internal); err != nil {
			answer.Harness = "admission: " + err.Error()
			return nil
		}
	}
	if err := chain.admit(ctx); err != nil {
		answer.Forbidden = err.Error()
		return nil
	}
	rest.FillObjectMetaSystemFields(internal)
	if err := rest.BeforeCreate(podregistry.Strategy, ctx, internal); err != nil {
		answer.Validation = faults(err)
		return nil
	}
	if err := chain.validate(ctx); err != nil {
		answer.Forbidden = err.Error()
		return nil
	}
	created := &v1.Pod{}
	if err := legacyscheme.Scheme.Convert(internal, created, nil); err != nil {
		answer.Harness = "candidate: " + err.Error()
		return nil
	}
	created.UID = "candidate-uid"
	created.APIVersion, created.Kind = "v1", "Pod"
	wire, err := json.Marshal(created)
	if err == nil {
		object, err = decode(wire)
	}
	if err != nil {
		answer.Harness = "candidate: " + err.Error()
		return nil
	}
	return object.(*v1.Pod)
}

func faults(err error) (texts []string) {
	if status, ok := err.(*apierrors.StatusError); ok && status.ErrStatus.Details != nil {
		for _, cause := range status.ErrStatus.Details.Causes {
			texts = append(texts, cause.Field+": "+cause.Message)
		}
	}
	if len(texts) == 0 {
		texts = []string{err.Error()}
	}
	return texts
}

func configuration(text string) (*schedulerapi.KubeSchedulerConfiguration, error) {
	if text == "" {
		return latest.Default()
	}
	object, kind, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	if err != nil {
		return nil, err
	}
	config, ok := object.(*schedulerapi.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("couldn't decode as KubeSchedulerConfiguration, got %s: ", kind)
	}
	config.TypeMeta.APIVersion = kind.GroupVersion().String()
	return config, validation.ValidateKubeSchedulerConfiguration(config)
}

// shadow is how the names of profiles begin that have every default plugin, with the arguments of the profile that the
// rest of the name names.
const shadow = "recorder-default-"

func withShadows(profiles []schedulerapi.KubeSchedulerProfile) ([]schedulerapi.KubeSchedulerProfile, error) {
	defaults, err := latest.Default()
	if err != nil {
		return nil, err
	}
	all := slices.Clone(profiles)
	for _, own := range profiles {
		other := *defaults.Profiles[0].DeepCopy()
		other.SchedulerName = shadow + own.SchedulerName
		other.Plugins.QueueSort = own.Plugins.QueueSort
		for i, args := range other.PluginConfig {
			for _, set := range own.PluginConfig {
				if set.Name == args.Name {
					other.PluginConfig[i] = *set.DeepCopy()
				}
			}
		}
		all = append(all, other)
	}
	return all, nil
}

// Cluster is a scheduler whose informers have heard of all objects of a case.
type Cluster struct {
	ctx   context.Context
	close context.CancelFunc
	sched *scheduler.Scheduler
	nodes []string
}

// More is what a question adds to the objects of its case, and whether nodes come by name.
type More struct {
	pods    []*v1.Pod
	objects []runtime.Object
	sorted  bool
}

// build is the case's cluster; nil once the answer says why there is none.
func build(c *Case, more More, answer *Answer) *Cluster {
	config, err := configuration(c.Config)
	if err != nil {
		answer.ConfigError = err.Error()
		return nil
	}
	objects, err := listed(c, more)
	if err != nil {
		answer.Harness = err.Error()
		return nil
	}
	cluster, err := started(c, config, objects)
	if err != nil {
		answer.ConfigError = err.Error()
		return nil
	}
	for _, node := range objects.nodes.Items {
		cluster.nodes = append(cluster.nodes, node.Name)
	}
	if err := cluster.sched.RecorderUpdate(cluster.ctx); err != nil {
		answer.Harness = err.Error()
		cluster.close()
		return nil
	}
	return cluster
}

// Objects are those of a case; nodes and pods are listed in its order, classes of devices in the API server's.
type Objects struct {
	nodes   v1.NodeList
	pods    v1.PodList
	classes resourceapi.DeviceClassList
	others  []runtime.Object
}

func listed(c *Case, more More) (*Objects, error) {
	found := &Objects{}
	found.nodes.ResourceVersion, found.pods.ResourceVersion, found.classes.ResourceVersion = "1", "1", "1"
	for _, raw := range c.Nodes {
		object, err := decode(raw)
		if err != nil {
			return nil, fmt.Errorf("node: %w", err)
		}
		found.nodes.Items = append(found.nodes.Items, *object.(*v1.Node))
	}
	if more.sorted {
		slices.SortStableFunc(found.nodes.Items, func(a, b v1.Node) int { return strings.Compare(a.Name, b.Name) })
	}
	for i, raw := range c.Pods {
		object, err := decode(raw)
		if err != nil {
			return nil, fmt.Errorf("pod: %w", err)
		}
		pod := object.(*v1.Pod)
		if pod.Namespace == "" {
			pod.Namespace = metav1.NamespaceDefault
		}
		if pod.UID == "" {
			pod.UID = types.UID(fmt.Sprintf("recorder-%d", i))
		}
		if pod.Status.Phase != v1.PodSucceeded && pod.Status.Phase != v1.PodFailed { // the scheduler's field selector
			found.pods.Items = append(found.pods.Items, *pod)
		}
	}
	for _, pod := range more.pods {
		found.pods.Items = append(found.pods.Items, *pod)
	}
	seen := map[string]bool{}
	for _, raw := range c.Objects {
		object, err := decode(raw)
		if runtime.IsNotRegisteredError(err) {
			continue // the scheduler does not hear of it
		}
		if err != nil {
			return nil, fmt.Errorf("object: %w", err)
		}
		meta := object.(metav1.Object)
		if meta.GetNamespace() == "" && slices.Contains(namespaced, object.GetObjectKind().GroupVersionKind().Kind) {
			meta.SetNamespace(metav1.NamespaceDefault)
		}
		key := fmt.Sprintf("%T/%s/%s", object, meta.GetNamespace(), meta.GetName())
		if seen[key] {
			continue
		}
		seen[key] = true
		if class, ok := object.(*resourceapi.DeviceClass); ok {
			found.classes.Items = append(found.classes.Items, *class)
		}
		found.others = append(found.others, object)
	}
	slices.SortFunc(found.classes.Items, func(a, b resourceapi.DeviceClass) int { return strings.Compare(a.Name, b.Name) })
	found.others = append(found.others, more.objects...)
	return found, nil
}

func (objects *Objects) client() *fake.Clientset {
	client := fake.NewSimpleClientset(objects.others...)
	for resource, list := range map[string]runtime.Object{
		"nodes": &objects.nodes, "pods": &objects.pods, "deviceclasses": &objects.classes,
	} {
		client.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, list.DeepCopyObject(), nil
		})
	}
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return action.GetSubresource() == "binding", nil, nil
	})
	var made atomic.Int64 // The API server names what has a generateName, and gives it a UID; replicas are bound in the background.
	client.PrependReactor("create", "resourceclaims", func(action clienttesting.Action) (bool, runtime.Object, error) {
		claim := action.(clienttesting.CreateAction).GetObject().(*resourceapi.ResourceClaim)
		if claim.Name == "" {
			claim.Name = fmt.Sprintf("%s%05d", claim.GenerateName, made.Add(1))
			claim.UID = types.UID("made-" + claim.Name)
		}
		return false, nil, nil
	})
	for _, verb := range []string{"update", "patch"} { // replicas are in the queue only
		client.PrependReactor(verb, "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
			return action.GetSubresource() == "status", &v1.Pod{}, nil
		})
	}
	return client
}

func started(c *Case, config *schedulerapi.KubeSchedulerConfiguration, objects *Objects) (*Cluster, error) {
	percentage := config.PercentageOfNodesToScore
	if !c.Sample {
		all := int32(100)
		percentage = &all
		for i := range config.Profiles {
			config.Profiles[i].PercentageOfNodesToScore = nil
		}
	}
	client := objects.client()
	try := func(profiles []schedulerapi.KubeSchedulerProfile) (*Cluster, informers.SharedInformerFactory, error) {
		ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.TODO()))
		factory := scheduler.NewInformerFactory(client, 0)
		sched, err := scheduler.New(
			ctx, client, factory, nil,
			func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
			scheduler.WithComponentConfigVersion(config.TypeMeta.APIVersion),
			scheduler.WithProfiles(profiles...),
			scheduler.WithExtenders(config.Extenders...),
			scheduler.WithParallelism(1), // so that nothing depends on which worker is faster
			scheduler.WithPercentageOfNodesToScore(percentage),
		)
		if err != nil {
			cancel()
		}
		return &Cluster{ctx: ctx, close: cancel, sched: sched}, factory, err
	}
	var cluster *Cluster
	var factory informers.SharedInformerFactory
	profiles, err := withShadows(config.Profiles)
	if err == nil && c.Config != "" && c.Replicas == 0 {
		cluster, factory, err = try(profiles)
	}
	if cluster == nil || err != nil { // a configuration that does not start must not be blamed for what was added to it
		cluster, factory, err = try(config.Profiles)
	}
	if err != nil {
		return nil, err
	}
	cluster.listen(factory, objects)
	return cluster, nil
}

// listen waits until every handler has heard of everything.
func (cluster *Cluster) listen(factory informers.SharedInformerFactory, objects *Objects) {
	factory.Start(cluster.ctx.Done())
	factory.WaitForCacheSync(cluster.ctx.Done())
	for !cluster.sched.RecorderSynced() {
		time.Sleep(poll)
	}
	manager := anyProfile(cluster.sched).SharedDRAManager() // its handlers are not among the scheduler's own
	if manager == nil {
		return
	}
	claims, resourceSlices := 0, 0
	for _, object := range objects.others {
		switch object.(type) {
		case *resourceapi.ResourceClaim:
			claims++
		case *resourceapi.ResourceSlice:
			resourceSlices++
		}
	}
	wait.PollUntilContextTimeout(cluster.ctx, poll, 2*time.Second, true, func(context.Context) (bool, error) {
		if listed, err := manager.ResourceClaims().List(); err != nil || len(listed) < claims {
			return false, nil
		}
		if listed, err := manager.ResourceSlices().ListWithDeviceTaintRules(); err != nil || len(listed) < resourceSlices {
			return false, nil
		}
		return knowsClasses(manager, objects.classes.Items), nil
	})
	if claims+resourceSlices+len(objects.classes.Items) > 0 {
		time.Sleep(4 * time.Millisecond) // what the manager works out of them has no signal
	}
}

func knowsClasses(manager fwk.SharedDRAManager, classes []resourceapi.DeviceClass) bool {
	resolver := manager.DeviceClassResolver()
	if len(classes) == 0 || resolver == nil || !utilfeature.DefaultFeatureGate.Enabled(features.DRAExtendedResource) {
		return true
	}
	last := classes[len(classes)-1]
	resource := v1.ResourceName(resourceapi.ResourceDeviceClassPrefix + last.Name)
	if extended := last.Spec.ExtendedResourceName; extended != nil {
		resource = v1.ResourceName(*extended)
	}
	return resolver.GetDeviceClass(resource) != nil
}

func anyProfile(sched *scheduler.Scheduler) framework.Framework {
	for _, f := range sched.Profiles {
		return f
	}
	return nil
}

func podInfo(pod *v1.Pod) *framework.QueuedPodInfo {
	info, _ := framework.NewPodInfo(pod)
	return &framework.QueuedPodInfo{PodInfo: info}
}
