package ops_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A plan says what an update changes, and changes nothing.
func TestPlan(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg := open(t, d)
		all := ops.New(reg)
		running := make(chan struct{})
		s := runs(t, d, settle(), "10.0.0.1", func(ctx context.Context, sc job.ShardingContext) error {
			close(running)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		owns(t, s, 3)
		steer := all.Job("settle")
		if _, err := steer.Trigger(ctx, job.TriggerRequest{Items: []int{2}}); err != nil {
			t.Fatal(err)
		}
		<-running
		if _, err := reg.Commit(ctx, coord.CreateEphemeral("settle/instances/10.0.0.3@-@1", nil)); err != nil { // a JVM member
			t.Fatal(err)
		}
		there, err := steer.Settings(ctx)
		if err != nil {
			t.Fatal(err)
		}
		same, err := steer.Plan(ctx, ops.PlanRequest{Config: there.Config})
		if err != nil || !same.Empty() || len(same.Changes) > 0 || same.Version != there.Version || len(same.TicksBefore) != 5 || !slices.Equal(same.TicksBefore, same.TicksAfter) || len(same.Warnings) > 0 {
			t.Errorf("no change: %+v, %v", same, err)
		}

		next := there.Config
		next.ShardingTotalCount, next.Cron, next.TimeZone, next.Jitter, next.Label = 1, "0 0 12 * * ?", "Asia/Shanghai", time.Second, "gpu"
		next.Strategy, next.ErrorHandler, next.Overwrite, next.Props = "MINE", "LOG,DINGTALK", true, map[string]string{"a": "b"}
		p, err := steer.Plan(ctx, ops.PlanRequest{Config: next, Version: there.Version, Ticks: 2})
		if err != nil {
			t.Fatal(err)
		}
		var fields []string
		for _, c := range p.Changes {
			fields = append(fields, c.Field)
		}
		if want := []string{"cron", "jobErrorHandlerType", "label", "overwrite", "jobShardingStrategyType", "timeZone", "shardingTotalCount", "props: schedule.jitter.milliseconds", "props: a"}; !slices.Equal(fields, want) {
			t.Errorf("fields %q, want %q", fields, want)
		}
		if c := p.Changes[len(p.Changes)-1]; c.Before != "" || c.After != "b" || c.GoOnly {
			t.Errorf("a property: %+v", c)
		}
		if p.Empty() || p.New || p.Before != string(there.Document) || !strings.Contains(p.After, "shardingTotalCount: 1\n") {
			t.Errorf("%+v", p)
		}
		if len(p.TicksAfter) != 2 || p.TicksAfter[1].Sub(p.TicksAfter[0]) != 24*time.Hour || p.TicksAfter[0].UTC().Hour() != 4 || len(p.TicksBefore) != 2 {
			t.Errorf("ticks %v, and %v", p.TicksBefore, p.TicksAfter)
		}
		warns(t, p, "overwrite is on", `items 1 to 2 go`, `2 on 10.0.0.1@-@`, `JVM members are there ("10.0.0.3@-@1"): timeZone: JVM members know only GMT`, "label: JVM members", "jobErrorHandlerType: JVM members", "jobShardingStrategyType: JVM members", `label "gpu"`, `jobShardingStrategyType MINE`, "DINGTALK")

		for what, c := range map[string]struct {
			r    ops.PlanRequest
			want error
		}{
			"another version": {ops.PlanRequest{Config: next, Version: there.Version + 1}, ops.ErrConfigChanged},
			"a one-off job":   {ops.PlanRequest{Config: job.Config{ShardingTotalCount: 1}}, job.ErrKindConflict},
			"no items":        {ops.PlanRequest{Config: job.Config{Cron: rarely}}, job.ErrInvalidConfig},
		} {
			if _, err := steer.Plan(ctx, c.r); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", what, err, c.want)
			}
		}
		for _, r := range []ops.PlanRequest{{Config: next, Ticks: 1001}, {Config: next, Ticks: -1}, {Config: job.Config{Name: "other", Cron: rarely, ShardingTotalCount: 1}}} {
			if _, err := steer.Plan(ctx, r); err == nil {
				t.Errorf("%+v is no bad request", r)
			}
		}
		if after, err := steer.Settings(ctx); err != nil || after.Version != there.Version {
			t.Errorf("a plan has changed the job: %+v, %v", after, err)
		}
		if _, err := steer.Kill(ctx, ops.KillRequest{}); err != nil {
			t.Error(err)
		}
	})
}

