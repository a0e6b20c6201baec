package alert_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// cluster has three processes that tell the same people.
type cluster struct {
	*jobtest.Cluster
	told sink
	job  job.Config
	work job.Handler
	all  []*jobtest.Process
}

// start starts three more processes with the job.
func (c *cluster) start(t *testing.T) {
	t.Helper()
	c.all = nil
	for range 3 {
		p := c.Process("10.0.0."+string(rune('1'+len(c.all))), job.WithErrorHandler("SINK", to(&c.told)))
		p.Schedule(c.job, c.work)
		c.all = append(c.all, p)
	}
}

// titles returns what was told since the last call.
func (c *cluster) titles() (list []string) {
	for _, m := range c.told.take() {
		list = append(list, strings.TrimPrefix(m.Title(), "Job 'settle': "))
	}
	return list
}

func (c *cluster) wantTold(t *testing.T, want ...string) {
	t.Helper()
	if got := c.titles(); !slices.Equal(got, want) {
		t.Errorf("at %s\ngot  %q\nwant %q", time.Now().UTC().Format(time.TimeOnly), got, want)
	}
}

// inCluster calls a test with a cluster whose processes are not started yet.
func inCluster(t *testing.T, cron string, props map[string]string, test func(*testing.T, *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		props["alert.recovery"] = "true"
		test(t, &cluster{
			Cluster: jobtest.NewCluster(t),
			job:     job.Config{Name: "settle", Cron: cron, TimeZone: "UTC", ShardingTotalCount: 3, ErrorHandler: "SINK", Props: props},
			work:    job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }),
		})
	})
}

// All processes end, and others come ten minutes later: the leader of these tells of the ticks that came meanwhile,
// once. An absence of two minutes is told by nobody.
func TestMissedTicksAreToldOnce(t *testing.T) {
	inCluster(t, "0/30 * * * * ?", map[string]string{}, func(t *testing.T, c *cluster) {
		leave := func() {
			for _, p := range c.all {
				if err := p.Shutdown(time.Minute); err != nil {
					t.Error(err)
				}
			}
		}
		c.start(t)
		c.Advance(10 * time.Minute)
		leave()
		c.Advance(2 * time.Minute)
		c.start(t)
		c.Advance(10 * time.Minute)
		for _, p := range c.all {
			p.Die()
		}
		c.wantTold(t)
		c.Advance(10 * time.Minute)
		c.wantTold(t)
		c.start(t)
		c.Advance(time.Minute)
		c.wantTold(t, "ticks came and nothing has started", "it is over: ticks came and nothing has started")
		c.Advance(10 * time.Minute)
		leave()
		c.wantTold(t)
	})
}

// An item hangs until after its next tick: its instance says so, the leader does, and perhaps a neighbour; one
// message tells of it, and one that it is over.
func TestAFaultIsToldOnce(t *testing.T) {
	inCluster(t, "0 * * * * ?", map[string]string{}, func(t *testing.T, c *cluster) {
		release := make(chan struct{})
		c.work = job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item == 1 {
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return nil
		})
		c.start(t)
		c.Advance(2 * time.Minute)
		c.wantTold(t)
		c.Advance(time.Hour)
		c.wantTold(t, "items should have begun and have not")
		close(release)
		c.Advance(time.Hour)
		c.wantTold(t, "it is over: items should have begun and have not")
	})
}

// A job of two o'clock is not done by six, because an item fails and another one goes on. It is told once, and that it
// is over once, also though the leader dies after that, and the next day is as it should be.
func TestALateJobIsToldOnce(t *testing.T) {
	inCluster(t, "0 0 2 * * ?", map[string]string{"alert.by": "06:00"}, func(t *testing.T, c *cluster) {
		c.work = job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item == 1 && sc.ScheduledTime.Day() == 1 {
				time.Sleep(5 * time.Hour)
			}
			return nil
		})
		c.start(t)
		c.Advance(6*time.Hour - time.Second)
		c.wantTold(t)
		c.Advance(31 * time.Second)
		messages := c.told.take()
		if len(messages) != 1 || messages[0].Title() != "Job 'settle': not done by 06:00: item 1" || !messages[0].Execution.ScheduledTime.Equal(time.Date(2000, 1, 1, 2, 0, 0, 0, time.UTC)) {
			t.Errorf("got %+v", messages)
		}
		c.Advance(time.Hour)
		c.wantTold(t, "it is over: not done by 06:00: item 1")
		c.all[0].Die()
		c.Advance(24 * time.Hour)
		c.wantTold(t)
	})
}

