package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/migrate"
)

// registryOf is an operator's connection to a cluster's store.
func registryOf(t *testing.T, c *jobtest.Cluster) coord.Registry {
	t.Helper()
	reg, err := c.Store().Dial(t.Context(), memory.Config{Namespace: "jobtest", Name: "mover"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := reg.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return reg
}

// run is an execution as far as the promises about ticks are concerned.
type run struct {
	item   int
	tick   string
	source job.Source
	ok     bool
}

func runs(clusters ...*jobtest.Cluster) []run {
	var list []run
	for _, c := range clusters {
		for _, e := range c.Executions().List() {
			list = append(list, run{e.Item, e.ScheduledTime.UTC().Format("15:04:05"), e.Source, e.Outcome == job.OutcomeOK})
		}
	}
	return list
}

// Across the move no tick is started twice, what was missed is made up once, and what was cut short is
// run again once.
func TestTicksAcrossTheMove(t *testing.T) {
	everyMinute := job.Config{Name: "settle", Cron: "0 * * * * ?", TimeZone: "UTC", ShardingTotalCount: 3, Failover: true}
	takes := job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
		select {
		case <-time.After(20 * time.Second):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	each := func(tick string, source job.Source, ok bool) (list []run) {
		for i := range 3 {
			list = append(list, run{i, tick, source, ok})
		}
		return list
	}
	for name, tc := range map[string]struct {
		end  func(t *testing.T, c *jobtest.Cluster, in []*jobtest.Process) // at 00:02:10, in the middle of a run
		stop bool
		then func(t *testing.T, o *ops.Ops) // at the target, before anybody runs the job there
		want [][]run                        // after 00:01:00, until 00:07:30
	}{
		"all die": {
			end: func(_ *testing.T, _ *jobtest.Cluster, in []*jobtest.Process) { in[0].Die(); in[1].Die() },
			want: [][]run{
				each("00:02:00", job.SourceNormal, false), each("00:02:00", job.SourceFailover, true), each("00:05:00", job.SourceMisfire, true),
				each("00:06:00", job.SourceNormal, true), each("00:07:00", job.SourceNormal, true),
			},
		},
		"all leave": {
			end: func(t *testing.T, _ *jobtest.Cluster, in []*jobtest.Process) {
				for _, i := range in {
					if err := i.Shutdown(time.Minute); err != nil {
						t.Error(err)
					}
				}
			},
			want: [][]run{
				each("00:02:00", job.SourceNormal, true), each("00:05:00", job.SourceMisfire, true),
				each("00:06:00", job.SourceNormal, true), each("00:07:00", job.SourceNormal, true),
			},
		},
		"all are stopped": {
			end:  func(*testing.T, *jobtest.Cluster, []*jobtest.Process) {},
			stop: true,
			want: [][]run{
				each("00:02:00", job.SourceNormal, true), each("00:03:00", job.SourceNormal, true), each("00:04:00", job.SourceNormal, true),
				each("00:05:00", job.SourceNormal, false), each("00:05:00", job.SourceFailover, true), each("00:06:00", job.SourceNormal, true), each("00:07:00", job.SourceNormal, true),
			},
		},
		"it is paused": {
			end: func(t *testing.T, c *jobtest.Cluster, in []*jobtest.Process) {
				if _, err := c.Ops().Job("settle").Pause(t.Context(), ops.PauseRequest{MakeUp: true}); err != nil {
					t.Error(err)
				}
				c.Advance(20 * time.Second)
				in[0].Die()
				in[1].Die()
			},
			then: func(t *testing.T, o *ops.Ops) {
				if err := o.Job("settle").Resume(t.Context(), ops.ResumeRequest{}); err != nil {
					t.Error(err)
				}
			},
			want: [][]run{
				each("00:02:00", job.SourceNormal, true), each("00:05:00", job.SourceMisfire, true),
				each("00:06:00", job.SourceNormal, true), each("00:07:00", job.SourceNormal, true),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				old, next := jobtest.NewCluster(t), jobtest.NewCluster(t)
				in := []*jobtest.Process{old.Process("10.0.0.1"), old.Process("10.0.0.2")}
				for _, i := range in {
					i.Schedule(everyMinute, takes)
				}
				old.Advance(2*time.Minute + 10*time.Second)
				tc.end(t, old, in)
				old.AdvanceTo(time.Date(2000, 1, 1, 0, 5, 5, 0, time.UTC))
				from, to := registryOf(t, old), registryOf(t, next)
				m := between(from, to)
				if tc.stop {
					if _, err := m.Run(t.Context()); !errors.Is(err, migrate.ErrRunning) || !errors.Is(err, migrate.ErrRefused) {
						t.Fatalf("moved although instances run: %v", err)
					}
					m.StopInstances = true
				}
				if result, err := m.Run(t.Context()); err != nil || !slices.Equal(result.Moved, []string{"settle"}) {
					t.Fatal(result, err)
				}
				if tc.then != nil {
					tc.then(t, next.Ops())
				}
				next.Process("10.0.0.1").Schedule(everyMinute, takes)
				next.Process("10.0.0.3").Schedule(everyMinute, takes)
				next.AdvanceTo(time.Date(2000, 1, 1, 0, 7, 30, 0, time.UTC))

				var want []run
				for _, some := range tc.want {
					want = append(want, some...)
				}
				got := slices.DeleteFunc(runs(old, next), func(r run) bool { return r.tick <= "00:01:00" })
				for _, list := range [][]run{want, got} {
					slices.SortFunc(list, func(a, b run) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
				}
				if !slices.Equal(got, want) {
					t.Errorf("got\n%v, want\n%v", got, want)
				}
			})
		})
	}
}

// An instance that is cut off in the middle of a run, and is to be stopped, has until the end of its session. Only
// then its items begin at the target, after the contexts of its handlers have ended.
func TestStopOfAnInstanceThatIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, next := jobtest.NewCluster(t), jobtest.NewCluster(t)
		settle := job.Config{Name: "settle", Cron: "0 * * * * ?", TimeZone: "UTC", ShardingTotalCount: 2, Failover: true}
		ended := make(chan time.Time, settle.ShardingTotalCount)
		in := old.Process("10.0.0.1")
		in.Schedule(settle, job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			<-ctx.Done()
			ended <- time.Now()
			return context.Cause(ctx)
		}))
		old.Advance(65 * time.Second)
		in.Link().BlackHole()
		m := between(registryOf(t, old), registryOf(t, next))
		m.StopInstances = true
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := m.Run(soon); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "has not ended at the source") {
			t.Fatalf("while its session lives: %v", err)
		}
		m.StopInstances = false // it is on its way
		if result, err := m.Run(t.Context()); err != nil || !slices.Equal(result.Moved, []string{"settle"}) {
			t.Fatal(result, err)
		}
		next.Process("10.0.0.2").Schedule(settle, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
		next.Advance(time.Second)
		began := next.Executions().Source(job.SourceFailover).List()
		if len(began) != settle.ShardingTotalCount {
			t.Fatalf("begun are %v", began)
		}
		for _, e := range began {
			if at := <-ended; at.After(e.Began) {
				t.Errorf("item %d began at %v, and a run of the job ended at %v", e.Item, e.Began, at)
			}
		}
	})
}

