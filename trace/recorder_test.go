package trace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
)

func newRecorder(t *testing.T, s trace.Sink, o trace.Options) *trace.Recorder {
	t.Helper()
	r, err := trace.New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tellExecution tells a recorder's observer of a whole execution: three events.
func tellExecution(o job.Observer, name string, n int) {
	e := job.Event{Time: time.Now(), JobName: name, InstanceID: "10.0.0.1@-@1"}
	e.Execution = job.Execution{TaskID: fmt.Sprintf("task-%d", n), Item: n % 10, ScheduledTime: e.Time, Source: job.SourceNormal, Token: int64(n)}
	o(as(e, jobtype.EventClaimed))
	started, finished := as(e, jobtype.EventStarted), as(e, jobtype.EventFinished)
	started.Waited = time.Millisecond
	finished.Outcome, finished.Attempt, finished.Took, finished.Output = job.OutcomeOK, 1, time.Second, []byte("through")
	o(started)
	o(finished)
}

// as returns an event as one of another kind.
func as(e job.Event, kind jobtype.EventKind) job.Event {
	e.Kind = kind
	return e
}

func TestEventsReachTheSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPlanned()
		r := newRecorder(t, s, trace.Options{})
		synctest.Wait() // it has nothing to do
		begin := time.Now()
		tellExecution(r.Observer(), "settle", 1)
		pass(999 * time.Millisecond)
		if n := len(s.events()); n > 0 {
			t.Errorf("%d events were written before the interval was over", n)
		}
		pass(time.Millisecond)
		x := job.Execution{TaskID: "task-1", Item: 1, ScheduledTime: begin, Source: job.SourceNormal, Token: 1}
		got := s.events()
		want := []trace.Event{
			{Kind: jobtype.EventClaimed, Execution: x},
			{Kind: jobtype.EventStarted, Execution: x, Waited: time.Millisecond},
			{Kind: jobtype.EventFinished, Execution: x, Outcome: job.OutcomeOK, Attempt: 1, Took: time.Second, Output: []byte("through")},
		}
		if len(got) != len(want) {
			t.Fatalf("got %d events", len(got))
		}
		for i, w := range want {
			w.ID, w.Time, w.Job, w.Instance = got[i].ID, begin, "settle", "10.0.0.1@-@1"
			if g := fmt.Sprintf("%+v", got[i]); g != fmt.Sprintf("%+v", w) {
				t.Errorf("event %d:\n got %s\nwant %+v", i, g, w)
			}
			if len(w.ID) != 36 || w.ID[14] != '7' || i > 0 && w.ID <= got[i-1].ID {
				t.Errorf("ID %d: %s", i, w.ID)
			}
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Close gives the sink what waits, at once.
func TestCloseFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPlanned(refuses, refuses, refuses, refuses, refuses, refuses)
		r := newRecorder(t, s, trace.Options{Interval: time.Hour, Batch: 2})
		for n := range 10 {
			tellExecution(r.Observer(), "settle", n)
		}
		begin := time.Now()
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("that took %v", took)
		}
		if n := len(s.events()); n != 30 {
			t.Errorf("%d events", n)
		}
		tellExecution(r.Observer(), "settle", 11)
		if left := r.Stats().Left; left.Events != 3 {
			t.Errorf("of those that came later %d were counted", left.Events)
		}
	})
}

// Close returns when its context ends, whatever the sink does, and says what is lost.
func TestCloseIsBounded(t *testing.T) {
	for name, plan := range map[string]answer{"takes long": takesLong, "deaf": isDeaf} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPlanned(plan)
				defer close(s.release)
				r := newRecorder(t, s, trace.Options{WriteTimeout: time.Hour, Batch: 3})
				for n := range 2 {
					tellExecution(r.Observer(), "settle", n)
				}
				begin := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				err := r.Close(ctx)
				if took := time.Since(begin); err == nil || took < 5*time.Second || took > 6*time.Second {
					t.Errorf("after %v: %v", took, err)
				}
				if (plan == isDeaf) != strings.Contains(err.Error(), "has not returned") || !strings.Contains(err.Error(), "6 events and 0 lines were dropped") {
					t.Error(err)
				}
				if stats := r.Stats(); stats.Left.Events != 6 || stats.Queued.Events != 0 || stats.Bytes != 0 {
					t.Errorf("%+v", stats)
				}
			})
		})
	}
}

