package ops_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A job that is disabled as a whole runs nowhere until it is enabled: neither on a server that comes later, nor on one
// that is enabled in all its jobs.
func TestDisabledAsAWhole(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg := open(t, d)
		all := ops.New(open(t, d))
		steer := all.Job("settle")
		isEnabled := func(s job.Status) bool { return s.Enabled }
		isDisabled := func(s job.Status) bool { return !s.Enabled }
		if err := all.Create(ctx, ops.CreateRequest{Config: settle()}); err != nil {
			t.Fatal(err)
		}
		if err := steer.DisableServers(ctx); err != nil { // it has none yet
			t.Fatal(err)
		}
		first, err := job.Schedule(ctx, reg, settle(), job.HandlerFunc(nothing), job.WithIP("10.0.0.1"))
		if err != nil {
			t.Fatal(err)
		}
		await(t, first, "a server that came later", isDisabled)
		if list, err := all.Server("10.0.0.1").Enable(ctx); err != nil || len(list) != 1 || !list[0].IsDisabled || len(list[0].Changes) > 0 {
			t.Errorf("the server is enabled in all its jobs: %+v, %v", list, err)
		}
		if err := steer.EnableServers(ctx); err != nil {
			t.Fatal(err)
		}
		await(t, first, "an enabled job", isEnabled)
		if err := steer.DisableServers(ctx); err != nil {
			t.Fatal(err)
		}
		await(t, first, "a disabled job", isDisabled)
		if err := steer.EnableServers(ctx, "10.0.0.1"); err != nil { // by whoever names the job
			t.Fatal(err)
		}
		await(t, first, "its only enabled server", isEnabled)
		second, err := job.Schedule(ctx, reg, settle(), job.HandlerFunc(nothing), job.WithIP("10.0.0.2"))
		if err != nil {
			t.Fatal(err)
		}
		await(t, second, "another one that came later", isDisabled)
		if err := steer.EnableServers(ctx); err != nil {
			t.Fatal(err)
		}
		await(t, second, "a server of a job that runs again", isEnabled)
		if _, err := steer.Shutdown(ctx, ops.ShutdownRequest{All: true}); err != nil {
			t.Fatal(err)
		}
		ended(t, first, job.ErrInstanceRemoved)
		ended(t, second, job.ErrInstanceRemoved)
	})
}
