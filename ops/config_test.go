package ops_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

func nothing(context.Context, job.ShardingContext) error { return nil }

// A job is created, changed, removed, and created again. Programs keep to all that.
func TestLifeOfAJob(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		all := ops.New(open(t, d)).By("anna")
		steer := all.Job("settle")
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		is := func(err, want error) {
			t.Helper()
			if !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		}
		_, err := steer.Settings(ctx)
		is(err, ops.ErrNoJob)
		is(steer.Remove(ctx, ops.RemoveRequest{}), ops.ErrNoJob)
		is(all.Readmit(ctx, "settle", ops.ReadmitRequest{}), ops.ErrNotRemoved)
		if list, err := all.Removed(ctx); err != nil || len(list) > 0 {
			t.Errorf("removed: %+v, %v", list, err)
		}

		must(all.Create(ctx, ops.CreateRequest{Config: settle()}))
		is(all.Create(ctx, ops.CreateRequest{Config: settle()}), ops.ErrJobExists)
		there, err := steer.Settings(ctx)
		must(err)
		if there.Implementation != "settle" || !there.Config.Equal(settle()) {
			t.Errorf("settings %+v", there)
		}
		s := runsUntilRemoved(t, d, settle())
		owns(t, s, 3)

		next := there.Config
		next.ShardingTotalCount, next.Revision = 2, 5
		must(steer.Update(ctx, ops.UpdateRequest{Config: next, Version: there.Version}))
		owns(t, s, 2)
		is(steer.Update(ctx, ops.UpdateRequest{Config: next, Version: there.Version}), ops.ErrConfigChanged)

		must(steer.Remove(ctx, ops.RemoveRequest{Why: "moved"}))
		<-s.Done()
		is(s.Err(), job.ErrJobRemoved)
		is(steer.Remove(ctx, ops.RemoveRequest{}), ops.ErrNoJob)
		list, err := all.Removed(ctx)
		if err != nil || len(list) != 1 || list[0].At.IsZero() {
			t.Fatalf("removed: %+v, %v", list, err)
		}
		list[0].At = list[0].At.Truncate(0)
		if want := (ops.Removed{Name: "settle", By: "anna", Why: "moved", Revision: 5, At: list[0].At}); list[0] != want {
			t.Errorf("removed: %+v", list[0])
		}
		_, err = job.Schedule(ctx, open(t, d), settle(), job.HandlerFunc(nothing))
		is(err, job.ErrJobRemoved)
		must(all.Readmit(ctx, "settle", ops.ReadmitRequest{}))
		is(all.Readmit(ctx, "settle", ops.ReadmitRequest{}), ops.ErrNotRemoved)
		s = runsUntilRemoved(t, d, settle())
		owns(t, s, 3)

		there, err = steer.Settings(ctx)
		must(err)
		must(steer.Remove(ctx, ops.RemoveRequest{}))
		<-s.Done()
		must(all.Create(ctx, ops.CreateRequest{Config: settle(), Implementation: "theirs"}))
		if list, err := all.Removed(ctx); err != nil || len(list) > 0 {
			t.Errorf("removed: %+v, %v", list, err)
		}
		is(steer.Update(ctx, ops.UpdateRequest{Config: there.Config, Version: there.Version}), ops.ErrConfigChanged) // it is another job
		_, err = job.Schedule(ctx, open(t, d), settle(), job.HandlerFunc(nothing))
		is(err, job.ErrImplementationConflict)
	})
}

