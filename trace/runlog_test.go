package trace_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
)

var execution = job.Execution{TaskID: "task-1", Item: 7}

// runLogger returns a logger of an execution, as a scheduler makes it.
func runLogger(r *trace.Recorder, of job.Execution) *slog.Logger {
	return slog.New(r.LogHandler(job.Event{JobName: "settle", InstanceID: "me", Execution: of}))
}

func endRun(r *trace.Recorder, of job.Execution) {
	r.Observer()(job.Event{Kind: jobtype.EventFinished, Time: time.Now(), JobName: "settle", InstanceID: "me", Execution: of, Outcome: job.OutcomeOK})
}

// texts returns the lines as "number level text".
func texts(lines []trace.Line) []string {
	var list []string
	for _, l := range lines {
		list = append(list, fmt.Sprintf("%d %v %s", l.Number, l.Level, l.Text))
	}
	return list
}

type loud struct{ log *slog.Logger }

func (l loud) LogValue() slog.Value {
	l.log.Info("from within")
	return slog.IntValue(3)
}

type broken struct{}

func (broken) String() string               { panic("no") }
func (broken) MarshalText() ([]byte, error) { panic("no") }

func TestLinesOfAHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPlanned()
		r := newRecorder(t, s, trace.Options{})
		log := runLogger(r, execution)
		log.Debug("unseen")
		log.Info("begins")
		log.Info("two\nlines", "n", 1, "text", "a b")
		log.With("a", 1).WithGroup("g").With("b", 2).Warn("grouped", "c", 3)
		log.With("a", 1).WithGroup("empty").Info("no group")
		log.Error("", "level", "high", "msg", "own", "time", "now")
		log.Log(t.Context(), slog.LevelError+2, "odd", slog.Group("g", "x", true))
		log.Info("nested", "v", loud{log})
		log.Info("panics", "v", broken{})
		log.Info(strings.Repeat("x", 5000), "a", 1)
		endRun(r, execution)
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"1 INFO begins",
			"2 INFO two\nlines n=1 text=\"a b\"",
			"3 WARN grouped a=1 g.b=2 g.c=3",
			"4 INFO no group a=1",
			"5 ERROR  level=high msg=own time=now",
			"6 ERROR+2 odd g.x=true",
			"7 INFO from within",
			"8 INFO nested v=3",
			"9 INFO panics v=\"!PANIC: no\"",
			"10 INFO " + strings.Repeat("x", trace.MaxText-3) + "…",
		}
		got := texts(s.lines())
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("line %d:\n got %q\nwant %q", i+1, got[min(i, len(got)):], want[min(i, len(want)):])
			}
		}
		if l := s.lines()[0]; l.Job != "settle" || l.TaskID != "task-1" || l.Item != 7 || l.Instance != "me" || !l.Time.Equal(time.Now()) {
			t.Errorf("%+v", l)
		}
	})
}

// Lines over a bound are left out, and the last line says how many.
func TestLinesAreBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		bounds trace.Lines
		write  func(*slog.Logger)
		kept   int
		left   string
	}{
		"number": {trace.Lines{Max: 3}, func(l *slog.Logger) {
			for range 10 {
				l.Info("x")
			}
		}, 3, "7 lines were left out"},
		"bytes": {trace.Lines{MaxBytes: 100}, func(l *slog.Logger) {
			for range 10 {
				l.Info(strings.Repeat("x", 30))
			}
		}, 3, "7 lines were left out"},
		"rate": {trace.Lines{PerSecond: 5}, func(l *slog.Logger) {
			for range 10 {
				l.Info("x")
			}
			pass(400 * time.Millisecond)
			for range 10 {
				l.Info("x")
			}
			pass(time.Minute)
			for range 10 {
				l.Info("x")
			}
		}, 12, "18 lines were left out"},
		"none": {trace.Lines{}, func(l *slog.Logger) {
			for range 1000 {
				l.Info("x")
			}
		}, 1000, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPlanned()
				r := newRecorder(t, s, trace.Options{Lines: tc.bounds})
				tc.write(runLogger(r, execution))
				endRun(r, execution)
				endRun(r, execution) // once is enough
				if err := r.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				lines := s.lines()
				if tc.left != "" {
					last := lines[len(lines)-1]
					lines = lines[:len(lines)-1]
					if !strings.HasPrefix(last.Text, tc.left) || last.Level != slog.LevelWarn || last.Number != tc.kept+1 {
						t.Errorf("the last line is %+v", last)
					}
				}
				var left int
				fmt.Sscanf(tc.left, "%d", &left)
				if len(lines) != tc.kept || r.Stats().LinesOut != left {
					t.Errorf("%d lines, %+v", len(lines), r.Stats())
				}
			})
		})
	}
}

// If the recorder misses the end of an execution, it forgets it all the same, and says what was
// left out.
func TestEndThatIsMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPlanned()
		r := newRecorder(t, s, trace.Options{Lines: trace.Lines{Max: 1}})
		log := runLogger(r, job.Execution{TaskID: "task-2"})
		log.Info("x")
		log.Info("y")
		r.Observer()(job.Event{Kind: jobtype.EventMissed, JobName: "other", Count: 3})
		pass(2 * time.Second)
		if n := len(s.lines()); n != 1 {
			t.Errorf("%q", texts(s.lines()))
		}
		r.Observer()(job.Event{Kind: jobtype.EventMissed, JobName: "settle", Count: 4})
		log.Info("z") // it goes on after all
		log.Info("z")
		endRun(r, job.Execution{TaskID: "task-2"})
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		lines := texts(s.lines())
		if len(lines) != 3 || !strings.Contains(lines[1], "1 lines were left out") || !strings.Contains(lines[2], "2 lines were left out") {
			t.Errorf("%q", lines)
		}
		if missed := r.Stats().Missed; missed != 7 {
			t.Errorf("%d missed", missed)
		}
	})
}

// Of too many executions that write too much only some are remembered; all lines are counted.
func TestManyThatWriteTooMuch(t *testing.T) {
	s := newPlanned()
	r := newRecorder(t, s, trace.Options{Lines: trace.Lines{Max: 1}})
	for n := range 1010 {
		log := runLogger(r, job.Execution{TaskID: fmt.Sprint(n)})
		log.Info("x")
		log.Info("y")
	}
	r.Observer()(job.Event{Kind: jobtype.EventMissed, JobName: "settle"})
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(s.lines()); n != 1010+1000 || r.Stats().LinesOut != 1010 {
		t.Errorf("%d lines, %+v", n, r.Stats())
	}
}

// What goes on to write after the end of its execution does not keep others from saying what
// was left out.
func TestWritersThatOutliveTheirExecution(t *testing.T) {
	s := newPlanned()
	r := newRecorder(t, s, trace.Options{Lines: trace.Lines{Max: 1}})
	for n := range 1010 {
		x := job.Execution{TaskID: fmt.Sprint(n)}
		log := runLogger(r, x)
		log.Info("x")
		endRun(r, x)
		log.Info("y")
	}
	x := job.Execution{TaskID: "new"}
	log := runLogger(r, x)
	log.Info("x")
	log.Info("y")
	endRun(r, x)
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := s.lines()
	if last := lines[len(lines)-1]; last.TaskID != "new" || last.Number != 2 {
		t.Errorf("%+v", last)
	}
}
