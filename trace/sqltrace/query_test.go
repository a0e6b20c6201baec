package sqltrace_test

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"reflect"
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

// ran is an execution that a test has written.
type ran struct {
	job.Execution
	job     string
	ip      string
	start   time.Time
	outcome job.Outcome // 0 while it runs
	took    time.Duration
}

func (r ran) instance() string { return r.ip + "@-@7@-@abc" }

// events are the start and the end of r.
func (r ran) events() []trace.Event {
	start := trace.Event{ID: "s" + r.TaskID[1:], Time: r.start, Kind: jobtype.EventStarted, Job: r.job, Instance: r.instance(), Execution: r.Execution, Waited: time.Millisecond}
	if r.outcome == 0 {
		return []trace.Event{start}
	}
	end := start
	end.ID, end.Time, end.Kind, end.Outcome, end.Took, end.Attempt = "e"+r.TaskID[1:], r.start.Add(r.took), jobtype.EventFinished, r.outcome, r.took, 1
	if r.outcome != job.OutcomeOK {
		end.Error = "it was so"
	}
	return []trace.Event{start, end}
}

func (r ran) outcomeText() history.Outcome {
	if r.outcome == 0 {
		return history.OutcomeRunning
	}
	return history.OutcomeOf(r.outcome)
}

// writeRuns writes some executions of two jobs, of which some have begun at the same time.
func writeRuns(h *home, to *sqltrace.Tracer) []ran {
	h.Helper()
	var runs []ran
	var b trace.Batch
	for n := range 60 {
		r := ran{job: "a", ip: fmt.Sprintf("10.0.0.%d", n%3), outcome: job.Outcome(n % 7), took: time.Duration(n) * time.Second,
			start: began.Add(time.Duration(n/4) * 1700 * time.Millisecond), Execution: execution(n)}
		r.Item, r.Source, r.Token = n%5, job.Source(1+n%6), int64(n)
		if n%4 == 0 {
			r.job, r.RequestID = "b", fmt.Sprint("request-", n%8)
		}
		runs = append(runs, r)
		b.Events = append(b.Events, r.events()...)
	}
	h.write(to, b)
	return runs
}

func TestExecutions(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{Hostname: "gopher"})
		runs := writeRuns(h, tracer)
		middle := began.Truncate(time.Second).Add(10 * time.Second)
		failures := history.Failures()
		for name, c := range map[string]struct {
			filter history.ExecutionFilter
			meant  func(r ran) bool
		}{
			"all":         {history.ExecutionFilter{}, func(r ran) bool { return true }},
			"job":         {history.ExecutionFilter{Job: "a"}, func(r ran) bool { return r.job == "a" }},
			"item":        {history.ExecutionFilter{Job: "a", Items: []int{3}}, func(r ran) bool { return r.job == "a" && r.Item == 3 }},
			"items":       {history.ExecutionFilter{Job: "a", Items: []int{3, 1}}, func(r ran) bool { return r.job == "a" && (r.Item == 3 || r.Item == 1) }},
			"ip":          {history.ExecutionFilter{IP: "10.0.0.1"}, func(r ran) bool { return r.ip == "10.0.0.1" }},
			"instance":    {history.ExecutionFilter{Instance: "10.0.0.1@-@7@-@abc"}, func(r ran) bool { return r.ip == "10.0.0.1" }},
			"other":       {history.ExecutionFilter{Instance: "10.0.0.1@-@7@-@abd"}, func(r ran) bool { return false }},
			"source":      {history.ExecutionFilter{Source: job.SourceFailover}, func(r ran) bool { return r.Source == job.SourceFailover }},
			"failures":    {history.ExecutionFilter{Outcomes: failures}, func(r ran) bool { return slices.Contains(failures, r.outcomeText()) }},
			"interrupted": {history.ExecutionFilter{Outcomes: history.Interrupted()}, func(r ran) bool { return slices.Contains(history.Interrupted(), r.outcomeText()) }},
			"ok or running": {history.ExecutionFilter{Outcomes: []history.Outcome{history.OutcomeRunning, "OK"}},
				func(r ran) bool { return r.outcome == 0 || r.outcome == job.OutcomeOK }},
			"request": {history.ExecutionFilter{RequestID: "request-4"}, func(r ran) bool { return r.RequestID == "request-4" }},
			"from":    {history.ExecutionFilter{From: middle}, func(r ran) bool { return !r.start.Before(middle) }},
			"to":      {history.ExecutionFilter{Job: "b", To: middle}, func(r ran) bool { return r.job == "b" && r.start.Before(middle) }},
		} {
			want := slices.DeleteFunc(slices.Clone(runs), func(r ran) bool { return !c.meant(r) })
			slices.SortFunc(want, func(a, b ran) int {
				if h.dialect == sqltrace.MySQL { // in seconds
					return cmp.Or(b.start.Truncate(time.Second).Compare(a.start.Truncate(time.Second)), cmp.Compare(b.TaskID, a.TaskID))
				}
				return cmp.Or(b.start.Compare(a.start), cmp.Compare(b.TaskID, a.TaskID))
			})
			var got []history.Execution
			for f := c.filter; ; {
				f.Limit = 7
				page, err := tracer.Executions(h.within(), f)
				if err != nil {
					h.Fatalf("%s: %v", name, err)
				}
				got = append(got, page.Rows...)
				if page.Next == "" {
					break
				}
				if len(page.Rows) != 7 {
					h.Fatalf("%s: %d rows in a page of 7", name, len(page.Rows))
				}
				f.After = page.Next
			}
			if len(got) != len(want) {
				h.Fatalf("%s: %d executions, want %d", name, len(got), len(want))
			}
			for i, r := range want {
				x := history.Execution{ID: r.TaskID, TaskID: r.TaskID, Job: r.job, Item: r.Item, Instance: r.instance(), Hostname: "gopher", IP: r.ip,
					Source: r.Source, ScheduledTime: r.ScheduledTime, StartTime: r.start, Waited: time.Millisecond, Token: r.Token,
					Outcome: r.outcomeText(), RequestID: r.RequestID}
				if r.outcome != 0 {
					x.CompleteTime, x.Duration, x.Attempts = r.start.Add(r.took), r.took, 1
				}
				if r.outcome > job.OutcomeOK {
					x.Error = "it was so"
				}
				if diff := differs(got[i], x); diff != "" {
					h.Errorf("%s: execution %d: %s", name, i, diff)
				}
			}
		}
	})
}

