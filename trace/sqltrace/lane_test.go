package sqltrace_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// Lanes have the runs, failures and missed ticks of each job in their cells: short ones, or those in which executions are counted.
func TestLanes(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		begin := time.Date(2026, 10, 25, 0, 7, 0, 0, time.UTC)
		var b trace.Batch
		run := func(at time.Duration, name string, outcome jobtype.Outcome) {
			x := job.Execution{Item: len(b.Events), TaskID: fmt.Sprintf("lane-%d", len(b.Events))}
			started, finished := event(len(b.Events), jobtype.EventStarted, x), event(len(b.Events)+1, jobtype.EventFinished, x)
			started.Time, started.Job = begin.Add(at), name
			finished.Time, finished.Job, finished.Outcome, finished.Took = begin.Add(at+time.Second), name, outcome, time.Second
			b.Events = append(b.Events, started, finished)
		}
		run(-time.Second, "early", jobtype.OutcomeOK)
		run(0, "a", jobtype.OutcomeOK)
		run(10*time.Second, "a", jobtype.OutcomeFailed)
		run(20*time.Second, "a", jobtype.OutcomeOK)
		run(59*time.Minute, "b", jobtype.OutcomeTimeout)
		run(time.Hour, "late", jobtype.OutcomeOK)
		missed := event(len(b.Events), jobtype.EventSkipped, job.Execution{Item: 1, ScheduledTime: begin.Add(16 * time.Minute)})
		missed.Time, missed.Job, missed.Ticks = begin.Add(30*time.Minute), "b", 3
		b.Events = append(b.Events, missed)
		h.write(tracer, b)
		for _, c := range []struct {
			length time.Duration
			want   string
		}{
			{time.Hour, "00:07 15s: a 0:2/1/0 1:1/0/0; b 64:0/0/3 236:1/1/0"},
			{60 * time.Hour, "00:00 15m0s: a 0:3/1/0; b 1:0/0/3 4:1/1/0; early 0:1/0/0; late 4:1/0/0"},
		} {
			l, err := tracer.Lanes(h.within(), begin, begin.Add(c.length))
			if err != nil {
				h.Fatal(err)
			}
			var lanes []string
			for _, name := range slices.Sorted(maps.Keys(l.Cells)) {
				lane := name
				for n, cell := range l.Cells[name] {
					if cell != (history.Cell{}) {
						lane += fmt.Sprintf(" %d:%d/%d/%d", n, cell.Executions, cell.Failed, cell.Missed)
					}
				}
				lanes = append(lanes, lane)
			}
			h.want(fmt.Sprint(l.From.Format("15:04 "), l.Step, ": ", strings.Join(lanes, "; ")), c.want)
		}
	})
}