func warns(t *testing.T, p *ops.Plan, texts ...string) {
	t.Helper()
	all := strings.Join(p.Warnings, "\n")
	for _, text := range texts {
		if !strings.Contains(all, text) {
			t.Errorf("no warning of %q in\n%s", text, all)
		}
	}
}

// The ticks of a plan are those that come: without what calendars leave out, and up to the job's end.
func TestPlannedTicks(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		all := ops.New(open(t, d))
		steer := all.Job("settle")
		cfg := settle()
		cfg.Cron, cfg.TimeZone, cfg.Calendars = "0 0 3 * * ?", "UTC", []string{"holidays"}
		ticks := func(cfg job.Config, warnings ...string) (before, after []string) {
			t.Helper()
			p, err := steer.Plan(ctx, ops.PlanRequest{Config: cfg, Ticks: 3})
			if err != nil {
				t.Fatal(err)
			}
			if len(warnings) != len(p.Warnings) {
				t.Errorf("warnings %q", p.Warnings)
			}
			warns(t, p, warnings...)
			for list, ticks := range map[*[]string][]time.Time{&before: p.TicksBefore, &after: p.TicksAfter} {
				for _, at := range ticks {
					*list = append(*list, at.UTC().Format(time.DateOnly))
				}
			}
			return before, after
		}
		is := func(got []string, want ...string) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Errorf("ticks %v, want %v", got, want)
			}
		}
		// The bubble begins at midnight of 2000-01-01.
		before, after := ticks(cfg, "no tick begins until its calendars are there")
		is(before)
		is(after)
		if p, err := steer.Plan(ctx, ops.PlanRequest{Config: cfg}); err != nil || !p.New || p.Empty() || p.Version != 0 {
			t.Errorf("a new job: %+v, %v", p, err)
		}
		if _, err := steer.Plan(ctx, ops.PlanRequest{Config: cfg, Version: 7}); !errors.Is(err, ops.ErrNoJob) {
			t.Errorf("a version of no job: %v", err)
		}
		if _, err := all.PutCalendar(ctx, ops.PutCalendarRequest{Name: "holidays", Document: []byte("timeZone: UTC\ndates: [2000-01-02]\n")}); err != nil {
			t.Fatal(err)
		}
		_, after = ticks(cfg)
		is(after, "2000-01-01", "2000-01-03", "2000-01-04")
		cfg.Expiry.Ticks = 3
		_, after = ticks(cfg)
		is(after, "2000-01-01", "2000-01-03", "2000-01-04")
		owns(t, runs(t, d, cfg, "10.0.0.1", nothing), 3)
		pass(30 * time.Hour)
		before, after = ticks(cfg) // one of three is over
		is(before, "2000-01-03", "2000-01-04")
		is(after, "2000-01-03", "2000-01-04")
		cfg.Calendars = nil
		_, after = ticks(cfg) // what is over counts
		is(after, "2000-01-03")
		cfg.Cron = "0 0 4 * * ?"
		_, after = ticks(cfg) // it begins anew
		is(after, "2000-01-03", "2000-01-04", "2000-01-05")
		cfg.Expiry = job.Expiry{At: time.Date(2000, 1, 4, 0, 0, 0, 0, time.UTC)}
		_, after = ticks(cfg)
		is(after, "2000-01-03")
		cfg.Expiry, cfg.Cron = job.Expiry{}, "0 0 3 1 1 ? 1999"
		_, after = ticks(cfg, "no tick is to come")
		is(after)
		if _, err := steer.Pause(ctx, ops.PauseRequest{}); err != nil {
			t.Fatal(err)
		}
		ticks(cfg, "no tick is to come", "paused")
	})
}

