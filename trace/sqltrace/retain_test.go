package sqltrace_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// fillAges writes executions with a status, an event and a line each, one for each age.
func fillAges(h *home, tracer *sqltrace.Tracer, ages ...time.Duration) {
	h.Helper()
	var b trace.Batch
	for i, age := range ages {
		x := execution(i + 1)
		at := time.Now().Add(-age)
		f := event(1, jobtype.EventFinished, x)
		f.Outcome, f.Time = job.OutcomeOK, at
		e := event(2, jobtype.EventJoined, job.Execution{})
		e.ID, e.Time = id(500_000+i), at
		b.Events = append(b.Events, f, e)
		b.Lines = append(b.Lines, trace.Line{Job: "settle", TaskID: x.TaskID, Number: 1, Time: at, Text: "line"})
	}
	h.write(tracer, b)
}

func (h *home) rowCounts() string {
	h.Helper()
	var counts []string
	for _, table := range []string{"JOB_EXECUTION_LOG", "JOB_STATUS_TRACE_LOG", "ELASTICJOB_EVENT", "ELASTICJOB_RUN_LOG"} {
		counts = append(counts, h.ask("SELECT COUNT(*) FROM "+table))
	}
	return strings.Join(counts, " ")
}

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// never is so long that a test sees no pass but its own.
const never = 100 * 365 * 24 * time.Hour

func TestRetainByAge(t *testing.T) {
	onEach(t, func(h *home) {
		jvms[1].createTables(h)
		jvms[1].run(h, "old") // in 2023
		tracer := h.open(sqltrace.Options{Retention: sqltrace.Retention{Age: days(30), Every: never}})
		fillAges(h, tracer, 0, days(29), days(31), days(1000))
		removed, err := tracer.Retain(h.within())
		if err != nil {
			h.Fatal(err)
		}
		if removed.Executions != 6 || removed.Statuses != 5 || removed.Events != 2 || removed.Lines != 2 {
			h.Errorf("removed %+v", removed)
		}
		h.want(h.rowCounts(), "2 2 2 2")
		if s := tracer.Stats(); s.Removed != removed {
			h.Errorf("%+v", s)
		}
	})
}

func TestRetainByRows(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{Retention: sqltrace.Retention{Rows: 3, Every: never}})
		fillAges(h, tracer, days(1), days(2))
		if removed, err := tracer.Retain(h.within()); err != nil || removed != (sqltrace.Removed{}) {
			h.Errorf("removed %+v, %v", removed, err)
		}
		var ages []time.Duration
		for n := range 1200 { // more than are removed at once
			ages = append(ages, time.Duration(n)*time.Minute)
		}
		h.empty()
		fillAges(h, tracer, ages...)
		removed, err := tracer.Retain(h.within())
		if err != nil || removed.Executions != 1197 || removed.Lines != 1197 {
			h.Errorf("removed %+v, %v", removed, err)
		}
		h.want(h.rowCounts(), "3 3 3 3")
		h.want(h.ask("SELECT MAX(id) FROM JOB_EXECUTION_LOG"), id(3))
	})
}

// Several processes make passes at a time, and others write. What went is counted once.
func TestRetainAtOnce(t *testing.T) {
	onEach(t, func(h *home) {
		var ages []time.Duration
		for n := range 1200 {
			ages = append(ages, days(n+1))
		}
		o := sqltrace.Options{Retention: sqltrace.Retention{Age: days(100), Every: never}}
		fillAges(h, h.open(o), ages...)
		var all sync.WaitGroup
		var sum sync.Mutex
		var total sqltrace.Removed
		for i := range 4 {
			tracer := h.open(o)
			all.Go(func() {
				removed, err := tracer.Retain(h.within())
				if err != nil {
					h.Error(err)
				}
				sum.Lock()
				defer sum.Unlock()
				total.Executions += removed.Executions
				total.Lines += removed.Lines
			})
			all.Go(func() {
				for n := range 5 {
					x := execution(10_000 + 10*i + n)
					f := event(1, jobtype.EventFinished, x)
					f.Outcome, f.Time = job.OutcomeOK, time.Now()
					if err := tracer.Write(h.within(), trace.Batch{Events: []trace.Event{f}}); err != nil {
						h.Error(err)
					}
				}
			})
		}
		all.Wait()
		if total.Executions != 1101 || total.Lines != 1101 {
			// Those that found another at work have left it to that one.
			h.Errorf("removed %+v", total)
		}
		h.want(h.rowCounts(), "119 119 99 99")
	})
}

// The passes come by themselves, and what fails is told.
func TestRetainByItself(t *testing.T) {
	h := newHome(t, sqltrace.SQLite)
	log := new(syncWriter)
	tracer := h.open(sqltrace.Options{
		Retention: sqltrace.Retention{Age: days(1), Every: time.Second},
		Slog:      log.logger(),
	})
	fillAges(h, tracer, days(2))
	h.await("the rows go", func() bool { return h.rowCounts() == "0 0 0 0" && tracer.Stats().Removed.Lines == 1 })
	h.exec("DROP TABLE ELASTICJOB_EVENT")
	h.await("a failure is told", func() bool { return tracer.Stats().RetentionFailed != nil })
	fillAges(h, tracer, days(2)) // makes the table again
	h.await("it is well again", func() bool { return tracer.Stats().RetentionFailed == nil && h.rowCounts() == "0 0 0 0" })
	h.exec("DELETE FROM ELASTICJOB_SCHEMA")
	h.await("an empty table is told", func() bool { return tracer.Stats().RetentionFailed != nil })
	passes := tracer.Stats().Passes
	h.await("it is filled again", func() bool { return tracer.Stats().Passes > passes })
	tracer.Close()
	for _, want := range []string{"old rows of the history are removed", "could not be removed"} {
		if n := strings.Count(log.String(), want); n < 1 || n > 3 {
			t.Errorf("%q is said %d times:\n%s", want, n, log)
		}
	}
}

// Of many processes one makes a pass at a time, and a wrong clock stops nobody.
func TestRetainInTurns(t *testing.T) {
	onEach(t, func(h *home) {
		o := sqltrace.Options{Retention: sqltrace.Retention{Age: days(1), Every: time.Second}}
		tracers := []*sqltrace.Tracer{h.open(o), h.open(o), h.open(o), h.open(o)}
		passes := func() (n int64) {
			for _, tracer := range tracers {
				n += tracer.Stats().Passes
			}
			return n
		}
		start := time.Now()
		h.await("the first passes", func() bool { return passes() >= 2 })
		h.exec("UPDATE ELASTICJOB_SCHEMA SET retained_micros = ?", time.Now().Add(days(400)).UnixMicro())
		h.await("a pass in spite of a wrong clock", func() bool { return passes() >= 4 })
		for _, tracer := range tracers {
			tracer.Close()
			if s := tracer.Stats(); s.RetentionFailed != nil {
				h.Error(s.RetentionFailed)
			}
		}
		// Each makes one a second by itself. The wrong clock gave one away.
		if n, most := passes(), int64(time.Since(start)/(900*time.Millisecond))+3; n > most {
			h.Errorf("%d passes in %v, want %d at most", n, time.Since(start), most)
		}
	})
}

// await polls, because a database tells nobody what changes.
func (h *home) await(what string, done func() bool) {
	h.Helper()
	ctx := h.within()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !done() {
		select {
		case <-again.C:
		case <-ctx.Done():
			h.Fatal(fmt.Sprint("too late: ", what))
		}
	}
}