// A job with many items goes in parts. If that ends halfway, somebody goes on; what is left is
// not taken for a job.
func TestRemovalOfAWideJob(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		cfg := settle()
		cfg.ShardingTotalCount = 5_000
		s := runsUntilRemoved(t, d, cfg)
		owns(t, s, cfg.ShardingTotalCount)
		commits, most := 0, 1<<30
		reg := &wired{Registry: open(t, d)}
		reg.answer = func(commit func() (int64, error)) (int64, error) {
			if commits++; commits > most {
				return 0, coord.ErrUnavailable
			}
			return commit()
		}
		all := ops.New(reg)
		left := func() (paths []string) {
			for n, err := range reg.Walk(ctx, "settle") {
				if err != nil {
					t.Fatal(err)
				}
				paths = append(paths, n.Path)
			}
			return paths
		}
		most = 10
		if err := all.Job("settle").Remove(ctx, ops.RemoveRequest{}); !errors.Is(err, coord.ErrUnavailable) {
			t.Fatalf("got %v", err)
		}
		<-s.Done()
		if paths := left(); len(paths) < 1_000 || slices.Contains(paths, "settle/config") {
			t.Errorf("%d nodes are left", len(paths))
		}
		if _, err := all.Job("settle").Settings(ctx); !errors.Is(err, ops.ErrNoJob) {
			t.Errorf("it is taken for a job: %v", err)
		}
		if _, err := job.Schedule(ctx, open(t, d), cfg, job.HandlerFunc(nothing)); !errors.Is(err, job.ErrJobRemoved) {
			t.Errorf("started: %v", err)
		}
		most = 1 << 30
		if err := all.Job("settle").Remove(ctx, ops.RemoveRequest{}); err != nil || len(left()) > 0 {
			t.Errorf("%v; left are %d nodes after %d commits", err, len(left()), commits)
		}
		if commits > 110 {
			t.Errorf("%d commits", commits)
		}

		// The next one to create it goes on, too, and so does a program with a higher revision.
		for name, again := range map[string]func() (*job.Scheduler, error){
			"create": func() (*job.Scheduler, error) { return nil, all.Create(ctx, ops.CreateRequest{Config: settle()}) },
			"revision": func() (*job.Scheduler, error) {
				higher := settle()
				higher.Revision = 1
				return job.Schedule(ctx, open(t, d), higher, job.HandlerFunc(nothing)) // reg counts for one goroutine
			},
		} {
			if err := all.Readmit(ctx, "settle", ops.ReadmitRequest{}); err != nil {
				t.Fatal(err)
			}
			s := runsUntilRemoved(t, d, cfg)
			owns(t, s, cfg.ShardingTotalCount)
			most = commits + 10
			if err := all.Job("settle").Remove(ctx, ops.RemoveRequest{}); !errors.Is(err, coord.ErrUnavailable) {
				t.Fatalf("%s: got %v", name, err)
			}
			<-s.Done()
			most = 1 << 30
			came, err := again()
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if paths := left(); len(paths) > 50 || !slices.Contains(paths, "settle/config") {
				t.Errorf("%s: %d nodes", name, len(paths))
			}
			if err := all.Job("settle").Remove(ctx, ops.RemoveRequest{}); err != nil {
				t.Fatal(err)
			}
			if came != nil {
				<-came.Done() // else it may be a member of the next job
			}
		}
	})
}

// Who readmits a job whose removal was cut short has the rest of it go first: the next life begins without
// what the last one has left.
func TestReadmitAfterHalfARemoval(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		cfg := settle()
		cfg.ShardingTotalCount = 5_000
		s := runsUntilRemoved(t, d, cfg)
		owns(t, s, cfg.ShardingTotalCount)
		reg, commits := &wired{Registry: open(t, d)}, 0
		reg.answer = func(commit func() (int64, error)) (int64, error) {
			if commits++; commits == 10 {
				return 0, coord.ErrUnavailable
			}
			return commit()
		}
		all := ops.New(reg)
		if err := all.Job("settle").Remove(ctx, ops.RemoveRequest{}); !errors.Is(err, coord.ErrUnavailable) {
			t.Fatalf("got %v", err)
		}
		<-s.Done()
		if err := all.Readmit(ctx, "settle", ops.ReadmitRequest{}); err != nil {
			t.Fatal(err)
		}
		if _, err := reg.List(ctx, "settle"); !errors.Is(err, coord.ErrNoNode) {
			t.Errorf("something is left: %v", err)
		}
	})
}

