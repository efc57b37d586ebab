package util

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// recorderNow is when pods start that have not: at the same time, instead of each when the clock is looked at.
var recorderNow = func() *metav1.Time { now := metav1.Now(); return &now }()
