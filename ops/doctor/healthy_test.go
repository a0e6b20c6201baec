package doctor_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// lasts is a handler that takes some time.
func lasts(d time.Duration) job.HandlerFunc {
	return func(ctx context.Context, _ job.ShardingContext) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// A cluster that is well has no finding that is worse than info, whenever it is examined: as it
// starts, while processes join, leave, crash and are replaced, and while operators change it.
func TestHealthyCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := jobtest.NewCluster(t)
		reg, err := c.Store().Dial(t.Context(), memory.Config{Namespace: "jobtest", Name: "doctor"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = reg.Close(context.Background()) }() // the test is over
		e := examiner{t: t, reg: reg}
		defer e.running.Wait()
		jobs := []job.Config{
			{Name: "second", Cron: "* * * * * ?", ShardingTotalCount: 10, Failover: true},
			{Name: "minute", Cron: "0 * * * * ?", TimeZone: "Asia/Shanghai", ShardingTotalCount: 3, Failover: true, Jitter: 5 * time.Second},
			{Name: "night", Cron: "0 0 3 * * ?", ShardingTotalCount: 2},
			{Name: "all", Cron: "0/5 * * * * ?", Broadcast: true},
			{Name: "quiet", Cron: "0/2 * * * * ?", ShardingTotalCount: 4, MonitorExecution: job.Off, Misfire: job.Off},
			{Name: "bounded", Cron: "0/3 * * * * ?", ShardingTotalCount: 4, MaxItems: 4},
		}
		start := func(address string) *jobtest.Process {
			in := c.Process(address)
			for _, cfg := range jobs {
				in.Schedule(cfg, lasts(300*time.Millisecond))
				e.often(0, 1)
			}
			e.often(100*time.Millisecond, 20)
			return in
		}
		must := func(_ any, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			e.often(130*time.Millisecond, 20)
		}
		end := func(in *jobtest.Process) {
			e.often(0, 1)
			e.running.Go(func() { e.often(20*time.Millisecond, 30) })
			if err := in.Shutdown(10 * time.Second); err != nil {
				t.Error(err)
			}
			e.often(200*time.Millisecond, 20)
		}
		first := start("10.0.0.1")
		second := start("10.0.0.2")
		third := start("10.0.0.3")
		e.often(time.Second, 70)

		first.Die()
		e.often(500*time.Millisecond, 40)
		second.LoseSession()
		e.often(500*time.Millisecond, 50)

		// A rolling restart.
		fourth := start("10.0.0.4")
		end(second)
		start("10.0.0.5")
		end(third)
		start("10.0.0.6")
		end(fourth)

		// What operators do.
		steer := c.Ops().Job("second")
		must(nil, steer.Reshard(t.Context()))
		must(nil, steer.DisableServers(t.Context(), "10.0.0.5"))
		must(nil, steer.EnableServers(t.Context(), "10.0.0.5"))
		must(steer.Trigger(t.Context(), job.TriggerRequest{}))
		must(steer.Pause(t.Context(), ops.PauseRequest{}))
		must(nil, steer.Resume(t.Context(), ops.ResumeRequest{}))
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(1100 * time.Millisecond))) // while it runs
		must(steer.Kill(t.Context(), ops.KillRequest{}))
		must(nil, update(t.Context(), steer, func(c *job.Config) { c.ShardingTotalCount, c.Cron = 25, "0/2 * * * * ?" }))
		must(nil, update(t.Context(), steer, func(c *job.Config) { c.ShardingTotalCount, c.Label = 3, "" }))

		// Jobs without a deployment, one of which ends; calendars; a removal.
		all := c.Ops()
		c.Runner("10.0.0.9", map[string]job.Handler{"made": lasts(100 * time.Millisecond)})
		must(all.PutCalendar(t.Context(), ops.PutCalendarRequest{Name: "c", Document: []byte("timeZone: UTC\ndates: [2000-06-01]")}))
		for n := range 5 {
			cfg := job.Config{Name: fmt.Sprintf("made%d", n), Cron: "* * * * * ?", ShardingTotalCount: 2, Calendars: []string{"c"}}
			if n == 0 {
				cfg.Expiry = job.Expiry{Ticks: 3, Remove: true}
			}
			must(nil, all.Create(t.Context(), ops.CreateRequest{Config: cfg, Implementation: "made"}))
		}
		must(all.PutCalendar(t.Context(), ops.PutCalendarRequest{Name: "c", Document: []byte("timeZone: UTC\ndates: [2000-06-02]")}))
		must(nil, all.Job("made1").Remove(t.Context(), ops.RemoveRequest{}))
		e.often(500*time.Millisecond, 20)
		e.running.Wait()
		t.Logf("%d examinations, %d with a second look", e.all, e.twice)
	})
}

// update changes the configuration of a job.
func update(ctx context.Context, j *ops.Job, change func(*job.Config)) error {
	s, err := j.Settings(ctx)
	if err != nil {
		return err
	}
	change(&s.Config)
	return j.Update(ctx, ops.UpdateRequest{Config: s.Config, Version: s.Version})
}

// examiner examines the namespace again and again.
type examiner struct {
	t   *testing.T
	reg coord.Registry

	running    sync.WaitGroup
	mu         sync.Mutex
	all, twice int
}

// often begins an examination so many times, with pauses.
func (e *examiner) often(pause time.Duration, times int) {
	for range times {
		e.running.Go(e.examine)
		time.Sleep(pause)
	}
}

func (e *examiner) examine() {
	report, err := doctor.Examine(context.Background(), e.reg, doctor.Options{})
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.t.Error(err)
	}
	e.all++
	if report.Looks > 1 {
		e.twice++
	}
	for _, found := range report.Findings {
		if found.Severity >= doctor.Warning {
			e.t.Errorf("examined at %v: %v", report.At.Format(time.StampMilli), found)
		}
	}
}
