package defaultpreemption

// RecorderOffset replaces the random node at which the search for candidates begins.
func RecorderOffset(offset func(int32) int32) { getOffsetRand = offset }
