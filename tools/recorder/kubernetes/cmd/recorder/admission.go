package main

import (
	"context"
	"encoding/json"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/podnodeselector"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/runtimeclass"
)

// admissionPlugin is one that changes pods and then refuses some.
type admissionPlugin interface {
	admission.MutationInterface
	admission.ValidationInterface
	initializer.WantsExternalKubeClientSet
	initializer.WantsExternalKubeInformerFactory
}

// admissionChain is what becomes of one pod that is created, before it is stored.
type admissionChain struct {
	plugins    []admissionPlugin
	attributes admission.Attributes
}

func newAdmissionChain(ctx context.Context, objects []json.RawMessage, pod *api.Pod) (*admissionChain, error) {
	var known []runtime.Object
	for _, raw := range objects {
		object, err := decode(raw)
		if err != nil {
			return nil, err
		}
		known = append(known, object)
	}
	limits, err := limitranger.NewLimitRanger(nil)
	if err != nil {
		return nil, err
	}
	// In the order of the API server.
	plugins := []admissionPlugin{limits, podnodeselector.NewPodNodeSelector(nil), priority.NewPlugin(), runtimeclass.NewRuntimeClass()}
	client := fake.NewSimpleClientset(known...)
	factory := informers.NewSharedInformerFactory(client, 0)
	for _, plugin := range plugins {
		plugin.SetExternalKubeClientSet(client)
		plugin.SetExternalKubeInformerFactory(factory)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	attributes := admission.NewAttributesRecord(
		pod, nil, api.Kind("Pod").WithVersion("v1"), pod.Namespace, pod.Name, v1.SchemeGroupVersion.WithResource("pods"), "",
		admission.Create, nil, false, &user.DefaultInfo{Name: "somebody"},
	)
	return &admissionChain{plugins, attributes}, nil
}

// admit changes the pod.
func (chain *admissionChain) admit(ctx context.Context) error {
	for _, plugin := range chain.plugins {
		if err := plugin.Admit(ctx, chain.attributes, nil); err != nil {
			return err
		}
	}
	return nil
}

// validate comes after the API server's own validation of the pod.
func (chain *admissionChain) validate(ctx context.Context) error {
	for _, plugin := range chain.plugins {
		if err := plugin.Validate(ctx, chain.attributes, nil); err != nil {
			return err
		}
	}
	return nil
}
