package statefulset

import apps "k8s.io/api/apps/v1"

// RecorderPatch is the data of the ControllerRevision of set's template.
func RecorderPatch(set *apps.StatefulSet) ([]byte, error) { return getPatch(set) }
