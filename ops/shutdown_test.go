package ops_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// ended waits until a process has stopped, and checks why.
func ended(t *testing.T, s *job.Scheduler, want error) {
	t.Helper()
	select {
	case <-s.Done():
	case <-time.After(patience):
		t.Fatalf("it has not stopped in %v; the status is %+v", patience, s.Status())
	}
	if !errors.Is(s.Err(), want) {
		t.Errorf("stopped with %v, want %v", s.Err(), want)
	}
}

// Instances leave when they are told to, after what runs there has ended, and their servers go when
// they are removed.
func TestShutdown(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg := open(t, d)
		steer := ops.New(reg).Job("settle")
		begun, release := make(chan job.ShardingContext, 3), make(chan struct{})
		var members [3]*job.Scheduler
		for n := range members {
			s, err := job.Schedule(ctx, open(t, d), settle(), job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
				begun <- sc
				<-release
				return ctx.Err()
			}), job.WithIP(fmt.Sprint("10.0.0.", n+1)))
			if err != nil {
				t.Fatal(err)
			}
			members[n] = s
		}
		for _, s := range members {
			owns(t, s, 1)
		}
		first := members[0].Status()
		request, err := steer.Trigger(ctx, job.TriggerRequest{Items: []int{first.Items[0]}})
		if err != nil {
			t.Fatal(err)
		}
		<-begun
		for what, r := range map[string]ops.ShutdownRequest{
			"nobody":      {},
			"no instance": {Instances: []string{first.InstanceID, "x"}},
			"no server":   {Servers: []string{"10.0.0.1", "10.0.0.9"}},
		} {
			if ids, err := steer.Shutdown(ctx, r); err == nil || len(ids) > 0 {
				t.Errorf("%s: %v, %v", what, ids, err)
			}
		}

		ids, err := steer.Shutdown(ctx, ops.ShutdownRequest{Instances: []string{first.InstanceID}, Why: "too old"})
		if err != nil || !slices.Equal(ids, []string{first.InstanceID}) {
			t.Fatalf("%v, %v", ids, err)
		}
		await(t, members[0], "draining", func(s job.Status) bool { return s.Leaving })
		select {
		case <-members[0].Done():
			t.Error("it has not waited for its handler")
		default:
		}
		close(release)
		if results, err := request.Wait(ctx); err != nil || results[0].Outcome != job.OutcomeOK {
			t.Errorf("%+v, %v", results, err)
		}
		ended(t, members[0], job.ErrInstanceRemoved)

		if err := steer.DisableServers(ctx, "10.0.0.2"); err != nil {
			t.Error(err)
		}
		if err := steer.RemoveServers(ctx, "10.0.0.2"); err != nil {
			t.Error(err)
		}
		ended(t, members[1], job.ErrInstanceRemoved)
		if _, err := reg.Get(ctx, "settle/servers/10.0.0.2"); !errors.Is(err, coord.ErrNoNode) {
			t.Errorf("the server's node: %v", err)
		}
		if err := steer.RemoveServers(ctx, "10.0.0.2"); !errors.Is(err, ops.ErrNoServer) {
			t.Errorf("removed twice: %v", err)
		}
		owns(t, members[2], 3)
		if ids, err := steer.Shutdown(ctx, ops.ShutdownRequest{All: true}); err != nil || len(ids) != 1 {
			t.Errorf("%v, %v", ids, err)
		}
		ended(t, members[2], job.ErrInstanceRemoved)
		if ids, err := steer.Shutdown(ctx, ops.ShutdownRequest{All: true}); err != nil || len(ids) != 0 {
			t.Errorf("%v, %v", ids, err)
		}
	})
}

// A server's operations concern all jobs that have it, and no other.
func TestServer(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		var told []ops.Change
		all := ops.New(open(t, d)).OnChange(func(c ops.Change) { told = append(told, c) })
		server := all.Server("10.0.0.1")
		if _, err := server.Disable(ctx); !errors.Is(err, ops.ErrNoServer) {
			t.Errorf("no server: %v", err)
		}
		names := []string{"bill", "settle"}
		reg := open(t, d)
		members := map[string]*job.Scheduler{}
		for _, name := range append(names, "other") {
			cfg := settle()
			cfg.Name = name
			ip := map[bool]string{true: "10.0.0.1", false: "10.0.0.2"}[name != "other"]
			s, err := job.Schedule(ctx, reg, cfg, job.HandlerFunc(nothing), job.WithIP(ip))
			if err != nil {
				t.Fatal(err)
			}
			members[name] = s
			owns(t, s, 3)
		}
		is := func(what string, changes int) func([]ops.JobResult, error) {
			return func(list []ops.JobResult, err error) {
				t.Helper()
				if err != nil || len(list) != len(names) || len(told) != changes*len(names) {
					t.Fatalf("%s: %+v, %v; told %+v", what, list, err, told)
				}
				for n, outcome := range list {
					if outcome.Job != names[n] || outcome.Err != nil || len(outcome.Changes) != changes {
						t.Errorf("%s: %+v", what, outcome)
					}
				}
				told = nil
			}
		}
		is("dry run", 1)(all.DryRun().Server("10.0.0.1").Disable(ctx))
		is("disable", 1)(server.Disable(ctx))
		await(t, members["bill"], "a disabled server", func(s job.Status) bool { return !s.Enabled })
		is("disable again", 0)(server.Disable(ctx))
		is("enable", 1)(server.Enable(ctx))
		await(t, members["settle"], "an enabled server", func(s job.Status) bool { return s.Enabled })
		is("shut down", 1)(server.Shutdown(ctx, "old"))
		ended(t, members["bill"], job.ErrInstanceRemoved)
		ended(t, members["settle"], job.ErrInstanceRemoved)
		if _, err := server.Disable(ctx); err != nil { // so that the servers stay
			t.Error(err)
		}
		told = nil
		is("remove", 1)(server.Remove(ctx))
		if _, err := server.Remove(ctx); !errors.Is(err, ops.ErrNoServer) {
			t.Errorf("removed twice: %v", err)
		}
		if status := members["other"].Status(); len(status.Items) != 3 {
			t.Errorf("the other job: %+v", status)
		}
		if _, err := all.Server("other").Remove(ctx); err == nil {
			t.Error("no address was removed")
		}
		ops.New(reg).Job("other").Shutdown(ctx, ops.ShutdownRequest{All: true})
		ended(t, members["other"], job.ErrInstanceRemoved)
	})
}

