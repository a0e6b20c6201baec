package prom_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/prom"
)

// of is a series of the job settle.
func of(metric string, labels ...string) string {
	text := `elasticjob_` + metric + `{job_name="settle"`
	for i := 0; i < len(labels); i += 2 {
		text += fmt.Sprintf(",%s=%q", labels[i], labels[i+1])
	}
	return text + "}"
}

// A program whose cron is not the one in force says so; the one whose cron it is does not.
func TestProgramThatDiffers(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		nothing := func(context.Context, job.ShardingContext) error { return nil }
		a, b := f.process("a", prom.Options{}), f.process("b", prom.Options{})
		a.schedule(every("settle", "0 * * * * ?"), nothing)
		b.schedule(every("settle", "30 * * * * ?"), nothing)
		pass(time.Second)
		a.must(map[string]float64{of("config_differs"): 0})
		b.must(map[string]float64{of("config_differs"): 1})
	})
}

// How executions begin and end is counted by those who run them.
func TestExecutionsAreCounted(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		outcomes := []func(context.Context) error{
			func(context.Context) error { return nil },
			func(context.Context) error { return errors.New("no money") },
			func(context.Context) error { panic("nobody") },
			func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }, // by its time-out
			func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }, // killed
			func(context.Context) error { return nil },
		}
		var runs atomic.Int64
		p := f.process("a", prom.Options{})
		c := every("settle", "0 * * * * ?")
		c.ShardingTotalCount, c.Timeout, c.Retry = 1, 30*time.Second, job.Retry{Attempts: 1, InitialBackoff: time.Second}
		p.schedule(c, func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Attempt == 1 {
				runs.Add(1)
			}
			return outcomes[min(int(runs.Load()), len(outcomes))-1](ctx)
		})
		pass(5*time.Minute + 10*time.Second)
		if _, err := f.ops().Job("settle").Kill(t.Context(), ops.KillRequest{Items: []int{0}}); err != nil {
			t.Error(err)
		}
		pass(time.Minute)
		p.must(map[string]float64{
			of("ticks_due_total"): 6,
			of("executions_started_total", "source", "normal_trigger"): 6,
			of("executions_started_total", "source", "failover"):       0,
			of("executions_finished_total", "outcome", "ok"):           2,
			of("executions_finished_total", "outcome", "failed"):       1,
			of("executions_finished_total", "outcome", "panic"):        1,
			of("executions_finished_total", "outcome", "timeout"):      1,
			of("executions_finished_total", "outcome", "killed"):       1,
			of("executions_finished_total", "outcome", "cut"):          0,
			of("execution_duration_seconds_count"):                     6,
			of("execution_duration_seconds_bucket", "le", "0.5"):       2,
			of("start_lateness_seconds_bucket", "le", "0.05"):          6,
			of("retries_total"):                  2,
			of("last_success_timestamp_seconds"): float64(time.Date(2000, 1, 1, 0, 6, 0, 0, time.UTC).Unix()),
			of("leader_changes_total"):           1,
			of("leader"):                         1,
			of("registered"):                     1,
			of("items_owned"):                    1,
			of("items_running"):                  0,
			of("paused"):                         0,
			of("expired"):                        0,
			of("config_differs"):                 0,
			of("next_tick_timestamp_seconds"):    float64(time.Date(2000, 1, 1, 0, 7, 0, 0, time.UTC).Unix()),
			"elasticjob_jobs{}":                  1,
		})
	})
}