// A configuration that cannot be read may be replaced, and lists do not stop at it.
func TestUnreadableSettings(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg := open(t, d)
		all := ops.New(reg)
		for _, name := range []string{"a", "b", "c"} {
			cfg := settle()
			cfg.Name = name
			if err := all.Create(ctx, ops.CreateRequest{Config: cfg, Implementation: "of " + name}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := reg.Commit(ctx, coord.Put("b/config", []byte("shardingTotalCount: none")), coord.Put("junk/servers/1", nil)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for s, err := range all.AllSettings(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, s.Job)
			if s.Implementation != "of "+s.Job || len(s.Document) == 0 || s.Version == 0 || errors.Is(s.Err, job.ErrInvalidConfig) != (s.Job == "b") {
				t.Errorf("%+v", s)
			}
		}
		if !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("jobs %v", got)
		}
		for s, err := range all.AllSettings(ctx) {
			if s.Job == "a" || err != nil {
				break
			}
		}
		s, err := all.Job("b").Settings(ctx)
		if !errors.Is(err, job.ErrInvalidConfig) || string(s.Document) != "shardingTotalCount: none" {
			t.Errorf("%+v, %v", s, err)
		}
		next := settle()
		next.Name = "b"
		p, err := all.Job("b").Plan(ctx, ops.PlanRequest{Config: next})
		if err != nil || p.Empty() || len(p.Changes) > 0 || len(p.TicksAfter) != 5 {
			t.Errorf("%+v, %v", p, err)
		}
		warns(t, p, "cannot be read")
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		for _, err := range all.AllSettings(canceled) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
	})
}

// Keys of the document that only JVM programs know survive an update.
func TestUpdateKeepsUnknownKeys(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg := open(t, d)
		steer := ops.New(reg).Job("settle")
		document := "jobName: settle\ncron: " + rarely + "\nshardingTotalCount: 3\njobExtraConfigurations:\n- !!com.example.Extra {level: 3}\nshadow: true\n"
		if _, err := reg.Commit(ctx, coord.Put("settle/config", []byte(document))); err != nil {
			t.Fatal(err)
		}
		there, err := steer.Settings(ctx)
		if err != nil {
			t.Fatal(err)
		}
		there.Config.ShardingTotalCount = 4
		if err := steer.Update(ctx, ops.UpdateRequest{Config: there.Config, Version: there.Version}); err != nil {
			t.Fatal(err)
		}
		after, err := steer.Settings(ctx)
		for _, kept := range []string{"shadow: true", "com.example.Extra", "level: 3", "shardingTotalCount: 4"} {
			if err != nil || !strings.Contains(string(after.Document), kept) {
				t.Errorf("no %s in %s, %v", kept, after.Document, err)
			}
		}
	})
}

// An update of a job that is gone is an error, also if it goes between the read and the commit.
func TestUpdateOfAJobThatIsGone(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		others := ops.New(open(t, d))
		if err := others.Create(ctx, ops.CreateRequest{Config: settle()}); err != nil {
			t.Fatal(err)
		}
		there, err := others.Job("settle").Settings(ctx)
		if err != nil {
			t.Fatal(err)
		}
		there.Config.ShardingTotalCount++
		reg := &wired{Registry: open(t, d), answer: func(commit func() (int64, error)) (int64, error) {
			if err := others.Job("settle").Remove(ctx, ops.RemoveRequest{}); err != nil && !errors.Is(err, ops.ErrNoJob) {
				t.Error(err)
			}
			return commit()
		}}
		for range 2 {
			if err := ops.New(reg).Job("settle").Update(ctx, ops.UpdateRequest{Config: there.Config, Version: there.Version}); !errors.Is(err, ops.ErrNoJob) {
				t.Errorf("got %v", err)
			}
		}
	})
}