// differs names the fields in which two values differ.
func differs[T any](got, want T) string {
	var fields []string
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if f := g.Type().Field(i); !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			fields = append(fields, fmt.Sprintf("%s is %v, want %v", f.Name, g.Field(i), w.Field(i)))
		}
	}
	return strings.Join(fields, "; ")
}

func TestOneExecution(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		var b trace.Batch
		var tries []ran
		for n := range 3 { // lost, failed over, run again by an operator a day later
			r := ran{job: "a", ip: "10.0.0.1", start: began.Add(time.Duration(n) * 12 * time.Hour), outcome: job.OutcomeFailed, took: time.Second, Execution: execution(n)}
			r.Item = 4
			tries = append(tries, r)
			b.Events = append(b.Events, r.events()...)
		}
		b.Events[1].Output = []byte("the end of it")
		next := ran{job: "a", ip: "10.0.0.1", start: began.Add(time.Hour), Execution: execution(9)}
		next.Item, next.ScheduledTime = 4, began.Add(time.Hour)
		b.Events = append(b.Events, next.events()...)
		for n := range 25 {
			b.Lines = append(b.Lines, trace.Line{Job: "a", TaskID: tries[0].TaskID, Item: 4, Number: n + 1, Time: began.Add(time.Duration(n)), Level: slog.LevelWarn, Text: fmt.Sprint("line ", n+1)})
		}
		h.write(tracer, b)

		x, err := tracer.Execution(h.within(), tries[0].TaskID)
		if err != nil || x.Output != "the end of it" || x.Job != "a" {
			h.Errorf("got %+v, %v", x, err)
		}
		if _, err := tracer.Execution(h.within(), "no such"); !errors.Is(err, history.ErrNotFound) {
			h.Errorf("one that is not there: %v", err)
		}
		chain, err := tracer.Chain(h.within(), x)
		if got := ids(chain); err != nil || !slices.Equal(got, []string{tries[0].TaskID, tries[1].TaskID, tries[2].TaskID}) {
			h.Errorf("the chain is %v, %v", got, err)
		}
		latest, err := tracer.Latest(h.within(), "a", -1, 0)
		if got := ids(latest); err != nil || !slices.Equal(got, []string{tries[2].TaskID}) {
			h.Errorf("the latest are %v, %v", got, err)
		}
		var lines []trace.Line
		for {
			more, err := tracer.Lines(h.within(), x.ID, len(lines), 10)
			if err != nil {
				h.Fatal(err)
			}
			if len(more) == 0 {
				break
			}
			lines = append(lines, more...)
		}
		for i, l := range lines {
			l.Time, b.Lines[i].Time = l.Time.Truncate(time.Microsecond), b.Lines[i].Time.Truncate(time.Microsecond)
			if diff := differs(l, b.Lines[i]); diff != "" {
				h.Errorf("line %d: %s", i+1, diff)
			}
		}
		if len(lines) != 25 {
			h.Errorf("%d lines of 25", len(lines))
		}
		states, err := tracer.Statuses(h.within(), history.StatusFilter{TaskID: x.TaskID})
		if err != nil || len(states.Rows) != 2 || states.Rows[0].State != "TASK_ERROR" || states.Rows[1].State != "TASK_RUNNING" {
			h.Fatalf("got %+v, %v", states, err)
		}
		want := history.Status{ID: b.Events[1].ID, Job: "a", TaskID: x.ID, IP: "10.0.0.1", Source: "LITE_EXECUTOR", ExecutionType: "READY", Items: "[4]",
			State: "TASK_ERROR", Message: "it was so", CreationTime: began.Add(time.Second), Instance: "10.0.0.1@-@7@-@abc", Attempt: 1}
		if diff := differs(states.Rows[0], want); diff != "" {
			h.Error(diff)
		}
	})
}

