package runtime

import "k8s.io/kubernetes/pkg/scheduler/framework"

// RecorderOnly is f with no filter but the named one, and its PreFilter.
func RecorderOnly(f framework.Framework, name string) framework.Framework {
	all := f.(*frameworkImpl)
	only := *all
	only.preFilterPlugins, only.filterPlugins = nil, nil
	for _, plugin := range all.preFilterPlugins {
		if plugin.Name() == name {
			only.preFilterPlugins = append(only.preFilterPlugins, plugin)
		}
	}
	for _, plugin := range all.filterPlugins {
		if plugin.Name() == name {
			only.filterPlugins = append(only.filterPlugins, plugin)
		}
	}
	return &only
}

// RecorderFilters names the filter plugins in their order.
func RecorderFilters(f framework.Framework) []string {
	var names []string
	for _, plugin := range f.(*frameworkImpl).filterPlugins {
		names = append(names, plugin.Name())
	}
	return names
}
