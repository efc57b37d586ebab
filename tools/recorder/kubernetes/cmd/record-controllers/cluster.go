package main

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
)

// cluster is what a controller sees, by a client and by informers that nobody runs: they hold what they are given.
type cluster struct {
	client    *fake.Clientset
	informers informers.SharedInformerFactory
}

func newCluster() *cluster {
	client := fake.NewSimpleClientset()
	return &cluster{client, informers.NewSharedInformerFactory(client, 0)}
}

// add stores objects as the API server would, with defaults, in the client and in the cache of their kind.
func add[T interface {
	runtime.Object
	metav1.Object
}](c *cluster, informer cache.SharedIndexInformer, objects ...T) {
	for _, object := range objects {
		legacyscheme.Scheme.Default(object)
		c.client.Tracker().Add(object)
		informer.GetIndexer().Add(object)
	}
}

// podsInOrder lists pods as they are in the slice: where the order of a list decides, several are tried.
type podsInOrder struct {
	coreinformers.PodInformer
	pods []*v1.Pod
}

func (p podsInOrder) Informer() cache.SharedIndexInformer {
	return orderedInformer{p.PodInformer.Informer(), p.pods}
}

func (p podsInOrder) Lister() corelisters.PodLister {
	return corelisters.NewPodLister(p.Informer().GetIndexer())
}

type orderedInformer struct {
	cache.SharedIndexInformer
	pods []*v1.Pod
}

func (i orderedInformer) GetIndexer() cache.Indexer {
	return orderedIndexer{i.SharedIndexInformer.GetIndexer(), i.pods}
}

type orderedIndexer struct {
	cache.Indexer
	pods []*v1.Pod
}

func (i orderedIndexer) Index(name string, object any) ([]any, error) {
	found, err := i.Indexer.Index(name, object)
	return i.ordered(found), err
}

func (i orderedIndexer) ByIndex(name, value string) ([]any, error) {
	found, err := i.Indexer.ByIndex(name, value)
	return i.ordered(found), err
}

func (i orderedIndexer) ordered(found []any) []any {
	at := func(pod any) int {
		return slices.IndexFunc(i.pods, func(each *v1.Pod) bool { return nameOf(each) == nameOf(pod.(*v1.Pod)) })
	}
	slices.SortFunc(found, func(a, b any) int { return at(a) - at(b) })
	return found
}

// first are the pods with one of them moved to the front.
func first(pods []*v1.Pod, i int) []*v1.Pod {
	return slices.Concat(pods[i:i+1], pods[:i], pods[i+1:])
}

// last are the pods with one of them moved to the end.
func last(pods []*v1.Pod, i int) []*v1.Pod {
	return slices.Concat(pods[:i], pods[i+1:], pods[i:i+1])
}

func nameOf(object metav1.Object) string { return object.GetNamespace() + "/" + object.GetName() }

// stoppable is a context whose end stops what a controller has started.
func stoppable() (context.Context, context.CancelFunc) {
	return context.WithCancel(context.Background())
}
