package disruption

import "context"

func (dc *DisruptionController) RecorderSync(ctx context.Context, key string) error {
	return dc.sync(ctx, key)
}

func (dc *DisruptionController) RecorderStop() {
	dc.queue.ShutDown()
	dc.recheckQueue.ShutDown()
	dc.stalePodDisruptionQueue.ShutDown()
}