func ids(list []history.Execution) []string {
	var all []string
	for _, x := range list {
		all = append(all, x.ID)
	}
	return all
}

// An address that is too long for its column finds its executions, too.
func TestLongAddress(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		r := ran{job: "a", ip: strings.Repeat("host.", 20), start: began, outcome: job.OutcomeOK, Execution: execution(1)}
		h.write(tracer, trace.Batch{Events: r.events()})
		page, err := tracer.Executions(h.within(), history.ExecutionFilter{Instance: r.instance()})
		if err != nil || len(page.Rows) != 1 {
			h.Errorf("got %v, %v", page, err)
		}
	})
}

func TestLatest(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		newest := map[int]ran{}
		for _, r := range writeRuns(h, tracer) {
			if was, ok := newest[r.Item]; r.job == "a" && (!ok || !r.start.Before(was.start)) {
				newest[r.Item] = r
			}
		}
		var got []history.Execution
		after := -1
		for range 3 {
			list, err := tracer.Latest(h.within(), "a", after, 2)
			if err != nil {
				h.Fatal(err)
			}
			got = append(got, list...)
			after = got[len(got)-1].Item
		}
		if len(got) != 5 {
			h.Fatalf("%d items of 5", len(got))
		}
		for item, x := range got {
			if x.Item != item || !x.StartTime.Equal(newest[item].start) {
				h.Errorf("item %d: %d, %v; want %v", item, x.Item, x.StartTime, newest[item].start)
			}
		}
		if list, err := tracer.Latest(h.within(), "no such", -1, 0); err != nil || len(list) != 0 {
			h.Errorf("a job without executions: %v, %v", list, err)
		}
	})
}

// What a JVM has written is found, with what there is of it.
func TestJVMRowsAreFound(t *testing.T) {
	onEach(t, func(h *home) {
		jvms[len(jvms)-1].createTables(h)
		jvms[len(jvms)-1].run(h, "before")
		tracer := h.open(sqltrace.Options{})
		h.write(tracer, trace.Batch{})
		page, err := tracer.Executions(h.within(), history.ExecutionFilter{Job: "j", IP: "10.0.0.9"})
		if err != nil || len(page.Rows) != 4 {
			h.Fatalf("got %+v, %v", page, err)
		}
		start := time.Date(2023, 5, 6, 7, 8, 9, 0, time.UTC)
		for i, x := range page.Rows {
			want, took := []history.Outcome{"FAILED", "OK", "FAILED", "OK"}[i], time.Second
			if i == 0 {
				took = 0 // ElasticJob writes no end where it inserts a failure
			}
			if x.Outcome != want || !x.StartTime.Equal(start) || x.Duration != took || x.Item != 1-i%2 {
				h.Errorf("got %+v, want %s at %v", x, want, start)
			}
			if chain, err := tracer.Chain(h.within(), x); err != nil || len(chain) != 1 {
				h.Errorf("its chain is %v, %v", chain, err)
			}
		}
		failures, err := tracer.Executions(h.within(), history.ExecutionFilter{Outcomes: history.Failures()})
		if err != nil || len(failures.Rows) != 2 {
			h.Errorf("failures: %+v, %v", failures, err)
		}
		states, err := tracer.SearchStatuses(h.within(), history.StatusSearch{Job: "j", State: "TASK_STAGING"})
		if err != nil || states.Total == 0 || len(states.Rows) != int(states.Total) || states.Rows[0].Items == "" {
			h.Errorf("states: %+v, %v", states, err)
		}
		d, err := tracer.Durations(h.within(), "j", time.Time{}, time.Time{})
		if err != nil || d.Executions != 3 || d.Max != time.Second || !d.All || !d.Since.Equal(start) {
			h.Errorf("durations: %+v, %v", d, err)
		}
		h.exec("UPDATE JOB_EXECUTION_LOG SET complete_time = '2023-05-06 07:08:00'") // its clock was set back
		if d, err := tracer.Durations(h.within(), "j", time.Time{}, time.Time{}); err != nil || d.P50 != 0 || d.Max != 0 {
			h.Errorf("durations with another clock: %+v, %v", d, err)
		}
	})
}