// The store is away for all: the process that led tells that it has lost it, and that it is back.
func TestAnOutageIsToldOnce(t *testing.T) {
	inCluster(t, "0 0 2 * * ?", map[string]string{}, func(t *testing.T, c *cluster) {
		c.start(t)
		c.Advance(time.Minute)
		c.StoreAway(time.Hour)
		c.Advance(30 * time.Minute)
		messages := c.told.take()
		if len(messages) != 1 || messages[0].About != alert.AboutFault || messages[0].Fault != "store" {
			t.Errorf("got %+v", messages)
		}
		c.Advance(time.Hour)
		c.wantTold(t, "it is over: fault of the kind store")
	})
}

// What operators want is no trouble, and neither is what is made up for or run by hand. What fails is late.
func TestWhatIsTold(t *testing.T) {
	type doing func(ctx context.Context, j *ops.Job) error
	const late = "not done 30m after its tick: "
	for name, tc := range map[string]struct {
		config  func(c *job.Config)
		fails   bool  // item 1 does at 03:00
		at10min doing // ten minutes past two
		at55min doing // five minutes to five
		want    []string
	}{
		"nothing is wrong": {},
		"the job is paused for two hours": {
			at10min: func(ctx context.Context, j *ops.Job) error { _, err := j.Pause(ctx, ops.PauseRequest{}); return err },
			at55min: func(ctx context.Context, j *ops.Job) error { return j.Resume(ctx, ops.ResumeRequest{}) },
		},
		"all items are disabled": {
			at10min: func(ctx context.Context, j *ops.Job) error { return j.DisableItems(ctx, 0, 1, 2) },
			at55min: func(ctx context.Context, j *ops.Job) error { return j.EnableItems(ctx, 0, 1, 2) },
		},
		"all servers are disabled": {
			at10min: func(ctx context.Context, j *ops.Job) error {
				return j.DisableServers(ctx, "10.0.0.1", "10.0.0.2", "10.0.0.3")
			},
		},
		"an item fails": {fails: true, want: []string{late + "item 1", "it is over: " + late + "item 1"}},
		"an item fails and is run again in time": {
			fails: true,
			at10min: func(ctx context.Context, j *ops.Job) error { // of three
				time.Sleep(time.Hour)
				_, err := j.Retry(ctx, ops.RetryRequest{})
				return err
			},
		},
		"old ticks are run again": {
			at10min: func(ctx context.Context, j *ops.Job) error {
				at := time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)
				_, err := j.Backfill(ctx, ops.BackfillRequest{From: at, To: at})
				return err
			},
		},
		"a broadcast job with room":        {config: func(c *job.Config) { c.Broadcast, c.ShardingTotalCount = true, 5 }},
		"a job without records":            {fails: true, config: func(c *job.Config) { c.MonitorExecution = jobtype.Off; delete(c.Props, "alert.by") }},
		"a job that skips what it misses":  {config: func(c *job.Config) { c.Misfire = jobtype.Off }},
		"a job whose items begin all hour": {config: func(c *job.Config) { c.Jitter = 20 * time.Minute }},
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, "0 0 * * * ?", map[string]string{"alert.by": "30m"}, func(t *testing.T, c *cluster) {
				var failed atomic.Bool
				c.work = job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
					if tc.fails && sc.Item == 1 && sc.ScheduledTime.Hour() == 3 && failed.CompareAndSwap(false, true) {
						return errDisk
					}
					return nil
				})
				if tc.config != nil {
					tc.config(&c.job)
				}
				c.start(t)
				do := func(at time.Duration, what doing) {
					c.AdvanceTo(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(at))
					if what == nil {
						return
					}
					if err := what(t.Context(), c.Ops().Job("settle")); err != nil {
						t.Fatal(err)
					}
				}
				do(2*time.Hour+10*time.Minute, tc.at10min)
				do(4*time.Hour+55*time.Minute, tc.at55min)
				do(8*time.Hour, nil)
				var got []string
				for _, m := range c.told.take() {
					if m.About != alert.AboutFailure {
						got = append(got, strings.TrimPrefix(m.Title(), "Job 'settle': "))
					}
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("\ngot  %q\nwant %q", got, tc.want)
				}
			})
		})
	}
}