// What is late, missed, skipped or cut short.
func TestTroubleIsCounted(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		a, b := f.process("a", prom.Options{}), f.process("b", prom.Options{})
		c := every("settle", "0 * * * * ?")
		c.Failover, c.Threads = true, 1
		for _, p := range []*process{a, b} {
			p.schedule(c, lasts(20*time.Second))
		}
		pass(70 * time.Second)
		b.die()
		pass(20 * time.Second) // its session ends, and its item runs again
		recovered, lateness := a.value(of("items_recovered_total")), a.value(of("failover_lateness_seconds_sum"))
		if recovered != 1 || lateness < 10 || lateness > 40 {
			t.Errorf("%v items were recovered, %v s late", recovered, lateness)
		}
		pass(60 * time.Second) // two items share the thread
		a.must(map[string]float64{
			of("executions_started_total", "source", "failover"): 1,
			of("failover_lateness_seconds_count"):                1,
			of("executions_started_total", "source", "misfire"):  1,
			of("start_lateness_seconds_bucket", "le", "10"):      2,
			of("start_lateness_seconds_bucket", "le", "30"):      3,
		})
		f.store.Down()
		pass(3 * time.Minute)
		if is, faults := a.value(of("registered")), a.value(of("faults", "kind", "store")); is != 0 || faults != 1 {
			t.Errorf("the store is away; registered is %v, faults are %v", is, faults)
		}
		if next := a.value(of("next_tick_timestamp_seconds")); !math.IsNaN(next) {
			t.Errorf("the store is away; the next tick is %v", next)
		}
		f.store.Up()
		pass(time.Minute)
		if n, ticks := a.value(of("executions_started_total", "source", "misfire")), a.value(of("ticks_made_up_total")); n != 2 || ticks < 4 {
			t.Errorf("%v executions have made up for %v ticks", n, ticks)
		}
		if began := a.value(of("faults_begun_total", "kind", "store")); began != 1 {
			t.Errorf("%v faults began", began)
		}
	})
}

func TestNextTick(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		p := f.process("a", prom.Options{})
		p.schedule(every("settle", "0 * * * * ?"), succeed)
		pass(time.Second)
		if next := p.value(of("next_tick_timestamp_seconds")); next != unix(time.Minute) {
			t.Errorf("it is %v", next)
		}
		j := f.ops().Job("settle")
		if _, err := j.Pause(t.Context(), ops.PauseRequest{}); err != nil {
			t.Error(err)
		}
		pass(time.Second)
		p.must(map[string]float64{of("next_tick_timestamp_seconds"): 0, of("paused"): 1})
		if err := j.Remove(t.Context(), ops.RemoveRequest{}); err != nil {
			t.Error(err)
		}
		pass(time.Second)
		p.must(map[string]float64{of("next_tick_timestamp_seconds"): 0, of("ticks_due_total"): 0})
		for _, series := range []string{of("leader"), of("paused"), of("faults", "kind", "stopped")} {
			if v := p.value(series); !math.IsNaN(v) {
				t.Errorf("the job was removed, and %s is %v", series, v)
			}
		}
	})
}

func unix(since time.Duration) float64 {
	return float64(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(since).Unix())
}

// Series of jobs are bounded, and go an hour after the job.
func TestSeriesOfJobs(t *testing.T) {
	begun := func(name string) string { return fmt.Sprintf("elasticjob_ticks_due_total{job_name=%q}", name) }
	for _, c := range []struct {
		name    string
		options prom.Options
		labels  []string // those that there are, once; "" is the series without one
		shared  float64  // ticks of those that share series
	}{
		{"all", prom.Options{}, []string{"a-1", "a-2", "b-1"}, 0},
		{"some", prom.Options{Include: []string{"a-*"}}, []string{"a-1", "a-2", ""}, 1},
		{"but some", prom.Options{Exclude: []string{"a-*"}}, []string{"b-1", ""}, 2},
		{"two", prom.Options{MaxJobs: 2}, []string{"a-1", "a-2", "~other"}, 1},
		{"none", prom.Options{MaxJobs: -1}, []string{""}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFleet(t, func(t *testing.T, f *fleet) {
				p := f.process("a", c.options)
				var schedulers []*job.Scheduler
				for _, name := range []string{"a-1", "a-2", "b-1"} {
					schedulers = append(schedulers, p.schedule(every(name, "0 30 0 * * ?"), succeed))
					synctest.Wait()
				}
				pass(31 * time.Minute)
				count := func() (n int) {
					for _, s := range p.scrape() {
						if s.metric == "elasticjob_ticks_due_total" {
							n++
						}
					}
					return n
				}
				if n := count(); n != len(c.labels) {
					t.Errorf("%d series, want %d", n, len(c.labels))
				}
				for _, label := range c.labels {
					want, series := 1.0, begun(label)
					if label == "" || label == "~other" {
						want = c.shared
					}
					if label == "" {
						series = "elasticjob_ticks_due_total{}"
					}
					if n := p.value(series); n != want {
						t.Errorf("%s is %v, want %v", series, n, want)
					}
				}
				if next := p.value(`elasticjob_next_tick_timestamp_seconds{job_name="~other"}`); !math.IsNaN(next) {
					t.Errorf("several jobs have one next tick: %v", next)
				}
				beyond := 0.0
				if c.options.MaxJobs > 0 {
					beyond = 1
				}
				p.must(map[string]float64{"elasticjob_jobs_beyond_limit{}": beyond, "elasticjob_jobs{}": 3})

				for _, s := range schedulers {
					if err := s.Shutdown(t.Context()); err != nil {
						t.Error(err)
					}
				}
				pass(59 * time.Minute)
				if n := count(); n != len(c.labels) {
					t.Errorf("%d series are left before the hour is over", n)
				}
				pass(2 * time.Minute)
				p.scrape() // which forgets them
				left := 0
				for _, label := range c.labels {
					if label == "" || label == "~other" {
						left = 1 // it is one, whatever comes and goes
					}
				}
				if n := count(); n != left {
					t.Errorf("%d series are left when the hour is over", n)
				}
				// Others have room now.
				p.schedule(every("a-3", "0 * * * * ?"), succeed)
				pass(time.Minute)
				if n := p.value(begun("a-3")); c.options.MaxJobs == 2 && n != 1 {
					t.Errorf("a later job has the count %v", n)
				}
			})
		})
	}
}

