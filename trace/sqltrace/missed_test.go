package sqltrace_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// Ticks count in the hour or day in which it was noticed that they were missed. Events that the recorder has dropped
// (jobtype.EventMissed) are no ticks.
func TestMissed(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		berlin := zone(h, "Europe/Berlin")
		begin := time.Date(2026, 10, 25, 0, 0, 0, 0, berlin) // 02:00 comes twice
		var b trace.Batch
		missed := func(at time.Duration, kind jobtype.EventKind, name string, reason jobtype.SkipReason, ticks int) {
			e := event(len(b.Events), kind, job.Execution{Item: 1})
			e.Time, e.Job, e.Ticks = begin.Add(at), name, ticks
			if reason != 0 {
				e.What = reason.String()
			}
			b.Events = append(b.Events, e)
		}
		missed(-time.Microsecond, jobtype.EventMadeUp, "a", 0, 100)
		missed(0, jobtype.EventMadeUp, "a", 0, 3)
		missed(time.Minute, jobtype.EventMadeUp, "a", 0, 4)
		missed(2*time.Hour, jobtype.EventSkipped, "a", jobtype.SkipTooLate, 5)
		missed(2*time.Hour+time.Minute, jobtype.EventSkipped, "a", jobtype.SkipWhileRunning, 6)
		missed(3*time.Hour, jobtype.EventSkipped, "a", jobtype.SkipTooLate, 7)
		missed(3*time.Hour, jobtype.EventMissed, "a", 0, 1000)
		missed(25*time.Hour, jobtype.EventSkipped, "b", jobtype.SkipItemDisabled, 8)
		missed(26*time.Hour, jobtype.EventSkipped, "a", jobtype.SkipTooLate, 100)
		h.write(tracer, b)
		for _, c := range []struct {
			job  string
			step history.Step
			want string
		}{
			{"a", history.Hourly, "25 00:00 +0200 7 map[]; 25 02:00 +0200 0 map[too late:5 while running:6]; 25 02:00 +0100 0 map[too late:7]; "},
			{"", history.Daily, "25 00:00 +0200 7 map[too late:12 while running:6]; 26 00:00 +0100 0 map[item disabled:8]; "},
			{"c", history.Daily, ""},
		} {
			list, err := tracer.Missed(h.within(), history.CountQuery{Job: c.job, From: begin, To: begin.Add(26 * time.Hour), Step: c.step, Zone: berlin})
			if err != nil {
				h.Fatal(err)
			}
			got := ""
			for _, m := range list {
				got += fmt.Sprint(m.Start.Format("02 15:04 -0700"), " ", m.MadeUp, " ", m.Skipped, "; ")
			}
			h.want(got, c.want)
		}
	})
}