// A job that is disabled stays so at the target. Ticks that come there meanwhile are not made up when it is enabled.
func TestDisabledAcrossTheMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, next := jobtest.NewCluster(t), jobtest.NewCluster(t)
		settle := job.Config{Name: "settle", Cron: "0 * * * * ?", TimeZone: "UTC", ShardingTotalCount: 3}
		handler := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
		in := old.Process("10.0.0.1")
		in.Schedule(settle, handler)
		old.Advance(90 * time.Second)
		if err := old.Ops().Job("settle").DisableServers(t.Context()); err != nil {
			t.Fatal(err)
		}
		in.Die()
		old.Advance(time.Minute)
		if _, err := between(registryOf(t, old), registryOf(t, next)).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 { // of two at one address, one speaks for both
			next.Process("10.0.0.1").Schedule(settle, handler)
		}
		next.Advance(3 * time.Minute)
		if err := next.Ops().Job("settle").EnableServers(t.Context()); err != nil {
			t.Fatal(err)
		}
		next.AdvanceTo(time.Date(2000, 1, 1, 0, 6, 30, 0, time.UTC))
		got := runs(next)
		slices.SortFunc(got, func(a, b run) int { return a.item - b.item })
		if want := []run{{0, "00:06:00", job.SourceNormal, true}, {1, "00:06:00", job.SourceNormal, true}, {2, "00:06:00", job.SourceNormal, true}}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
