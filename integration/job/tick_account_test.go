package job_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// account counts what has become of the ticks of each item.
type tickAccount struct {
	mu                     sync.Mutex
	begun, madeUp, skipped map[int]int
	late                   []string // runs that are called normal, and began after the tolerance
}

func newTickAccount() *tickAccount {
	return &tickAccount{begun: map[int]int{}, madeUp: map[int]int{}, skipped: map[int]int{}}
}

func (a *tickAccount) option(tolerance time.Duration) job.Option {
	return job.WithObserver(func(e job.Event) {
		switch e.Kind {
		case jobtype.EventStarted:
			a.mu.Lock()
			defer a.mu.Unlock()
			if e.Source != job.SourceNormal {
				return
			}
			a.begun[e.Item]++
			if late := e.Late - e.Waited; late > tolerance {
				a.late = append(a.late, fmt.Sprintf("item %d, tick %s: %v late", e.Item, e.ScheduledTime.Format(time.TimeOnly), late))
			}
		case jobtype.EventMadeUp:
			a.mu.Lock()
			defer a.mu.Unlock()
			a.madeUp[e.Item] += e.Count
		case jobtype.EventSkipped:
			a.mu.Lock()
			defer a.mu.Unlock()
			a.skipped[e.Item] += e.Count
		}
	})
}

// outage is something that keeps ticks from running, for some time from some moment on.
type outage struct {
	kind     int
	on       int // which instance
	after, d time.Duration
}

// Every tick is run, made up for, or said to be skipped, whatever happens; and a run that is called normal is
// on time.
func TestTicksAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := job.Config{
			Name: "settle", TimeZone: "UTC", ShardingTotalCount: 2,
			Cron:             rapid.SampledFrom([]string{"* * * * * ?", "0/7 * * * * ?", "0 * * * * ?"}).Draw(rt, "cron"),
			Misfire:          rapid.SampledFrom([]job.Toggle{job.On, job.Off}).Draw(rt, "misfire"),
			MisfireTolerance: rapid.SampledFrom([]time.Duration{time.Second, 2 * time.Minute}).Draw(rt, "tolerance"),
			Failover:         rapid.Bool().Draw(rt, "failover"),
			Overlap:          rapid.SampledFrom([]jobtype.Overlap{job.OverlapWait, job.OverlapSkip}).Draw(rt, "overlap"),
		}
		takes := time.Duration(rapid.IntRange(0, 20).Draw(rt, "item 0 takes")) * 450 * time.Millisecond
		outages := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) outage {
			return outage{
				kind: rapid.SampledFrom([]int{0, 1, 2, 2, 2, 3}).Draw(rt, "kind"), on: rapid.IntRange(0, 1).Draw(rt, "on"),
				after: time.Duration(rapid.OneOf(rapid.IntRange(0, 2_000), rapid.IntRange(0, 20_000)).Draw(rt, "after")) * time.Millisecond,
				d:     time.Duration(rapid.IntRange(1, 30_000).Draw(rt, "for")) * time.Millisecond,
			}
		}), 1, 6).Draw(rt, "outages")
		failure := ""
		synctest.Test(t, func(t *testing.T) { failure = addsUp(t, cfg, takes, outages) })
		if failure != "" {
			rt.Fatal(failure)
		}
	})
}

// settleTime is longer than any outage lasts, and than a session.
const settleTime = time.Minute

// doubtTime is longer than an instance is in doubt of a claim whose answer was lost.
const doubtTime = 5 * time.Second

// addsUp runs a job on two instances, with outages, and says which ticks nobody has accounted for.
func addsUp(t *testing.T, cfg job.Config, takes time.Duration, outages []outage) string {
	c, account := jobtest.NewCluster(t), newTickAccount()
	work := job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		if sc.Item == 0 {
			return elapse(ctx, takes)
		}
		return nil
	})
	start := func(n int) *jobtest.Process {
		in := c.Process(fmt.Sprintf("10.0.0.%d", n+1), account.option(cfg.MisfireTolerance))
		in.Schedule(cfg, work)
		return in
	}
	begun := time.Now()
	end := begun.Add(settleTime)
	for k, o := range outages {
		if k > 0 && outages[k-1].kind == 2 { // what a session has claimed that ends in doubt is not told of
			o.after += outages[k-1].d%(4*time.Second) + doubtTime
			outages[k] = o
		}
		end = end.Add(o.after + 2*o.d + 2*settleTime)
	}
	end = end.Truncate(time.Minute)
	cfg.Expiry.At = end // so that no item runs, or is late, when all is over
	instances := []*jobtest.Process{start(0), start(1)}
	for _, o := range outages {
		c.Advance(o.after)
		switch in := instances[o.on]; o.kind {
		case 0:
			c.StoreAway(o.d)
		case 1:
			in.CutOff(o.d)
		case 2:
			in.LoseAnswers(o.d % (4 * time.Second))
		case 3: // it is there no more for some time
			c.Advance(settleTime) // what was before is over
			if err := in.Shutdown(time.Minute); err != nil {
				return err.Error()
			}
			other := instances[1-o.on]
			if o.d%2 == 0 { // nor is the other
				if err := other.Shutdown(time.Minute); err != nil {
					return err.Error()
				}
				c.Advance(o.d)
				instances[1-o.on] = start(1 - o.on)
			}
			c.Advance(o.d)
			instances[o.on] = start(o.on)
		}
	}
	c.AdvanceTo(end.Add(settleTime))
	return account.explain(c, cfg, begun, end)
}

