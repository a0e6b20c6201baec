package ops

import (
	"container/heap"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// dues are the next ticks of jobs, so that a watch need not look at all jobs for those that have
// come. A job's former ticks stay until they come, or the dues are collected anew.
type dues []due

type due struct {
	at  time.Time
	job jobtree.Job
}

// add notes the next tick of a job; none if it is zero.
func (d *dues) add(at time.Time, job jobtree.Job) {
	if !at.IsZero() {
		heap.Push((*dueHeap)(d), due{at, job})
	}
}

// first is the first tick; zero if there is none.
func (d dues) first() time.Time {
	if len(d) == 0 {
		return time.Time{}
	}
	return d[0].at
}

// take removes the ticks that have come, and returns their jobs. A job may come twice.
func (d *dues) take(now time.Time) (jobs []jobtree.Job) {
	for len(*d) > 0 && !(*d)[0].at.After(now) {
		jobs = append(jobs, heap.Pop((*dueHeap)(d)).(due).job)
	}
	return jobs
}

// dueHeap is for package heap.
type dueHeap dues

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h dueHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(d any)        { *h = append(*h, d.(due)) }
func (h *dueHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