func TestEvents(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		var b trace.Batch
		for n := range 12 {
			e := trace.Event{ID: id(n), Time: began.Add(time.Duration(n/2) * time.Second).Truncate(time.Microsecond), Kind: jobtype.EventItems, Job: "a", Instance: "x", Items: []int{0, n}}
			if n%3 == 0 {
				e = trace.Event{ID: id(n), Time: e.Time, Kind: jobtype.EventSkipped, Job: "b", Execution: job.Execution{Item: n, ScheduledTime: began.Truncate(time.Second)}, Ticks: 3, What: "disabled"}
			}
			b.Events = append(b.Events, e)
		}
		over := trace.Event{ID: id(99), Time: began.Add(time.Minute), Kind: jobtype.EventPaused, Job: "a", By: "ann", Why: "rest", Over: true}
		command := trace.Event{ID: id(100), Time: over.Time, Kind: jobtype.EventCommanded, Job: "a", By: "ann", What: "retry", Detail: "item 3", Items: []int{3},
			Execution: job.Execution{RequestID: "r", Token: 7}}
		operated := trace.Event{ID: id(101), Time: over.Time, Kind: jobtype.EventOperated, Job: "a", By: "bob", From: "10.1.1.1", What: "update",
			Detail: "cron", Why: "later", Before: "cron: a\n", After: strings.Repeat("x", trace.MaxDocument)}
		calendar := trace.Event{ID: id(102), Time: over.Time, Kind: jobtype.EventOperated, By: "ann", What: "put calendar", Detail: "calendar holidays"}
		b.Events = append(b.Events, over, command, operated, calendar)
		h.write(tracer, b)
		h.write(tracer, b)
		slices.Reverse(b.Events)
		for name, c := range map[string]struct {
			filter history.EventFilter
			meant  func(e trace.Event) bool
		}{
			"all":      {history.EventFilter{}, func(trace.Event) bool { return true }},
			"job":      {history.EventFilter{Job: "b"}, func(e trace.Event) bool { return e.Job == "b" }},
			"instance": {history.EventFilter{Instance: "x"}, func(e trace.Event) bool { return e.Instance == "x" }},
			"kinds": {history.EventFilter{Kinds: []jobtype.EventKind{jobtype.EventPaused, jobtype.EventSkipped}},
				func(e trace.Event) bool { return e.Kind == jobtype.EventPaused || e.Kind == jobtype.EventSkipped }},
			"operated": {history.EventFilter{Kinds: []jobtype.EventKind{jobtype.EventOperated}, Job: "a"}, func(e trace.Event) bool { return e.ID == operated.ID }},
			"by":       {history.EventFilter{By: "ann"}, func(e trace.Event) bool { return e.By == "ann" }},
			"what":     {history.EventFilter{By: "ann", What: "put calendar"}, func(e trace.Event) bool { return e.ID == calendar.ID }},
			"time": {history.EventFilter{From: began.Add(time.Second), To: began.Add(3 * time.Second)},
				func(e trace.Event) bool {
					return !e.Time.Before(began.Add(time.Second)) && e.Time.Before(began.Add(3*time.Second))
				}},
		} {
			want := slices.DeleteFunc(slices.Clone(b.Events), func(e trace.Event) bool { return !c.meant(e) })
			var got []trace.Event
			for f := c.filter; ; {
				f.Limit = 5
				page, err := tracer.Events(h.within(), f)
				if err != nil {
					h.Fatalf("%s: %v", name, err)
				}
				got = append(got, page.Rows...)
				if f.After = page.Next; f.After == "" {
					break
				}
			}
			if len(got) != len(want) {
				h.Fatalf("%s: %d events, want %d", name, len(got), len(want))
			}
			for i := range want {
				if diff := differs(got[i], want[i]); diff != "" {
					h.Errorf("%s: event %d: %s", name, i, diff)
				}
			}
		}
	})
}

// Days and hours are those of a zone, also of those in which the clocks change.
func TestCounts(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		zones := []*time.Location{time.UTC, zone(h, "Europe/Berlin"), zone(h, "Asia/Kathmandu"), zone(h, "Australia/Lord_Howe")}
		// The clocks change on 29 March in Berlin, and on 5 April on Lord Howe.
		begin, end := time.Date(2026, 3, 27, 0, 0, 0, 0, time.UTC), time.Date(2026, 4, 7, 0, 0, 0, 0, time.UTC)
		var runs []ran
		for at := begin.Add(-time.Hour); at.Before(end.Add(time.Hour)); at = at.Add(37*time.Minute + 11*time.Second) {
			n := len(runs)
			r := ran{job: []string{"a", "b"}[n%2], ip: "10.0.0.1", start: at, outcome: job.Outcome(n % 4), took: time.Second, Execution: execution(n)}
			runs = append(runs, r)
			h.write(tracer, trace.Batch{Events: r.events()[:1]})
		}
		for range 2 { // a batch may come twice
			var b trace.Batch
			for _, r := range runs {
				b.Events = append(b.Events, r.events()...)
			}
			h.write(tracer, b)
		}
		for _, in := range zones {
			for _, step := range []history.Step{history.Hourly, history.Daily} {
				for _, jobName := range []string{"", "a"} {
					want := map[string]int64{}
					for _, r := range runs {
						if at := r.start.In(in); r.outcome != 0 && (jobName == "" || r.job == jobName) && !at.Before(begin) && at.Before(end) {
							_, offset := at.Zone()
							start := at.Add(time.Duration(offset) * time.Second).Truncate(time.Hour).Add(-time.Duration(offset) * time.Second)
							if step == history.Daily {
								y, m, d := at.Date()
								start = time.Date(y, m, d, 0, 0, 0, 0, in)
							}
							want[start.Format(time.RFC3339)+" "+r.outcome.String()]++
						}
					}
					got := map[string]int64{}
					counts, err := tracer.Counts(h.within(), history.CountQuery{Job: jobName, From: begin, To: end, Step: step, Zone: in})
					if err != nil {
						h.Fatal(err)
					}
					for i, c := range counts {
						if i > 0 && !counts[i-1].Start.Before(c.Start) {
							h.Errorf("%v comes after %v", c.Start, counts[i-1].Start)
						}
						for outcome, n := range c.Executions {
							got[c.Start.Format(time.RFC3339)+" "+string(outcome)] = n
						}
					}
					if diff := differing(got, want); diff != "" {
						h.Errorf("%v, step %d, job %q: %s", in, step, jobName, diff)
					}
				}
			}
		}
	})
}