// However the sink fails, everything comes once it works, in order, and the log says so.
func TestSinkThatFails(t *testing.T) {
	for name, plan := range map[string]answer{"refuses": refuses, "keeps and fails": keepsAndFails, "panics": panics, "exits": exits, "takes long": takesLong} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out lockedBuffer
				s := newPlanned(plan, plan, plan)
				r := newRecorder(t, s, trace.Options{Slog: slog.New(slog.NewTextHandler(&out, nil))})
				tellExecution(r.Observer(), "settle", 1)
				pass(1100*time.Millisecond + 30*time.Second)
				if stats := r.Stats(); plan != takesLong && (!stats.FailingSince.IsZero() || stats.LastError == nil || stats.Written.Events != 3) || plan == takesLong && stats.FailingSince.IsZero() {
					t.Errorf("%+v", stats)
				}
				if err := r.Close(t.Context()); err != nil {
					t.Error(err)
				}
				if n := len(s.events()); n != 3 {
					t.Errorf("%d events", n)
				}
				if log := out.String(); strings.Count(log, "the sink fails") != 1 || strings.Count(log, "works again") != 1 || (plan == panics) != strings.Contains(log, "sink_test.go") {
					t.Error(log)
				}
			})
		})
	}
}

// A sink that does not return is called by nobody else, and the stats say so.
func TestSinkThatIsDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPlanned(isDeaf)
		r := newRecorder(t, s, trace.Options{})
		tellExecution(r.Observer(), "settle", 1)
		pass(time.Minute)
		if stats := r.Stats(); stats.FailingSince.IsZero() || !strings.Contains(fmt.Sprint(stats.LastError), "has not returned after 30s") {
			t.Errorf("%+v", stats)
		}
		close(s.release)
		synctest.Wait()
		if stats := r.Stats(); !stats.FailingSince.IsZero() || stats.Written.Events != 3 || s.called() != 1 {
			t.Errorf("%+v, %d calls", stats, s.called())
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// When the queue is full the oldest events go; an event in the stream and the log say so.
func TestQueueThatIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		s := newPlanned(takesLong)
		r := newRecorder(t, s, trace.Options{MaxEvents: 300, Batch: 30, Slog: slog.New(slog.NewTextHandler(&out, nil))})
		for n := range 1000 { // 3,000 events
			tellExecution(r.Observer(), "settle", n)
			pass(10 * time.Millisecond)
		}
		pass(time.Minute)
		stats := r.Stats()
		if stats.Overflowed.Events < 2600 || stats.Told != (trace.Count{Events: 3001}) || stats.Queued != (trace.Count{}) || stats.Bytes != 0 {
			t.Errorf("%+v", stats)
		}
		events, missed := s.events(), 0
		for i, e := range events {
			if e.Kind == jobtype.EventMissed {
				missed += e.Ticks
				if i != 30 {
					t.Errorf("event %d tells of the gap, which is after 30", i)
				}
			}
		}
		if missed != stats.Overflowed.Events || len(events) != stats.Written.Events {
			t.Errorf("%d missed, %d kept: %+v", missed, len(events), stats)
		}
		if last := events[len(events)-1].Execution.TaskID; last != "task-999" {
			t.Errorf("the last one is %s", last)
		}
		if log := out.String(); strings.Count(log, "the queue is full") != 1 || strings.Count(log, fmt.Sprintf("nothing is dropped any more\" events=%d", missed)) != 1 {
			t.Error(log)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A sink that is away is asked less and less often, up to twice a minute or so.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPlanned(slices.Repeat([]answer{refuses}, 1000)...)
		r := newRecorder(t, s, trace.Options{})
		tellExecution(r.Observer(), "settle", 1)
		pass(10 * time.Second)
		first := s.called()
		pass(time.Hour)
		if later := s.called() - first; first < 4 || first > 7 || later < 120 || later > 240 {
			t.Errorf("%d calls in 10 s, %d in an hour", first, later)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Close(ctx); !errors.Is(err, errRefused) {
			t.Errorf("it was closed with %v", err)
		}
	})
}

// A batch is bounded in bytes, too, and so is the queue.
func TestBatchesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPlanned(takesLong)
		r := newRecorder(t, s, trace.Options{MaxBytes: 400_000})
		for range 400 {
			r.Observer()(job.Event{Kind: jobtype.EventLeft, Err: errors.New(strings.Repeat("x", trace.MaxText))})
			if bytes := r.Stats().Bytes; bytes > 400_000 {
				t.Fatalf("%d bytes wait", bytes)
			}
		}
		pass(time.Minute)
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		for _, b := range s.batches {
			bytes := 0
			for _, e := range b.Events {
				bytes += len(e.Error)
			}
			if bytes > 55_000 {
				t.Errorf("a batch has %d events, %d bytes of text", len(b.Events), bytes)
			}
		}
		if stats := r.Stats(); stats.Overflowed.Events < 200 || len(s.batches) < 8 {
			t.Errorf("%d batches, %+v", len(s.batches), stats)
		}
	})
}