// A server's operation goes on after a failure, and says which jobs have failed.
func TestServerGoesOn(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg := open(t, d)
		plain := ops.New(reg)
		for n := range 20 {
			cfg := settle()
			cfg.Name = fmt.Sprintf("job%02d", n)
			if err := errors.Join(plain.Create(ctx, ops.CreateRequest{Config: cfg}), plain.Job(cfg.Name).DisableServersAhead(ctx, "10.0.0.1")); err != nil {
				t.Fatal(err)
			}
		}
		list, err := ops.New(failing{reg, "job03/", coord.ErrDenied}).Server("10.0.0.1").Enable(ctx)
		if !errors.Is(err, coord.ErrDenied) || len(list) != 20 {
			t.Fatalf("%d outcomes, %v", len(list), err)
		}
		for _, outcome := range list {
			if failed := outcome.Err != nil; failed != (outcome.Job == "job03") || failed != (len(outcome.Changes) == 0) {
				t.Errorf("%+v", outcome)
			}
		}
		// A store that is away is not asked for each of them.
		list, err = ops.New(failing{reg, "job", coord.ErrUnavailable}).Server("10.0.0.1").Remove(ctx)
		if !errors.Is(err, coord.ErrUnavailable) || len(list) != 8 || !strings.Contains(err.Error(), "8 of 20 jobs have failed, and 12 were not tried") {
			t.Errorf("%d outcomes, %v", len(list), err)
		}
	})
}

// A server's operation whose context ends between two jobs says that it is not through.
func TestServerEndsEarly(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		plain := ops.New(open(t, d))
		for n := range 20 {
			cfg := settle()
			cfg.Name = fmt.Sprintf("job%02d", n)
			if err := errors.Join(plain.Create(ctx, ops.CreateRequest{Config: cfg}), plain.Job(cfg.Name).DisableServersAhead(ctx, "10.0.0.1")); err != nil {
				t.Fatal(err)
			}
		}
		list, err := plain.OnChange(func(ops.Change) { cancel() }).Server("10.0.0.1").Enable(ctx)
		if !errors.Is(err, context.Canceled) || len(list) != 8 || !strings.Contains(err.Error(), "12 of 20 jobs were not tried") {
			t.Errorf("%d outcomes, %v", len(list), err)
		}
	})
}

// failing refuses each commit that writes below a path.
type failing struct {
	coord.Registry
	path string
	err  error
}

func (f failing) Commit(ctx context.Context, list ...coord.Op) (int64, error) {
	for _, op := range list {
		if len(op.Path) > len(f.path) && op.Path[:len(f.path)] == f.path {
			return 0, fmt.Errorf("%w: %s", f.err, op.Path)
		}
	}
	return f.Registry.Commit(ctx, list...)
}

// Who tells many instances to leave is told how far that went.
func TestShutdownOfMany(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg := open(t, d)
		if err := ops.New(reg).Create(ctx, ops.CreateRequest{Config: settle()}); err != nil {
			t.Fatal(err)
		}
		var list []coord.Op
		for n := range 100 {
			list = append(list, coord.CreateEphemeral(fmt.Sprintf("settle/instances/10.0.0.1@-@%03d", n), nil))
		}
		if _, err := reg.Commit(ctx, list...); err != nil {
			t.Fatal(err)
		}
		commits := 0
		away := &wired{Registry: reg, answer: func(commit func() (int64, error)) (int64, error) {
			if commits++; commits == 2 {
				return 0, coord.ErrUnavailable
			}
			return commit()
		}}
		first, err := ops.New(away).Job("settle").Shutdown(ctx, ops.ShutdownRequest{All: true})
		if !errors.Is(err, coord.ErrUnavailable) || len(first) != 40 {
			t.Errorf("%d were told, %v", len(first), err)
		}
		// Each commit is told as the same change, also if time goes by between them.
		var changes []ops.Change
		o := ops.New(away).OnChange(func(c ops.Change) {
			changes = append(changes, c)
			pass(time.Second)
		})
		rest, err := o.Job("settle").Shutdown(ctx, ops.ShutdownRequest{All: true})
		if err != nil || len(rest) != 60 || commits != 4 || slices.Contains(rest, first[0]) {
			t.Errorf("%d were told by %d commits, %v", len(rest), commits, err)
		}
		if len(changes) != 2 || !reflect.DeepEqual(changes[0], changes[1]) {
			t.Errorf("changes %+v", changes)
		}
	})
}
