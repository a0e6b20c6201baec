package job_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// nightly is a job of the night, with all that a change may change.
func nightly() job.Config {
	return job.Config{Name: "settle", Cron: "0 0 3 * * ?", TimeZone: "UTC", Calendars: []string{"holidays"}, ShardingTotalCount: 1}
}

const (
	holidays      = "timeZone: UTC\ndates: [12-25]\n"
	sameHolidays  = "timeZone: Etc/UTC # as always\ndates:\n- 12-25\n- 12-25..12-25\n"
	otherHolidays = "timeZone: UTC\ndates: [12-24, 12-25]\n"
	todayIsOne    = "timeZone: UTC\ndates: [01-02]\n"
)

// tallyOfTicks notes what becomes of ticks.
type tallyOfTicks struct{ lines []string }

func (n *tallyOfTicks) option() job.Option {
	return job.WithObserver(func(e job.Event) {
		switch e.Kind {
		case jobtype.EventMadeUp:
			n.lines = append(n.lines, fmt.Sprintf("made up %d, %s", e.Count, e.ScheduledTime.Format(time.TimeOnly)))
		case jobtype.EventSkipped:
			n.lines = append(n.lines, fmt.Sprintf("skipped %d, %s: %v", e.Count, e.ScheduledTime.Format(time.TimeOnly), e.Reason))
		}
	})
}

// The night's tick comes while nobody is there, and then the schedule changes: the tick is made up, once, or said
// to be skipped. As without the change.
func TestTickThatIsOwedSurvivesAChangeOfTheSchedule(t *testing.T) {
	const madeUp, changed, late = "made up 1, 03:00:00", "skipped 1, 03:00:00: schedule changed", "skipped 1, 03:00:00: too late"
	for _, c := range []struct {
		name     string
		before   func(*job.Config)
		change   func(*job.Config)
		calendar string
		want     string
	}{
		{name: "no change", want: madeUp},
		{name: "another cron", change: func(c *job.Config) { c.Cron = "0 0 5 * * ?" }, want: madeUp},
		{name: "a cron that means the same", change: func(c *job.Config) { c.Cron = "0 0 3 * * ? *" }, want: madeUp},
		{name: "a zone that means the same", change: func(c *job.Config) { c.TimeZone = "Etc/UTC" }, want: madeUp},
		{name: "another zone", change: func(c *job.Config) { c.TimeZone = "Asia/Tokyo" }, want: madeUp},
		{name: "a further expression", change: func(c *job.Config) { c.MoreCrons = []string{"0 0 0 1 1 ?"} }, want: madeUp},
		{name: "the same expression again", change: func(c *job.Config) { c.MoreCrons = []string{"0 0 3 * * ? *"} }, want: madeUp},
		{name: "an end", change: func(c *job.Config) { c.Expiry.At = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC) }, want: madeUp},
		{name: "a number of ticks", change: func(c *job.Config) { c.Expiry.Ticks = 7 }, want: madeUp},
		{name: "another word in a calendar", calendar: sameHolidays, want: madeUp},
		{name: "another holiday", calendar: otherHolidays, want: madeUp},
		{name: "another holiday, and another cron", calendar: otherHolidays, change: func(c *job.Config) { c.Cron = "0 0 5 * * ?" }, want: madeUp},
		{name: "no calendar", change: func(c *job.Config) { c.Calendars = nil }, want: changed},
		{name: "misfire is off now", change: func(c *job.Config) { c.Misfire = job.Off }, want: late},
		{name: "misfire was off", before: func(c *job.Config) { c.Misfire = job.Off }, change: func(c *job.Config) { c.Misfire = job.On }, want: changed},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := jobtest.NewCluster(t)
				cfg, none := nightly(), job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
				if c.before != nil {
					c.before(&cfg)
				}
				put(t, cluster, holidays)
				cluster.AdvanceTo(time.Date(2000, 1, 1, 2, 59, 0, 0, time.UTC))
				first := cluster.Process("10.0.0.1")
				first.Schedule(cfg, none)
				cluster.Advance(2 * time.Minute) // over one tick
				if err := first.Shutdown(time.Minute); err != nil {
					t.Fatal(err)
				}
				cluster.AdvanceTo(time.Date(2000, 1, 2, 12, 0, 0, 0, time.UTC))
				if c.calendar != "" {
					put(t, cluster, c.calendar)
				}
				if c.change != nil {
					says := "item 0 is late for the tick of 2000-01-02T03:00:00Z: it is skipped"
					if c.want == madeUp {
						says = "item 0 is late for the tick of 2000-01-02T03:00:00Z: it is made up once"
					}
					if warnings := change(t, cluster, c.change); !strings.Contains(strings.Join(warnings, "\n"), says) {
						t.Errorf("the plan warns %q, want %q", warnings, says)
					}
				}
				cluster.Advance(time.Hour)
				var tally tallyOfTicks
				cluster.Process("10.0.0.2", tally.option()).Schedule(cfg, none)
				cluster.Advance(time.Hour)
				if !slices.Equal(tally.lines, []string{c.want}) {
					t.Errorf("told %q, want %q\n%v", tally.lines, c.want, cluster.Recorder())
				}
				made := 0
				if c.want == madeUp {
					made = 1
				}
				cluster.Executions().Source(job.SourceMisfire).Tick(time.Date(2000, 1, 2, 3, 0, 0, 0, time.UTC)).Outcome(job.OutcomeOK).Require(t, made)
				cluster.Executions().Require(t, 1+made)
				cluster.Faults().Lasting().Require(t, 0)
			})
		})
	}
}