func (a *tickAccount) explain(c *jobtest.Cluster, cfg job.Config, begun, end time.Time) string {
	ticks, err := jobtest.Ticks(cfg, begun.Add(time.Nanosecond), end.Add(time.Nanosecond))
	if err != nil {
		return err.Error()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for item := range cfg.ShardingTotalCount {
		if got := a.begun[item] + a.madeUp[item] + a.skipped[item]; got != len(ticks) {
			return fmt.Sprintf("item %d: %d begun, %d made up for, %d skipped: of %d ticks\n%v", item, a.begun[item], a.madeUp[item], a.skipped[item], len(ticks), c.Recorder())
		}
	}
	if len(a.late) > 0 {
		return fmt.Sprintf("normal runs after their tolerance: %q\n%v", a.late, c.Recorder())
	}
	return ""
}

// What is told of ticks that were missed before one that is on time, and of one that is late by a clock that jumps.
func TestMissedTicksAreTold(t *testing.T) {
	at := func(hour, minute, second int) time.Time {
		return time.Date(2000, 1, 1, hour, minute, second, 0, time.UTC)
	}
	for _, c := range []struct {
		name      string
		cron      string
		tolerance time.Duration
		misfire   job.Toggle
		do        func(*jobtest.Cluster, *jobtest.Process)
		want      []string
		tick      time.Time
		source    job.Source // of the execution for the tick; 0 if there is none
	}{
		{
			name: "the store was away, and ticks may be late", cron: "0 * * * * ?", tolerance: 2 * time.Minute, misfire: job.On,
			do: func(c *jobtest.Cluster, _ *jobtest.Process) {
				c.StoreAway(10 * time.Minute)
				c.Advance(10*time.Minute + 50*time.Second)
			},
			want: []string{"made up 9, 01:10:00"}, tick: at(1, 10, 0), source: job.SourceNormal,
		},
		{
			name: "… and misfire is off", cron: "0 * * * * ?", tolerance: 2 * time.Minute, misfire: job.Off,
			do: func(c *jobtest.Cluster, _ *jobtest.Process) {
				c.StoreAway(10 * time.Minute)
				c.Advance(10*time.Minute + 50*time.Second)
			},
			want: []string{"skipped 9, 01:09:00: too late"}, tick: at(1, 10, 0), source: job.SourceNormal,
		},
		{
			name: "the host was asleep", cron: "0 1 1 * * ?", tolerance: time.Second, misfire: job.Off,
			do: func(c *jobtest.Cluster, in *jobtest.Process) {
				c.Advance(50 * time.Second)
				in.ClockOff(59 * time.Second)
				c.Advance(time.Minute)
			},
			want: []string{"skipped 1, 01:01:00: too late"}, tick: at(1, 1, 0),
		},
		{
			name: "… and misfire is on", cron: "0 1 1 * * ?", tolerance: time.Second, misfire: job.On,
			do: func(c *jobtest.Cluster, in *jobtest.Process) {
				c.Advance(50 * time.Second)
				in.ClockOff(59 * time.Second)
				c.Advance(time.Minute)
			},
			want: []string{"made up 1, 01:01:00"}, tick: at(1, 1, 0), source: job.SourceMisfire,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := jobtest.NewCluster(t)
				cluster.AdvanceTo(at(1, 0, 0).Add(500 * time.Millisecond))
				var tally tallyOfTicks
				in := cluster.Process("10.0.0.1", tally.option())
				in.Schedule(job.Config{
					Name: "settle", TimeZone: "UTC", ShardingTotalCount: 1, Cron: c.cron, Misfire: c.misfire, MisfireTolerance: c.tolerance,
				}, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
				c.do(cluster, in)
				if !slices.Equal(tally.lines, c.want) {
					t.Errorf("told %q, want %q\n%v", tally.lines, c.want, cluster.Recorder())
				}
				runs := cluster.Executions().Tick(c.tick)
				if c.source != 0 {
					runs = runs.Source(c.source)
				}
				runs.Require(t, min(int(c.source), 1))
			})
		})
	}
}
