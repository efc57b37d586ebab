"""What an autoscaler of nodes would add for pods that wait, and what kube-scheduler then makes of it."""
