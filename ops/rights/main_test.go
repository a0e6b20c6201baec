package rights_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of a test.
const patience = 3 * time.Minute

// Sessions and requests are calm, so that they outlast a machine that stands still for some seconds,
// but for that of a process that crashes.
const calm, crashing = time.Minute, 3 * time.Second

const rarely = "0 0 3 1 1 ?"

func nightly() job.Config {
	return job.Config{Name: "nightly", Cron: rarely, ShardingTotalCount: 2, Failover: true, ErrorHandler: "IGNORE"}
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// closes closes a registry at the end of the test.
func closes(t *testing.T, reg coord.Registry) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = reg.Close(ctx) // some tests cut its connection
	})
}

// runs starts a process of a job, which ends with the test.
func runs(t *testing.T, reg coord.Registry, cfg job.Config, ip string, h job.HandlerFunc) *job.Scheduler {
	t.Helper()
	s, err := job.Schedule(within(t), reg, cfg, h, job.WithIP(ip))
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = s.Shutdown(ctx) // some tests cut its connection
	})
	return s
}

// await waits until the status of a process is as wanted.
func await(t *testing.T, s *job.Scheduler, what string, ok func(job.Status) bool) {
	t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		changed := s.Changed()
		status := s.Status()
		if ok(status) {
			return
		}
		select {
		case <-changed:
		case <-timeout.C:
			t.Fatalf("not seen in %v: %s; the status is %+v", patience, what, status)
		}
	}
}

func owns(t *testing.T, s *job.Scheduler, n int) {
	t.Helper()
	await(t, s, fmt.Sprintf("%d items", n), func(s job.Status) bool { return len(s.Items) == n })
}

// refused checks that something is denied, and that the error names the path.
func refused(t *testing.T, err error, path string) {
	t.Helper()
	if !errors.Is(err, coord.ErrDenied) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want that access to %s is denied", err, path)
	}
}

