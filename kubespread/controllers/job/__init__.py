"""Jobs and CronJobs: their pods, and how many there are."""
