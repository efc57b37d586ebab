package main

import (
	"slices"
	"strconv"

	batch "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kubernetes/pkg/controller/job"
	testingclock "k8s.io/utils/clock/testing"
)

type Job struct {
	Create     int      `json:"create"`
	Indexes    []int    `json:"indexes,omitempty"`
	Delete     int      `json:"delete"`
	Always     []string `json:"always"`
	Sometimes  []string `json:"sometimes"`
	Conditions []string `json:"conditions"`
}

// ranJob is one sync of the Job. Which of equal pods is deleted is decided by the order of a list, and the sort of at most
// twelve is stable: a pod goes always if it goes though listed last, and sometimes if it goes when listed first.
func ranJob(c *Case) (any, error) {
	found, _, err := synced(c, c.Pods)
	if err != nil || found.Delete == 0 {
		return found, err
	}
	for i, pod := range c.Pods {
		_, always, err := synced(c, last(c.Pods, i))
		if err != nil {
			return nil, err
		}
		_, sometimes, err := synced(c, first(c.Pods, i))
		if err != nil {
			return nil, err
		}
		switch {
		case slices.Contains(always, pod.Name):
			found.Always = append(found.Always, pod.Name)
		case slices.Contains(sometimes, pod.Name):
			found.Sometimes = append(found.Sometimes, pod.Name)
		}
	}
	slices.Sort(found.Always)
	slices.Sort(found.Sometimes)
	return found, nil
}

// synced is a sync that sees the pods in this order, and the names of those that it deletes.
func synced(c *Case, inOrder []*v1.Pod) (*Job, []string, error) {
	ctx, stop := stoppable()
	defer stop()
	in := newCluster()
	pods, jobs := podsInOrder{in.informers.Core().V1().Pods(), inOrder}, in.informers.Batch().V1().Jobs()
	jm, err := job.RecorderController(ctx, in.client, testingclock.NewFakeClock(c.Now), pods, jobs, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	add(in, pods.Informer(), c.Pods...)
	add(in, jobs.Informer(), c.Job)
	found := &Job{Always: []string{}, Sometimes: []string{}, Conditions: []string{}}
	in.client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		pod := action.(clienttesting.CreateAction).GetObject().(*v1.Pod)
		found.Create++
		if index, isThere := pod.Annotations[batch.JobCompletionIndexAnnotation]; isThere {
			number, _ := strconv.Atoi(index)
			found.Indexes = append(found.Indexes, number)
		}
		return true, pod, nil
	})
	if err := jm.RecorderSync(ctx, nameOf(c.Job)); err != nil {
		return nil, nil, err
	}
	slices.Sort(found.Indexes)
	deletions := []string{}
	for _, action := range in.client.Actions() {
		if deleted, is := action.(clienttesting.DeleteAction); is {
			deletions = append(deletions, deleted.GetName())
		}
	}
	found.Delete = len(deletions)
	after, err := in.client.BatchV1().Jobs(c.Job.Namespace).Get(ctx, c.Job.Name, metav1.GetOptions{})
	if err != nil {
		return nil, nil, err
	}
	for _, condition := range after.Status.Conditions {
		if condition.Status == v1.ConditionTrue {
			found.Conditions = append(found.Conditions, string(condition.Type)+"/"+condition.Reason)
		}
	}
	return found, deletions, nil
}