// Jobs come and go while others scrape.
func TestScrapesWhileJobsComeAndGo(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		p := f.process("a", prom.Options{MaxJobs: 10})
		p.schedule(every("stays", "0 0 * * * ?"), succeed)
		o := p.metrics.Observer()
		var telling sync.WaitGroup
		for teller := range 4 {
			telling.Go(func() {
				for n := range 20 {
					e := job.Event{Time: time.Now(), JobName: fmt.Sprintf("job-%d-%d", teller, n)}
					o(as(e, jobtype.EventJoined))
					e.Source, e.Fault.Kind = job.SourceNormal, jobtype.FaultTree
					o(as(e, jobtype.EventStarted))
					o(as(e, jobtype.EventFault))
					o(as(e, jobtype.EventLeft))
					time.Sleep(10 * time.Minute)
				}
			})
		}
		done := make(chan struct{})
		go func() { telling.Wait(); close(done) }()
		most := 0
		for isOver := false; !isOver; {
			select {
			case <-done:
				isOver = true
			case <-time.After(5 * time.Minute):
			}
			labels := map[string]bool{}
			for _, s := range p.scrape() {
				if s.metric == "elasticjob_ticks_due_total" {
					labels[s.labels] = true
				}
			}
			most = max(most, len(labels))
		}
		if most != 11 { // with ~other
			t.Errorf("there were series of %d jobs at a time", most)
		}
		pass(2 * time.Hour)
		p.scrape()
		p.must(map[string]float64{"elasticjob_jobs_beyond_limit{}": 0, `elasticjob_leader{job_name="stays"}`: 1})
	})
}

// If it was missed that the process has left a job, its series go all the same.
func TestMissedEvents(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		p := f.dial("a", prom.Options{})
		o := p.metrics.Observer()
		e := job.Event{JobName: "settle"}
		o(as(e, jobtype.EventJoined))
		pass(2 * time.Hour)
		p.must(map[string]float64{of("ticks_due_total"): 0})
		e.Count = 7
		o(as(e, jobtype.EventMissed))
		p.must(map[string]float64{of("ticks_due_total"): 0, "elasticjob_events_missed_total{}": 7})
		pass(2 * time.Hour)
		p.scrape()
		if v := p.value(of("ticks_due_total")); !math.IsNaN(v) {
			t.Errorf("two hours later it is %v", v)
		}
	})
}

func TestOptions(t *testing.T) {
	for _, o := range []prom.Options{
		{Include: []string{"["}}, {Exclude: []string{"a["}}, {Include: []string{"a"}, Exclude: []string{"b"}}, {MaxJobs: -2},
	} {
		if m, err := prom.New(o); err == nil {
			t.Errorf("%+v is allowed: %v", o, m)
		} else {
			t.Log(err)
		}
	}
}

// as returns an event as one of another kind.
func as(e job.Event, kind jobtype.EventKind) job.Event {
	e.Kind = kind
	return e
}