// Whatever the sink does, events of an execution come in order, none twice, and each is
// counted once.
func TestWhateverTheSinkDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) answer { return answer(rapid.IntRange(0, manyAnswers-1).Draw(rt, "answer")) }), 0, 12).Draw(rt, "plan")
		o := trace.Options{
			MaxEvents: rapid.SampledFrom([]int{8, 100, 1000}).Draw(rt, "events"), MaxBytes: rapid.SampledFrom([]int{20_000, 1 << 20}).Draw(rt, "bytes"),
			Batch: rapid.SampledFrom([]int{1, 7, 500}).Draw(rt, "batch"), WriteTimeout: time.Second,
		}
		steps := rapid.SliceOfN(rapid.IntRange(0, 3000), 1, 12).Draw(rt, "pauses") // ms between executions
		drain := rapid.SampledFrom([]time.Duration{0, 700 * time.Millisecond, time.Hour}).Draw(rt, "drain")
		synctest.Test(t, func(t *testing.T) {
			s := newPlanned(plan...)
			r, err := trace.New(s, o)
			if err != nil {
				rt.Fatal(err)
			}
			observer := r.Observer()
			check := func(what string) trace.Stats {
				stats := r.Stats()
				if stats.Told != total(stats) || stats.Bytes > o.MaxBytes || stats.Queued.Events+stats.Queued.Lines > o.MaxEvents+1 { // one tells of those that are missing
					rt.Errorf("%s: %+v", what, stats)
				}
				return stats
			}
			var tellers sync.WaitGroup
			for teller := range 2 {
				tellers.Go(func() {
					for i, pause := range steps {
						for n := range 5 {
							task := i*10 + n*2 + teller
							log := runLogger(r, job.Execution{TaskID: fmt.Sprint(task)})
							log.Info("begins")
							log.Info("ends")
							tellExecution(observer, "settle", task)
							check("while it works")
						}
						time.Sleep(time.Duration(pause) * time.Millisecond)
					}
				})
			}
			if drain == time.Hour { // those that are deaf come to an end
				time.AfterFunc(time.Minute, func() { close(s.release) })
			}
			tellers.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), drain)
			defer cancel()
			err = r.Close(ctx)
			stats := check("at the end")
			if stats.Queued != (trace.Count{}) || stats.Bytes != 0 {
				rt.Errorf("at the end: %+v", stats)
			}
			if isLost := stats.Left != (trace.Count{}); isLost && err == nil || err != nil && drain == time.Hour {
				rt.Errorf("it was closed with %v: %+v", err, stats)
			}
			if drain != time.Hour {
				close(s.release)
			}
			synctest.Wait()
			if s.most > 1 {
				rt.Errorf("%d calls at a time", s.most)
			}
			events := s.events()
			// What a sink keeps although it says that it does not may be counted as lost.
			if len(events) < stats.Written.Events || drain == time.Hour && len(events) != stats.Written.Events {
				rt.Errorf("%d were kept: %+v", len(events), stats)
			}
			checkOrder(rt, events)
			last := map[string]int{}
			for _, l := range s.lines() {
				if l.Number <= last[l.TaskID] {
					rt.Errorf("line %d of %s comes after %d", l.Number, l.TaskID, last[l.TaskID])
				}
				last[l.TaskID] = l.Number
			}
		})
	})
}

func total(s trace.Stats) trace.Count {
	var sum trace.Count
	for _, c := range []trace.Count{s.Written, s.Queued, s.Overflowed, s.Left} {
		sum.Events += c.Events
		sum.Lines += c.Lines
	}
	return sum
}

func checkOrder(t interface{ Errorf(string, ...any) }, events []trace.Event) {
	last := map[string]jobtype.EventKind{}
	for i, e := range events {
		if i > 0 && e.ID <= events[i-1].ID {
			t.Errorf("event %d has the ID %s after %s", i, e.ID, events[i-1].ID)
		}
		if e.Kind == jobtype.EventMissed {
			continue
		}
		if task := e.Execution.TaskID; e.Kind <= last[task] {
			t.Errorf("%s is %v after %v", task, e.Kind, last[task])
		}
		last[e.Execution.TaskID] = e.Kind
	}
}

