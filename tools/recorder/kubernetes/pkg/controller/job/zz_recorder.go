package job

import "context"

// RecorderController is NewController with a clock.
var RecorderController = newControllerWithClock

// RecorderSync syncs a Job once; then the controller is of no more use.
func (jm *Controller) RecorderSync(ctx context.Context, key string) error {
	defer jm.queue.ShutDown()
	defer jm.orphanQueue.ShutDown()
	return jm.syncJob(ctx, key)
}