func zone(h *home, name string) *time.Location {
	h.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		h.Fatal(err)
	}
	return z
}

func differing(got, want map[string]int64) string {
	var b strings.Builder
	for k, n := range want {
		if got[k] != n {
			fmt.Fprintf(&b, "\n%s: %d, want %d", k, got[k], n)
		}
	}
	for k, n := range got {
		if _, ok := want[k]; !ok {
			fmt.Fprintf(&b, "\n%s: %d, want none", k, n)
		}
	}
	return b.String()
}

// A run that was declared lost, and ends after all, is counted once.
func TestLostRunsAreCountedOnce(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		r := ran{job: "a", ip: "10.0.0.1", start: began, outcome: job.OutcomeOK, took: time.Hour, Execution: execution(1)}
		h.write(tracer, trace.Batch{Events: r.events()[:1]})
		want := func(outcome history.Outcome) {
			h.Helper()
			counts, err := tracer.Counts(h.within(), history.CountQuery{From: began.Add(-time.Hour), To: began.Add(time.Hour), Step: history.Daily})
			if err != nil || len(counts) != 1 || len(counts[0].Executions) != 1 || counts[0].Executions[outcome] != 1 {
				h.Errorf("got %v, %v; want one %s", counts, err, outcome)
			}
			d, err := tracer.Durations(h.within(), "a", time.Time{}, time.Time{})
			if isKnown := outcome != history.OutcomeLost; err != nil || isKnown != (d.Executions == 1) {
				h.Errorf("durations of one %s: %+v, %v", outcome, d, err)
			}
		}
		for range 2 {
			h.write(tracer, trace.Batch{Events: []trace.Event{{ID: id(500), Time: began.Add(time.Minute), Kind: jobtype.EventRecovered, Job: "a", From: r.instance(), Items: []int{1}}}})
			want(history.OutcomeLost)
		}
		for range 2 {
			h.write(tracer, trace.Batch{Events: r.events()[1:]})
			want("OK")
		}
	})
}

func TestDurations(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		if d, err := tracer.Durations(h.within(), "", time.Time{}, time.Time{}); err != nil || d != (history.Durations{All: true}) {
			h.Errorf("of none: %+v, %v", d, err)
		}
		var b trace.Batch
		for n := range 200 {
			r := ran{job: "a", ip: "10.0.0.1", start: began.Add(time.Duration(n) * time.Minute), outcome: job.OutcomeOK, took: time.Duration(200-n) * time.Second, Execution: execution(n)}
			b.Events = append(b.Events, r.events()...)
		}
		h.write(tracer, b)
		d, err := tracer.Durations(h.within(), "a", began.Add(100*time.Minute).Truncate(time.Second), time.Time{}) // 100 of them: 1 s to 100 s
		d.Since = d.Since.Truncate(time.Second)
		want := history.Durations{Executions: 100, P50: 50 * time.Second, P95: 95 * time.Second, P99: 99 * time.Second, Max: 100 * time.Second,
			Since: began.Add(100 * time.Minute).Truncate(time.Second), All: true}
		if err != nil || d != want {
			h.Errorf("got %+v, %v; want %+v", d, err, want)
		}
	})
}

