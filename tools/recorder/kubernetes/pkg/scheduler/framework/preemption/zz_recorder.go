package preemption

import (
	"context"
	"slices"
)

// RecorderKey is the key of the context under which the recorder wants to be told of the candidate that is taken.
type RecorderKey struct{}

func recorderTell(ctx context.Context, best Candidate) {
	if tell, ok := ctx.Value(RecorderKey{}).(func(Candidate)); ok {
		tell(best)
	}
}

// recorderSort makes ties go to the smallest name instead of to Go's order of a map.
func recorderSort(nodes []string) { slices.Sort(nodes) }
