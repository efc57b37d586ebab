package deployment

import "context"

// RecorderSync syncs a Deployment once; then the controller is of no more use.
func (dc *DeploymentController) RecorderSync(ctx context.Context, key string) error {
	defer dc.queue.ShutDown()
	return dc.syncDeployment(ctx, key)
}