// The rules of ElasticJob's console: a wrong page is the first one of 10, and a wrong column to
// sort by is none.
func TestSearch(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		runs := writeRuns(h, tracer)
		yes, no := true, false
		items := func(s history.ExecutionSearch) (list []int, total int64) {
			h.Helper()
			found, err := tracer.SearchExecutions(h.within(), s)
			if err != nil {
				h.Fatal(err)
			}
			for _, x := range found.Rows {
				list = append(list, int(x.Token))
			}
			return list, found.Total
		}
		count := func(meant func(r ran) bool) (n int64) {
			for _, r := range runs {
				if meant(r) {
					n++
				}
			}
			return n
		}
		at := began.Truncate(time.Second).Add(10 * time.Second)
		for name, c := range map[string]struct {
			search history.ExecutionSearch
			total  int64
		}{
			"all":     {history.ExecutionSearch{}, 60},
			"job":     {history.ExecutionSearch{Job: "a"}, 45},
			"ip":      {history.ExecutionSearch{IP: "10.0.0.1"}, 20},
			"success": {history.ExecutionSearch{Success: &yes}, count(func(r ran) bool { return r.outcome == job.OutcomeOK })},
			"none":    {history.ExecutionSearch{Success: &no}, count(func(r ran) bool { return r.outcome != job.OutcomeOK })},
			"from":    {history.ExecutionSearch{Search: history.Search{From: at}}, count(func(r ran) bool { return !r.start.Before(at) })},
			"nothing": {history.ExecutionSearch{Job: "no such"}, 0},
		} {
			if list, total := items(c.search); total != c.total || len(list) != int(min(total, 10)) {
				h.Errorf("%s: %d rows of %d, want %d", name, len(list), total, c.total)
			}
		}
		for _, sort := range []string{"startTime", "start_time"} {
			up, _ := items(history.ExecutionSearch{Search: history.Search{Number: 1, Size: 60, Sort: sort}})
			down, _ := items(history.ExecutionSearch{Search: history.Search{Number: 1, Size: 60, Sort: sort, Descending: true}})
			slices.Reverse(down)
			if !slices.Equal(up, down) || up[0] != 0 || up[59] != 59 {
				h.Errorf("sorted by %s: %v and the other way round %v", sort, up, down)
			}
		}
		newest, _ := items(history.ExecutionSearch{})
		for name, s := range map[string]history.Search{
			"page 0": {Number: 0, Size: 30}, "no rows": {Number: 3, Size: -1}, "no such column": {Sort: "id; DROP TABLE JOB_EXECUTION_LOG"},
			"a column of ours": {Sort: "token"},
		} {
			if list, _ := items(history.ExecutionSearch{Search: s}); !slices.Equal(list, newest) {
				h.Errorf("%s: %v, want %v", name, list, newest)
			}
		}
		if list, total := items(history.ExecutionSearch{Search: history.Search{Number: 7, Size: 10}}); len(list) != 0 || total != 60 {
			h.Errorf("a page behind the last one: %v of %d", list, total)
		}
		for _, sort := range []string{"jobName", "taskId", "shardingItem", "executionSource", "failureCause", "isSuccess", "completeTime", "hostname", "ip", "id"} {
			if list, _ := items(history.ExecutionSearch{Search: history.Search{Number: 2, Size: 40, Sort: sort}}); len(list) != 20 {
				h.Errorf("sorted by %s: %d rows of 20", sort, len(list))
			}
		}
		states, err := tracer.SearchStatuses(h.within(), history.StatusSearch{Job: "a", Source: "LITE_EXECUTOR", ExecutionType: "FAILOVER", State: "TASK_RUNNING",
			Search: history.Search{Number: 1, Size: 100, Sort: "creationTime", From: began.Truncate(time.Second), To: began.Add(time.Hour)}})
		want := count(func(r ran) bool { return r.job == "a" && r.Source == job.SourceFailover })
		if err != nil || states.Total != want || len(states.Rows) != int(want) {
			h.Errorf("%d states of %d, %v; want %d", len(states.Rows), states.Total, err, want)
		}
	})
}

func TestNames(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		var b trace.Batch
		for n, name := range []string{"nightly", "Nightly", "night-2", "näh", "_", "weekly"} {
			b.Events = append(b.Events, ran{job: name, ip: fmt.Sprintf("10.0.%d.1", n), start: began, Execution: execution(n)}.events()...)
		}
		h.write(tracer, b)
		for name, c := range map[string]struct {
			ask   func() ([]string, error)
			wants []string
		}{
			"all":       {func() ([]string, error) { return tracer.JobNames(h.within(), "", 0) }, []string{"Nightly", "_", "night-2", "nightly", "näh", "weekly"}},
			"prefix":    {func() ([]string, error) { return tracer.JobNames(h.within(), "nig", 0) }, []string{"night-2", "nightly"}},
			"first":     {func() ([]string, error) { return tracer.StatusJobNames(h.within(), "n", 2) }, []string{"night-2", "nightly"}},
			"none":      {func() ([]string, error) { return tracer.JobNames(h.within(), "%", 0) }, nil},
			"addresses": {func() ([]string, error) { return tracer.Addresses(h.within(), "10.0.1", 0) }, []string{"10.0.1.1"}},
		} {
			if got, err := c.ask(); err != nil || !slices.Equal(got, c.wants) {
				h.Errorf("%s: %q, %v; want %q", name, got, err, c.wants)
			}
		}
	})
}

