package ops_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/ops"
)

// Each order has all jobs once, however long its pages are; those that are equal by it are in the order of their names.
func TestJobSort(t *testing.T) {
	at := func(minutes int) time.Time { return time.Date(2026, 1, 2, 3, minutes, 0, 0, time.UTC) }
	jobs := []ops.JobInfo{
		{Name: "a", Status: ops.JobOK, Next: at(9), Running: 2, Failing: 100},
		{Name: "a b", Status: ops.JobCrashed, Next: at(1), Running: 10, Last: ops.LastRun{Ended: at(1)}},
		{Name: "a-b", Status: ops.JobShardingFlag, Last: ops.LastRun{Ended: at(3)}, Failing: 7},
		{Name: "c", Status: ops.JobDisabled, Next: at(1), Last: ops.LastRun{Ended: at(2)}, Running: 2},
		{Name: "d", Status: ops.JobOK},
		{Name: "e", Status: ops.JobCrashed, Next: at(1).Add(time.Second), Last: ops.LastRun{Ended: at(3)}},
	}
	for sort, want := range map[ops.JobSort]string{
		ops.SortByName:    "a,a b,a-b,c,d,e",
		ops.SortByStatus:  "a b,e,c,a-b,a,d",
		ops.SortByNext:    "a b,c,e,a,a-b,d",
		ops.SortByEnded:   "a-b,e,c,a b,a,d",
		ops.SortByRunning: "a b,a,c,a-b,d,e",
		ops.SortByFailing: "a,a-b,a b,c,d,e",
	} {
		for _, limit := range []int{0, 1, 2, 3, 6} {
			var names []string
			for q := (ops.JobsQuery{Sort: sort, Limit: limit}); ; {
				mixed := slices.Clone(jobs)
				slices.Reverse(mixed)
				list, err := q.List(known(mixed))
				if err != nil || list.Totals.Jobs != len(jobs) || limit > 0 && len(list.Jobs) > limit {
					t.Fatalf("%+v: %d of %d jobs, %v", q, len(list.Jobs), list.Totals.Jobs, err)
				}
				for _, j := range list.Jobs {
					names = append(names, j.Name)
				}
				if q.After = list.Next; q.After == "" {
					break
				}
			}
			if got := strings.Join(names, ","); got != want {
				t.Errorf("by %q, %d at a time: %s, want %s", sort, limit, got, want)
			}
		}
	}
}
