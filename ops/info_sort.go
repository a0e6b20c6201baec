package ops

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// JobSort is an order of jobs. Those that are equal by it are in the order of their names.
type JobSort string

// The orders.
const (
	SortByName JobSort = "" // ascending
	// SortByStatus: CRASHED, STOPPED, NEVER_STARTED, DISABLED, SHARDING_FLAG, OK.
	SortByStatus JobSort = "status"
	// SortByNext: that with the soonest tick first, those without one last.
	SortByNext JobSort = "next"
	// SortByEnded: that of which an execution has ended last first, those of which none has last.
	SortByEnded JobSort = "ended"
	// SortByRunning and SortByFailing: those first of which most items run, or had no success.
	SortByRunning JobSort = "running"
	SortByFailing JobSort = "failing"
)

func (s JobSort) check() error {
	if all := []JobSort{SortByName, SortByStatus, SortByNext, SortByEnded, SortByRunning, SortByFailing}; !slices.Contains(all, s) {
		return errors.New("sort: status, next, ended, running and failing are allowed, or nothing for that by name")
	}
	return nil
}

// place returns where a job stands in the order: places are compared as texts. What comes before the name has as many
// digits for all, or is last.
func (s JobSort) place(i *JobInfo) string {
	const last = "~" // is behind all digits
	up := func(n int64) string { return fmt.Sprintf("%019d", max(n, 0)) }
	down := func(n int64) string { return up(math.MaxInt64 - max(n, 0)) }
	key := last
	switch s {
	case SortByStatus:
		key = fmt.Sprint(slices.Index([]JobStatus{JobCrashed, JobStopped, JobNeverStarted, JobDisabled, JobShardingFlag, JobOK}, i.Status))
	case SortByNext:
		if !i.Next.IsZero() {
			key = up(i.Next.UnixMicro())
		}
	case SortByEnded:
		if !i.Last.Ended.IsZero() {
			key = down(i.Last.Ended.UnixMicro())
		}
	case SortByRunning:
		key = down(int64(i.Running))
	case SortByFailing:
		key = down(int64(i.Failing))
	default:
		return i.Name
	}
	return key + " " + i.Name
}

// placed is a job with its place in a list.
type placed struct {
	place string
	*JobInfo
}

// turn fills a list with the page that a query is for, of all jobs behind the page before, in any order.
func (q *JobsQuery) turn(l *JobList, behind []placed) {
	slices.SortFunc(behind, func(a, b placed) int { return cmp.Compare(a.place, b.place) })
	if q.Limit > 0 && len(behind) > q.Limit {
		behind = behind[:q.Limit]
		l.Next = behind[q.Limit-1].place
	}
	for _, p := range behind { // who lists jobs may change them
		l.Jobs = append(l.Jobs, *p.JobInfo)
	}
}