func TestWrongQueries(t *testing.T) {
	h := newHome(t, sqltrace.SQLite)
	tracer := h.open(sqltrace.Options{})
	executions := func(f history.ExecutionFilter) error { _, err := tracer.Executions(h.within(), f); return err }
	counts := func(q history.CountQuery) error { _, err := tracer.Counts(h.within(), q); return err }
	outlines := func(q history.OutlineQuery) error { _, err := tracer.Outlines(h.within(), q); return err }
	for want, err := range map[string]error{
		"limit 100001: 1 to 100000, or 0":                  outlines(history.OutlineQuery{Job: "a", From: began, To: began.Add(1), Limit: 100_001}),
		"limit -2: 1 to 100000":                            outlines(history.OutlineQuery{Job: "a", From: began, To: began.Add(1), Limit: -2}),
		"a job, from and to are needed":                    outlines(history.OutlineQuery{Job: "a", From: began}),
		"to 2026-01-02 03:04:04":                           outlines(history.OutlineQuery{Job: "a", From: began, To: began.Add(-time.Second)}),
		"limit 1001: 1 to 1000, or 0 for 100, are allowed": executions(history.ExecutionFilter{Limit: 1001}),
		"limit -1: 1 to 1000":                              executions(history.ExecutionFilter{Limit: -1}),
		"items [1] without a job":                          executions(history.ExecutionFilter{Items: []int{1}}),
		"1001 items, 0 outcomes: 1000":                     executions(history.ExecutionFilter{Job: "a", Items: make([]int, 1001)}),
		`cursor "5": what Page.Next has`:                   executions(history.ExecutionFilter{After: "5"}),
		`cursor "x_y": what Page.Next has`:                 executions(history.ExecutionFilter{After: "x_y"}),
		"nothing is in between":                            executions(history.ExecutionFilter{From: began, To: began}),
		"step 0: Hourly or Daily":                          counts(history.CountQuery{From: began, To: began.Add(1)}),
		"1 to 1000 times this are allowed":                 counts(history.CountQuery{From: began, To: began.Add(1001 * time.Hour), Step: history.Hourly}),
		"by 24h0m0s: 1 to 1000 times this":                 counts(history.CountQuery{To: began, Step: history.Daily}),
		"step 7: Hourly or Daily":                          second(tracer.Missed(h.within(), history.CountQuery{From: began, To: began.Add(1), Step: 7})),
		"up to 168h0m0s are allowed":                       second(tracer.Lanes(h.within(), began, began.AddDate(0, 0, 8))),
		"page 2 of 1001 rows":                              second(tracer.SearchExecutions(h.within(), history.ExecutionSearch{Search: history.Search{Number: 2, Size: 1001}})),
		"there is no kind 77 of events":                    second(tracer.Events(h.within(), history.EventFilter{Kinds: []jobtype.EventKind{77}})),
		"limit 2000":                                       second(tracer.JobNames(h.within(), "", 2000)),
		"from 2026-01-02 03:04:05.678901 +":                second(tracer.Durations(h.within(), "", began, began)),
	} {
		if !errors.Is(err, history.ErrQuery) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// An error says which table could not be read, and why.
func TestUnreadableTables(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "missing", "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tracer, err := sqltrace.Open(db, sqltrace.SQLite, sqltrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tracer.Close()
	ctx := t.Context()
	for table, errs := range map[string][]error{
		"JOB_EXECUTION_LOG": {
			second(tracer.Executions(ctx, history.ExecutionFilter{})), second(tracer.Execution(ctx, "x")), second(tracer.Latest(ctx, "a", -1, 0)),
			second(tracer.Chain(ctx, history.Execution{ID: "x", Instance: "y"})), second(tracer.Durations(ctx, "", time.Time{}, time.Time{})),
			second(tracer.Outlines(ctx, history.OutlineQuery{Job: "a", From: began, To: began.Add(time.Hour)})),
			second(tracer.JobNames(ctx, "", 0)), second(tracer.Addresses(ctx, "", 0)), second(tracer.SearchExecutions(ctx, history.ExecutionSearch{})),
		},
		"JOB_STATUS_TRACE_LOG": {
			second(tracer.Statuses(ctx, history.StatusFilter{})), second(tracer.StatusJobNames(ctx, "", 0)), second(tracer.SearchStatuses(ctx, history.StatusSearch{})),
		},
		"ELASTICJOB_EVENT": {
			second(tracer.Events(ctx, history.EventFilter{})), second(tracer.Missed(ctx, history.CountQuery{From: began, To: began.Add(time.Hour), Step: history.Hourly})),
		},
		"ELASTICJOB_RUN_LOG": {second(tracer.Lines(ctx, "x", 0, 0))},
		"ELASTICJOB_COUNT": {
			second(tracer.Counts(ctx, history.CountQuery{From: began, To: began.Add(time.Hour), Step: history.Hourly})), second(tracer.Lanes(ctx, began, began.Add(time.Hour))),
		},
	} {
		for i, err := range errs {
			if err == nil || !strings.Contains(err.Error(), "SQLite: read "+table+": ") || !strings.Contains(err.Error(), "unable to open database file") {
				t.Errorf("%s, query %d: %v", table, i, err)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Whoever asks may give any text: it finds what was written of the same one, or nothing.
func TestTextsOfQueries(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		for i, text := range []string{"it's", "a%b_c", `a\b`, "q?q", "$1", "日本🚀", "a\x00b", "bad\xff"} {
			e := event(i, jobtype.EventStarted, execution(i))
			e.Job = text
			h.write(tracer, trace.Batch{Events: []trace.Event{e}})
			x, err := tracer.Executions(h.within(), history.ExecutionFilter{Job: text})
			if err != nil || len(x.Rows) != 1 || x.Rows[0].ID != execution(i).TaskID {
				t.Errorf("executions of %q: %v, %v", text, ids(x.Rows), err)
			}
			s, err := tracer.SearchStatuses(h.within(), history.StatusSearch{Search: history.Search{Sort: text}, Job: text})
			if err != nil || s.Total != 1 {
				t.Errorf("search for %q: %d, %v", text, s.Total, err)
			}
			none, err := tracer.Executions(h.within(), history.ExecutionFilter{Outcomes: []history.Outcome{history.Outcome(text)}, After: history.Cursor("1_" + text)})
			if err != nil || len(none.Rows) != 0 {
				t.Errorf("outcome and cursor %q: %v, %v", text, ids(none.Rows), err)
			}
			if _, err := tracer.Execution(h.within(), text); !errors.Is(err, history.ErrNotFound) {
				t.Errorf("execution %q: %v", text, err)
			}
		}
	})
}

// What no column can hold is as good as the largest value, when it is written and in a filter.
func TestNumbersOutOfRange(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		x := execution(1)
		many := event(2, jobtype.EventSkipped, job.Execution{Item: 1})
		many.Ticks = 5_000_000_000
		line := trace.Line{Job: "settle", TaskID: x.TaskID, Number: 1, Time: began, Level: math.MaxInt, Text: "loud"}
		h.write(tracer, trace.Batch{Events: []trace.Event{event(1, jobtype.EventStarted, x), many}, Lines: []trace.Line{line}})
		h.want(h.ask("SELECT ticks, level FROM ELASTICJOB_EVENT, ELASTICJOB_RUN_LOG"), "2147483647|2147483647")

		_, err := tracer.Executions(h.within(), history.ExecutionFilter{Job: "settle", Items: []int{math.MaxInt, math.MinInt}})
		_, err1 := tracer.Latest(h.within(), "settle", math.MaxInt, 0)
		_, err2 := tracer.Lines(h.within(), x.TaskID, math.MaxInt, 0)
		if err := errors.Join(err, err1, err2); err != nil {
			t.Error(err)
		}
		for _, from := range []struct {
			time time.Time
			want int
		}{
			{time.Unix(math.MinInt64/2, 0), 1}, {time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC), 1},
			{time.Date(300_000, 1, 1, 0, 0, 0, 0, time.UTC), 0}, {time.Unix(math.MaxInt64/2, 0), 0},
		} {
			runs, err := tracer.Executions(h.within(), history.ExecutionFilter{From: from.time})
			events, err1 := tracer.Events(h.within(), history.EventFilter{From: from.time})
			if err := errors.Join(err, err1); err != nil || len(runs.Rows) != from.want || len(events.Rows) != from.want {
				t.Errorf("from %v: %d runs, %d events, %v", from.time, len(runs.Rows), len(events.Rows), err)
			}
		}
	})
}

// Where the clocks are set at midnight, a day has none, and begins an hour later.
func TestCountsOnADayWithoutMidnight(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		santiago := zone(h, "America/Santiago")
		begin := time.Date(2026, 9, 5, 0, 0, 0, 0, santiago)
		var b trace.Batch
		for n := range 3 * 24 {
			r := ran{job: "a", ip: "10.0.0.1", start: begin.Add(time.Duration(n) * time.Hour), outcome: job.OutcomeOK, Execution: execution(n)}
			b.Events = append(b.Events, r.events()...)
		}
		h.write(tracer, b)
		counts, err := tracer.Counts(h.within(), history.CountQuery{From: begin, To: begin.AddDate(0, 0, 3), Step: history.Daily, Zone: santiago})
		if err != nil {
			h.Fatal(err)
		}
		var got []string
		for _, c := range counts {
			got = append(got, fmt.Sprint(c.Start.Format("01-02 15:04 "), c.Executions["OK"]))
		}
		h.want(strings.Join(got, ", "), "09-05 00:00 24, 09-06 01:00 23, 09-07 00:00 24")
	})
}
