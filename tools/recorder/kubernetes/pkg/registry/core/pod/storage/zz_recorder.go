package storage

// RecorderEviction is the eviction subresource of the pods in a store.
var RecorderEviction = newEvictionStorage