// operates does all that an operator can do with a job that a worker runs, whose handler hangs
// and fails when the parameter says so.
func operates(t *testing.T, o *ops.Ops) {
	t.Helper()
	ctx, j := within(t), o.Job("nightly")
	done := func(r interface {
		Wait(context.Context) ([]job.ItemResult, error)
	}, want job.Outcome) {
		t.Helper()
		results, err := r.Wait(ctx)
		must(t, err)
		if !slices.ContainsFunc(results, func(r job.ItemResult) bool { return r.Outcome == want }) {
			t.Errorf("outcomes %+v, want %v", results, want)
		}
	}
	hangs, err := j.Trigger(ctx, job.TriggerRequest{Items: []int{0}, Parameter: "hang"})
	must(t, err)
	for {
		_, err := j.Kill(ctx, ops.KillRequest{Items: []int{0}})
		if !errors.Is(err, ops.ErrNotRunning) { // it takes a moment to begin
			must(t, err)
			break
		}
		must(t, context.Cause(ctx))
	}
	done(hangs, job.OutcomeKilled)
	to := time.Date(2026, 1, 1, 3, 0, 0, 0, time.Local)
	fails, err := j.Backfill(ctx, ops.BackfillRequest{From: to, To: to, Items: []int{1}, Parameter: "fail"})
	must(t, err)
	done(fails, job.OutcomeFailed)
	again, err := j.Retry(ctx, ops.RetryRequest{Parameter: "well"})
	must(t, err)
	done(again, job.OutcomeOK)
	must(t, j.Cancel(ctx, again.ID))
	_, err = j.Pause(ctx, ops.PauseRequest{Why: "test"})
	must(t, err)
	must(t, j.Resume(ctx, ops.ResumeRequest{}))
	must(t, j.Pin(ctx, 0, ops.PinRequest{Label: "gpu"}))
	must(t, j.Unpin(ctx, 0))
	must(t, j.Reshard(ctx))
	must(t, j.DisableItems(ctx, 0))
	must(t, j.EnableItems(ctx))
	must(t, j.DisableServers(ctx, "10.0.0.1"))
	must(t, j.EnableServers(ctx))
	_, err = o.PutCalendar(ctx, ops.PutCalendarRequest{Name: "holidays", Document: []byte("timeZone: UTC\ndates: [2026-12-25]\n")})
	must(t, err)
	must(t, o.RemoveCalendar(ctx, ops.RemoveCalendarRequest{Name: "holidays"}))
	set := ops.ApplyRequest{Set: "files", Implementation: "applied", Config: job.Config{Name: "applied", Cron: rarely, ShardingTotalCount: 1}}
	must(t, o.Apply(ctx, set))
	must(t, o.Job("applied").Release(ctx, "files"))
	s, err := j.Settings(ctx)
	must(t, err)
	s.Config.Description = "changed"
	must(t, j.Update(ctx, ops.UpdateRequest{Config: s.Config, Version: s.Version}))
	must(t, o.Create(ctx, ops.CreateRequest{Config: job.Config{Name: "other", Cron: rarely, ShardingTotalCount: 1}}))
	must(t, o.Job("other").Implement(ctx, ops.ImplementRequest{From: "other", To: "another"}))
	must(t, o.Job("other").Remove(ctx, ops.RemoveRequest{}))
	must(t, o.Readmit(ctx, "other", ops.ReadmitRequest{}))
	for what, do := range map[string]func() error{
		"plan":            func() error { _, err := j.Plan(ctx, ops.PlanRequest{Config: s.Config}); return err },
		"clear misfires":  func() error { return j.ClearMisfires(ctx) },
		"clear failovers": func() error { _, err := j.ClearFailovers(ctx); return err },
		"clear servers":   func() error { _, err := j.ClearServers(ctx, ops.ClearServersRequest{}); return err },
		"clear stale":     func() error { _, err := j.ClearStale(ctx); return err },
		"servers": func() error {
			if err := j.DisableServersAhead(ctx, "10.0.0.8"); err != nil {
				return err
			}
			return j.RemoveServers(ctx, "10.0.0.8")
		},
		"disable server": func() error { _, err := o.Server("10.0.0.1").Disable(ctx); return err },
		"note":           func() error { return o.Note(ctx, ops.ActionAddUser, "1 access list", "a", "b") },
	} {
		if err := do(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = o.Server("10.0.0.1").Enable(ctx)
	must(t, err)
	_, err = j.Shutdown(ctx, ops.ShutdownRequest{All: true})
	must(t, err)
}

// looks reads all that a reader can read.
func looks(t *testing.T, reg coord.Registry) {
	t.Helper()
	ctx, o := within(t), ops.New(reg)
	nightly := o.Job("nightly")
	for what, look := range map[string]func() error{
		"settings":  func() error { _, err := nightly.Settings(ctx); return err },
		"requests":  func() error { _, err := nightly.Requests(ctx); return err },
		"describe":  func() error { _, err := nightly.Describe(ctx); return err },
		"items":     func() error { _, err := nightly.Items(ctx); return err },
		"jobs":      func() error { _, err := o.Jobs(ctx, ops.JobsQuery{}); return err },
		"instances": func() error { _, err := o.Instances(ctx); return err },
		"processes": func() error { _, err := o.Processes(ctx); return err },
		"servers":   func() error { _, err := o.Servers(ctx); return err },
		"calendars": func() error { _, err := o.Calendars(ctx); return err },
		"removed":   func() error { _, err := o.Removed(ctx); return err },
		"applied":   func() error { _, err := o.Applied(ctx); return err },
		"audit":     func() error { _, err := o.Audit(ctx, ops.AuditQuery{}); return err },
		"doctor":    func() error { _, err := doctor.Examine(ctx, reg, doctor.Options{Wait: time.Millisecond}); return err },
		"watch": func() error {
			for u, err := range o.Watch(ctx, 0) {
				if err == nil && u.Fault != "" {
					err = errors.New(u.Fault)
				}
				return err
			}
			return nil
		},
	} {
		if err := look(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// works is a handler that does what the parameter says.
func works(ctx context.Context, sc job.ShardingContext) error {
	switch sc.JobParameter {
	case "hang":
		<-ctx.Done()
		return context.Cause(ctx)
	case "fail":
		return errors.New("as told")
	}
	return nil
}

// cannotWrite checks that a reader reads, and can neither write nor hold a latch.
func cannotWrite(t *testing.T, reg coord.Registry) {
	t.Helper()
	ctx := within(t)
	looks(t, reg)
	for _, err := range reg.Walk(ctx, "") {
		must(t, err)
	}
	v, err := reg.View(ctx, "nightly", coord.AllLevels)
	must(t, err)
	defer v.Close()
	must(t, v.Sync(ctx))
	if err := v.Fault(); err != nil {
		t.Errorf("the view of a reader: %v", err)
	}
	for _, op := range []coord.Op{
		coord.Set("nightly/config", nil), coord.Create("mine", nil), coord.CreateEphemeral("nightly/instances/mine", nil),
		coord.Delete("nightly/config"), coord.DeleteTree("nightly/sharding"), coord.Put("~elasticjob/audit/mine", nil),
	} {
		_, err := reg.Commit(ctx, op)
		refused(t, err, op.Path)
	}
	err = ops.New(reg).Job("nightly").Remove(ctx, ops.RemoveRequest{})
	refused(t, err, "nightly")
	if errors.Is(err, ops.ErrBusy) {
		t.Errorf("it was tried again and again: %v", err)
	}
	latch, err := reg.Latch("latch")
	must(t, err)
	_, err = latch.Acquire(ctx)
	refused(t, err, "latch")
}
