package descheduler

import (
	"context"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"

	"sigs.k8s.io/descheduler/cmd/descheduler/app/options"
	"sigs.k8s.io/descheduler/pkg/api"
	podutil "sigs.k8s.io/descheduler/pkg/descheduler/pod"
	"sigs.k8s.io/descheduler/pkg/features"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
)

// RecorderOrder is the order in which nodes, and the pods of a node, are listed; both may change between cycles.
type RecorderOrder struct {
	Nodes func([]*v1.Node)
	Pods  func([]*v1.Pod)
}

type recorderKey struct{}

func recorderOrder(ctx context.Context) *RecorderOrder {
	return ctx.Value(recorderKey{}).(*RecorderOrder)
}

func recorderPods(ctx context.Context, assigned podutil.GetPodsAssignedToNodeFunc) podutil.GetPodsAssignedToNodeFunc {
	return func(node string, filter podutil.FilterFunc) ([]*v1.Pod, error) {
		pods, err := assigned(node, filter)
		recorderOrder(ctx).Pods(pods)
		return pods, err
	}
}

// RecorderDecode is the policy as it is read from a file.
func RecorderDecode(policy []byte, client clientset.Interface) (*api.DeschedulerPolicy, error) {
	return decode("policy", policy, client, pluginregistry.PluginRegistry)
}

// RecorderCycles gives one descheduling cycle a call.
func RecorderCycles(ctx context.Context, policy *api.DeschedulerPolicy, client clientset.Interface, order *RecorderOrder) (func() error, error) {
	ctx = context.WithValue(ctx, recorderKey{}, order)
	server, err := options.NewDeschedulerServer()
	if err != nil {
		return nil, err
	}
	server.DefaultFeatureGates, server.DisableMetrics = features.DefaultMutableFeatureGate, true
	factory := informers.NewSharedInformerFactory(client, 0)
	found, err := newDescheduler(ctx, server, policy, policyv1.SchemeGroupVersion.String(), &events.FakeRecorder{}, client, factory, nil, nil)
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := found.podEvictor.WaitForEventHandlersSync(ctx); err != nil {
		return nil, err
	}
	return func() error { return found.runDeschedulerLoop(ctx) }, nil
}