// runsUntilRemoved starts a process of a job that is removed before the test ends.
func runsUntilRemoved(t *testing.T, d dial, cfg job.Config, opts ...job.Option) *job.Scheduler {
	t.Helper()
	s, err := job.Schedule(t.Context(), open(t, d), cfg, job.HandlerFunc(nothing), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The answers to all commits are lost, whether these were done or not. The job is removed all the same.
func TestRemovalWhoseAnswersAreLost(t *testing.T) {
	for _, arrives := range []bool{true, false} {
		virtual(t, func(t *testing.T, d dial) {
			ctx := t.Context()
			if err := ops.New(open(t, d)).Create(ctx, ops.CreateRequest{Config: settle()}); err != nil {
				t.Fatal(err)
			}
			reg, lost := &wired{Registry: open(t, d)}, false
			reg.answer = func(commit func() (int64, error)) (int64, error) {
				if lost {
					return commit()
				}
				lost = true
				if arrives {
					if _, err := commit(); err != nil {
						t.Error(err)
					}
				}
				return 0, coord.ErrUnknownOutcome
			}
			if err := ops.New(reg).Job("settle").Remove(ctx, ops.RemoveRequest{}); err != nil {
				t.Error(err)
			}
			if _, err := reg.List(ctx, "settle"); !errors.Is(err, coord.ErrNoNode) {
				t.Errorf("the job is there: %v", err)
			}
			if list, err := ops.New(reg).Removed(ctx); err != nil || len(list) != 1 {
				t.Errorf("removed are %+v, %v", list, err)
			}
		})
	}
}

// What makes no sense is refused, and nothing is written.
func TestConfigurationsThatAreRefused(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg := open(t, d)
		all := ops.New(reg)
		if err := all.Create(ctx, ops.CreateRequest{Config: settle()}); err != nil {
			t.Fatal(err)
		}
		if _, err := reg.Commit(ctx, coord.Put("theirs/x", nil)); err != nil {
			t.Fatal(err)
		}
		there, err := all.Job("settle").Settings(ctx)
		if err != nil {
			t.Fatal(err)
		}
		change := func(change func(*job.Config)) ops.UpdateRequest {
			change(&there.Config)
			defer func() { there.Config = settle() }()
			return ops.UpdateRequest{Config: there.Config, Version: there.Version}
		}
		before := dump(t, reg)
		for name, tc := range map[string]struct {
			err  error
			is   error
			says string
		}{
			"create: no name":          {err: all.Create(ctx, ops.CreateRequest{Config: job.Config{ShardingTotalCount: 1}}), says: "jobName"},
			"create: no items":         {err: all.Create(ctx, ops.CreateRequest{Config: job.Config{Name: "x"}}), says: "shardingTotalCount"},
			"create: a long name":      {err: all.Create(ctx, ops.CreateRequest{Config: job.Config{Name: "x", ShardingTotalCount: 1}, Implementation: strings.Repeat("x", 1001)}), says: "implementation"},
			"update: another job":      {err: all.Job("settle").Update(ctx, change(func(c *job.Config) { c.Name = "other" })), says: `job "other"`},
			"update: no schedule":      {err: all.Job("settle").Update(ctx, change(func(c *job.Config) { c.Cron = "" })), is: job.ErrKindConflict},
			"update: no items":         {err: all.Job("settle").Update(ctx, change(func(c *job.Config) { c.ShardingTotalCount = 0 })), says: "shardingTotalCount"},
			"update: no job":           {err: all.Job("none").Update(ctx, change(func(*job.Config) {})), is: ops.ErrNoJob},
			"remove: what no job is":   {err: all.Job("theirs").Remove(ctx, ops.RemoveRequest{}), is: ops.ErrNoJob},
			"remove: what is no job's": {err: all.Job("~elasticjob").Remove(ctx, ops.RemoveRequest{}), is: ops.ErrNoJob},
			"remove: nothing":          {err: all.Job("").Remove(ctx, ops.RemoveRequest{}), is: ops.ErrNoJob},
			"readmit: what cannot be":  {err: all.Readmit(ctx, "a/b", ops.ReadmitRequest{}), is: ops.ErrNotRemoved},
			"settings: what cannot be": {err: second(all.Job("a/b").Settings(ctx)), is: ops.ErrNoJob},
		} {
			if tc.err == nil || tc.is != nil && !errors.Is(tc.err, tc.is) || !strings.Contains(tc.err.Error(), tc.says) {
				t.Errorf("%s: got %v", name, tc.err)
			}
		}
		if after := dump(t, reg); !slices.Equal(before, after) {
			t.Errorf("before %q\nafter %q", before, after)
		}
	})
}

func second(_ ops.Settings, err error) error { return err }

// What a configuration has that this program does not know stays when it is changed; one that
// cannot be read tells so.
func TestUpdateKeepsWhatItDoesNotKnow(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg := open(t, d)
		steer := ops.New(reg).Job("settle")
		if err := ops.New(reg).Create(ctx, ops.CreateRequest{Config: settle()}); err != nil {
			t.Fatal(err)
		}
		there, err := reg.Get(ctx, "settle/config")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reg.Commit(ctx, coord.Put("settle/config", []byte(string(there.Value)+"theirs: 5\n"))); err != nil {
			t.Fatal(err)
		}
		s, err := steer.Settings(ctx)
		if err != nil {
			t.Fatal(err)
		}
		s.Config.Description = "changed"
		if err := steer.Update(ctx, ops.UpdateRequest{Config: s.Config, Version: s.Version}); err != nil {
			t.Fatal(err)
		}
		if there, err = reg.Get(ctx, "settle/config"); err != nil || !strings.Contains(string(there.Value), "theirs: 5") || !strings.Contains(string(there.Value), "changed") {
			t.Errorf("%s, %v", there.Value, err)
		}
		if _, err := reg.Commit(ctx, coord.Put("settle/config", []byte("jobName: settle\nshardingTotalCount: many\n"))); err != nil {
			t.Fatal(err)
		}
		if s, err := steer.Settings(ctx); err == nil || s.Version == 0 || s.Config.Name != "settle" {
			t.Errorf("%+v, %v", s, err)
		}
		for _, broken := range []string{"jobName: settle\nshardingTotalCount: many\n", "jobName: [", ""} {
			if _, err := reg.Commit(ctx, coord.Put("settle/config", []byte(broken))); err != nil {
				t.Fatal(err)
			}
			there, err := steer.Settings(ctx)
			if err == nil {
				t.Errorf("%q is read as %+v", broken, there.Config)
			}
			if err := steer.Update(ctx, ops.UpdateRequest{Config: settle(), Version: there.Version}); err != nil {
				t.Errorf("%q is not replaced: %v", broken, err)
			}
			if there, err = steer.Settings(ctx); err != nil || !there.Config.Equal(settle()) {
				t.Errorf("%q was replaced by %+v, %v", broken, there.Config, err)
			}
		}
	})
}