// A recorder that is closed before its jobs says so, once.
func TestClosedBeforeTheJobs(t *testing.T) {
	var out lockedBuffer
	r := newRecorder(t, newPlanned(), trace.Options{Slog: slog.New(slog.NewTextHandler(&out, nil))})
	if err := r.Close(t.Context()); err != nil || out.String() != "" {
		t.Errorf("it was closed with %v: %s", err, &out)
	}
	for n := range 10 {
		tellExecution(r.Observer(), "settle", n)
	}
	if n := strings.Count(out.String(), "\n"); n != 1 || !strings.Contains(out.String(), `closed before a job had ended; what happens now is dropped" job=settle event=claimed`) {
		t.Errorf("%d lines: %s", n, &out)
	}
}

// silent is a logger that does not return, or panics.
type silent struct {
	slog.Handler
	release chan struct{} // nil: it panics
}

func (s silent) Enabled(context.Context, slog.Level) bool { return true }

func (s silent) Handle(context.Context, slog.Record) error {
	if s.release == nil {
		panic("a logger")
	}
	<-s.release
	return nil
}

// A logger that panics harms nothing. One that does not return holds Close up for two seconds.
func TestLoggerThatIsBroken(t *testing.T) {
	for name, hangs := range map[string]bool{"panics": false, "hangs": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var release chan struct{}
				if hangs {
					release = make(chan struct{})
					defer close(release)
				}
				s := newPlanned(refuses)
				r := newRecorder(t, s, trace.Options{Slog: slog.New(silent{slog.DiscardHandler, release})})
				tellExecution(r.Observer(), "settle", 1)
				pass(time.Minute)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				begin := time.Now()
				err := r.Close(ctx)
				if hangs != (err != nil) || hangs != (len(s.events()) == 0) {
					t.Errorf("it was closed with %v, %d events", err, len(s.events()))
				}
				if took := time.Since(begin); took > 3*time.Second {
					t.Errorf("that took %v", took)
				}
			})
		})
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	for want, o := range map[string]trace.Options{
		"trace: MaxEvents -1: must not be negative":        {MaxEvents: -1},
		"trace: Batch 10001: at most 10000 is allowed":     {Batch: 10_001},
		"trace: Interval -1ns: must not be negative":       {Interval: -1},
		"trace: WriteTimeout -1ns: must not be negative":   {WriteTimeout: -1},
		"trace: MaxOutput 65537: at most 65536 is allowed": {MaxOutput: job.MaxOutput + 1},
		"trace: Lines.PerSecond -1: must not be negative":  {Lines: trace.Lines{PerSecond: -1}},
		"trace: Lines.MaxBytes -1: must not be negative":   {Lines: trace.Lines{MaxBytes: -1}},
		"trace: Lines.Max -9: must not be negative":        {Lines: trace.Lines{Max: -9}},
		"trace: MaxBytes -1: must not be negative":         {MaxBytes: -1},
	} {
		if _, err := trace.New(newPlanned(), o); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := trace.New(nil, trace.Options{}); err == nil {
		t.Error("no sink is allowed")
	}
}

// Texts are bounded, and those of errors that panic have a text, too.
func TestTextsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPlanned()
		r := newRecorder(t, s, trace.Options{MaxOutput: 3})
		for _, err := range []error{errors.New(strings.Repeat("€", 3000)), errors.New("a\xffb"), badError{}, &job.PanicError{Value: "no", Stack: []byte("main.go:1")}} {
			r.Observer()(job.Event{Kind: jobtype.EventFinished, Err: err, Output: []byte("12345")})
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		events := s.events()
		if text := events[0].Error; len(text) > trace.MaxText || len(text) < trace.MaxText-6 || !strings.HasSuffix(text, "€…") {
			t.Errorf("%d bytes: %s", len(text), text[len(text)-10:])
		}
		for i, want := range []string{"a?b", "its error has no text: the method Error panics", "job: panic: no\nmain.go:1"} {
			if got := events[i+1].Error; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		if got := string(events[0].Output); got != "345" {
			t.Errorf("output %q", got)
		}
	})
}

type badError struct{}

func (badError) Error() string { panic("no text") }

// lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// An event without a time does not spoil the IDs of later ones.
func TestIDsAfterAnEventWithoutTime(t *testing.T) {
	s := newPlanned()
	r := newRecorder(t, s, trace.Options{})
	r.Observer()(job.Event{Kind: jobtype.EventJoined, JobName: "settle"})
	r.Observer()(job.Event{Kind: jobtype.EventJoined, JobName: "settle", Time: time.UnixMilli(0x0123456789ab)})
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if id := s.events()[1].ID; !strings.HasPrefix(id, "01234567-89ab-7") {
		t.Errorf("ID %s", id)
	}
}