// A tick waits for the item to end when the schedule changes: it is made up when the item has ended.
func TestTickThatWaitsSurvivesAChangeOfTheSchedule(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *jobtest.Cluster){
		"another cron":                 func(t *testing.T, c *jobtest.Cluster) { change(t, c, func(c *job.Config) { c.Cron = "0 0 9 * * ?" }) },
		"the calendar has it left out": func(t *testing.T, c *jobtest.Cluster) { put(t, c, todayIsOne) },
		"no calendar":                  func(t *testing.T, c *jobtest.Cluster) { change(t, c, func(c *job.Config) { c.Calendars = nil }) },
		"a pause whose ticks are not made up": func(t *testing.T, c *jobtest.Cluster) {
			steer := c.Ops().Job("settle")
			if _, err := steer.Pause(t.Context(), ops.PauseRequest{}); err != nil {
				t.Fatal(err)
			}
			c.AdvanceTo(time.Date(2000, 1, 2, 0, 31, 0, 0, time.UTC))
			if err := steer.Resume(t.Context(), ops.ResumeRequest{}); err != nil {
				t.Fatal(err)
			}
		},
		"two changes": func(t *testing.T, c *jobtest.Cluster) {
			change(t, c, func(c *job.Config) { c.Cron = "0 0 9 * * ?" })
			c.Advance(time.Second)
			change(t, c, func(c *job.Config) { c.Cron = "0 0 10 * * ?" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := jobtest.NewCluster(t)
				cluster.AdvanceTo(time.Date(2000, 1, 2, 0, 5, 0, 0, time.UTC))
				cfg := nightly()
				cfg.Cron = "0 0/10 * * * ?"
				put(t, cluster, holidays)
				var tally tallyOfTicks
				cluster.Process("10.0.0.1", tally.option()).Schedule(cfg, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
					if sc.Source == job.SourceNormal && sc.ScheduledTime.Minute() == 10 {
						return elapse(ctx, 25*time.Minute)
					}
					return nil
				}))
				cluster.AdvanceTo(time.Date(2000, 1, 2, 0, 28, 0, 0, time.UTC))
				cluster.Faults().Kind(jobtype.FaultStarvation).Lasting().Require(t, 1)
				change(t, cluster)
				cluster.AdvanceTo(time.Date(2000, 1, 2, 0, 34, 0, 0, time.UTC))
				cluster.Faults().Kind(jobtype.FaultStarvation).Lasting().Require(t, 1)
				cluster.AdvanceTo(time.Date(2000, 1, 2, 0, 36, 0, 0, time.UTC))
				want := []string{"made up 1, 00:20:00"}
				if name == "no calendar" {
					want = []string{"made up 2, 00:30:00"} // the same cron has come again
				}
				if !slices.Equal(tally.lines, want) {
					t.Errorf("told %q, want %q\n%v", tally.lines, want, cluster.Recorder())
				}
				cluster.Faults().Lasting().Require(t, 0)
			})
		})
	}
}

func put(t *testing.T, c *jobtest.Cluster, document string) {
	t.Helper()
	if _, err := c.Ops().PutCalendar(t.Context(), ops.PutCalendarRequest{Name: "holidays", Document: []byte(document)}); err != nil {
		t.Fatal(err)
	}
}

// change changes the configuration, and returns of what the plan has warned.
func change(t *testing.T, c *jobtest.Cluster, to func(*job.Config)) []string {
	t.Helper()
	s, err := c.Ops().Job("settle").Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	to(&s.Config)
	plan, err := c.Ops().Job("settle").Plan(t.Context(), ops.PlanRequest{Config: s.Config})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Ops().Job("settle").Update(t.Context(), ops.UpdateRequest{Config: s.Config, Version: s.Version}); err != nil {
		t.Fatal(err)
	}
	return plan.Warnings
}
