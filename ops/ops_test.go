package ops_test

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
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

const rarely = "0 0 3 1 1 ?"

func settle() job.Config {
	return job.Config{Name: "settle", Cron: rarely, ShardingTotalCount: 3, Failover: true, ErrorHandler: "IGNORE"}
}

// owns waits until a process has as many items.
func owns(t *testing.T, s *job.Scheduler, n int) {
	t.Helper()
	await(t, s, fmt.Sprintf("%d items", n), func(s job.Status) bool { return len(s.Items) == n })
}

// Each method does what it says, by one program while another one runs the job.
func TestSteering(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		begun := make(chan job.ShardingContext, 100)
		s := runs(t, d, settle(), "10.0.0.1", func(ctx context.Context, sc job.ShardingContext) error {
			begun <- sc
			switch sc.JobParameter {
			case "hang":
				<-ctx.Done()
				return context.Cause(ctx)
			case "fail":
				return errors.New("no disk")
			}
			return nil
		}, job.WithLabels("gpu"))
		owns(t, s, 3)
		steer := ops.New(open(t, d)).By("anna").Job("settle")
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		outcomes := func(r interface {
			Wait(context.Context) ([]job.ItemResult, error)
		}, want ...job.Outcome) {
			t.Helper()
			results, err := r.Wait(ctx)
			must(err)
			var got []job.Outcome
			for _, r := range results {
				got = append(got, r.Outcome)
			}
			if !slices.Equal(got, want) {
				t.Errorf("outcomes %v, want %v", got, want)
			}
		}

		// A trigger that is killed, and one behind it that is cancelled.
		first, err := steer.Trigger(ctx, job.TriggerRequest{Items: []int{1}, Parameter: "hang"})
		must(err)
		sc := <-begun
		second, err := steer.Trigger(ctx, job.TriggerRequest{Items: []int{0, 1}, Parameter: "fail"})
		must(err)
		outcomesOf0 := <-begun
		list, err := steer.Requests(ctx)
		must(err)
		if len(list) != 2 || list[0].ID != first.ID || !slices.Equal(list[0].Running, []int{1}) || list[1].By != "anna" || list[1].Source != "MANUAL" ||
			!slices.Equal(list[1].Waiting, []int{1}) || !strings.Contains(list[1].Why, "request "+first.ID+" first") {
			t.Errorf("requests %+v", list)
		}
		must(steer.Cancel(ctx, second.ID))
		must(steer.Cancel(ctx, second.ID))
		killed, err := steer.Kill(ctx, ops.KillRequest{Items: []int{1}})
		must(err)
		if len(killed) != 1 || killed[0].Token != sc.Token || killed[0].Instance != sc.InstanceID {
			t.Errorf("killed %+v", killed)
		}
		outcomes(first, job.OutcomeKilled)
		if results, err := second.Wait(ctx); err != nil || results[1].Outcome != job.OutcomeSkipped {
			t.Errorf("cancelled: %+v, %v", results, err)
		}
		if outcomesOf0.Item != 0 || len(begun) > 0 {
			t.Errorf("begun: %+v", outcomesOf0)
		}

		// A backfill that fails, and the retry of its last tick.
		to := time.Date(2026, 1, 1, 3, 0, 0, 0, time.Local)
		backfill, err := steer.Backfill(ctx, ops.BackfillRequest{From: to.AddDate(-2, 0, 0), To: to, Items: []int{2, 2}, Parameter: "fail"})
		must(err)
		if !slices.Equal(backfill.Items, []int{2}) || len(backfill.Ticks) != 3 {
			t.Errorf("backfill %+v", backfill)
		}
		outcomes(backfill, job.OutcomeFailed)
		for range 3 {
			<-begun
		}
		retry, err := steer.Retry(ctx, ops.RetryRequest{Items: []int{2}, Parameter: "other"})
		must(err)
		if !slices.EqualFunc(retry.Ticks, backfill.Ticks[2:], time.Time.Equal) {
			t.Errorf("retry %+v", retry)
		}
		outcomes(retry, job.OutcomeOK)
		if sc := <-begun; sc.JobParameter != "other" {
			t.Errorf("the retry has the parameter %q", sc.JobParameter)
		}

		// A pause.
		_, err = steer.Pause(ctx, ops.PauseRequest{Why: "move"})
		must(err)
		await(t, s, "a pause", func(s job.Status) bool { return s.Paused.By == "anna" && s.Paused.Why == "move" })
		must(steer.Resume(ctx, ops.ResumeRequest{}))
		await(t, s, "no pause", func(s job.Status) bool { return s.Paused.Since.IsZero() })

		// Who has which item.
		other := runs(t, d, settle(), "10.0.0.2", func(context.Context, job.ShardingContext) error { return nil })
		owns(t, other, 1)
		for i := range 3 {
			must(steer.Pin(ctx, i, ops.PinRequest{Label: "gpu"}))
		}
		owns(t, s, 3)
		for i := range 3 {
			must(steer.Unpin(ctx, i))
		}
		owns(t, other, 1)
		must(steer.Reshard(ctx))
		must(steer.DisableServers(ctx, "10.0.0.2"))
		owns(t, s, 3)
		must(steer.EnableServers(ctx))
		owns(t, other, 1)
		must(steer.DisableItems(ctx, 0))
		skipped, err := steer.Trigger(ctx, job.TriggerRequest{Items: []int{0}})
		must(err)
		outcomes(skipped, job.OutcomeSkipped)
		must(steer.EnableItems(ctx, 0))
		again, err := steer.Trigger(ctx, job.TriggerRequest{Items: []int{0}})
		must(err)
		outcomes(again, job.OutcomeOK)
	})
}

// virtual runs a test on the simulator in virtual time.
func virtual(t *testing.T, behaviour func(*testing.T, dial)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := memory.NewStore(memory.Options{})
		t.Cleanup(s.Close)
		behaviour(t, func() (coord.Registry, error) { return s.Dial(t.Context(), memory.Config{Namespace: "ops"}) })
	})
}

// What makes no sense is refused, with what is wrong, and nothing is written.
func TestWhatIsRefused(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		s := runs(t, d, settle(), "10.0.0.1", func(context.Context, job.ShardingContext) error { return nil })
		owns(t, s, 3)
		oneOff, err := job.Schedule(t.Context(), open(t, d), job.Config{Name: "once", ShardingTotalCount: 1}, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := oneOff.Shutdown(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		free := settle()
		free.Name, free.MonitorExecution, free.Failover = "free", job.Off, false
		owns(t, runs(t, d, free, "10.0.0.1", func(context.Context, job.ShardingContext) error { return nil }), 3)
		fast := settle()
		fast.Name, fast.Cron = "fast", "* * * * * ?"
		if _, err := ops.New(open(t, d)).Job("fast").Pause(t.Context(), ops.PauseRequest{}); !errors.Is(err, ops.ErrNoJob) {
			t.Errorf("a job that is not there: %v", err)
		}
		owns(t, runs(t, d, fast, "10.0.0.1", func(context.Context, job.ShardingContext) error { return nil }), 3)
		reg := open(t, d)
		if _, err := ops.New(reg).Job("fast").Pause(t.Context(), ops.PauseRequest{}); err != nil { // so that the tree stands still
			t.Fatal(err)
		}
		ctx, all := t.Context(), ops.New(reg)
		if err := all.Create(ctx, ops.CreateRequest{Config: job.Config{Name: "idle", ShardingTotalCount: 1}}); err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		before := dump(t, reg)
		for _, tc := range []struct {
			name string
			do   func(*ops.Job) error
			job  string // settle if it is empty
			is   error  // nil if it has no sentinel
			says string
		}{
			{name: "pin: no such item", do: func(j *ops.Job) error { return j.Pin(ctx, 3, ops.PinRequest{Label: "x"}) }, is: job.ErrNoItem, says: "item 3 is not there; 0 to 2 are"},
			{name: "pin: a negative item", do: func(j *ops.Job) error { return j.Pin(ctx, -1, ops.PinRequest{Label: "x"}) }, says: "item -1"},
			{name: "pin: to nothing", do: func(j *ops.Job) error { return j.Pin(ctx, 0, ops.PinRequest{}) }, says: "one of instance, address and label"},
			{name: "pin: to two", do: func(j *ops.Job) error { return j.Pin(ctx, 0, ops.PinRequest{Label: "x", Address: "y"}) }, says: "one of instance, address and label"},
			{name: "pin: a long name", do: func(j *ops.Job) error { return j.Pin(ctx, 0, ops.PinRequest{Label: strings.Repeat("x", 256)}) }, says: "label: 256 bytes, at most 255"},
			{name: "unpin: a negative item", do: func(j *ops.Job) error { return j.Unpin(ctx, -1) }, says: "item -1"},
			{name: "disable: no such item", do: func(j *ops.Job) error { return j.DisableItems(ctx, 0, 3) }, says: "item 3 is not there"},
			{name: "enable: no such item", do: func(j *ops.Job) error { return j.EnableItems(ctx, 3) }, says: "item 3 is not there"},
			{name: "disable: no such server", do: func(j *ops.Job) error { return j.DisableServers(ctx, "10.0.0.1", "10.0.0.9/x") }, is: ops.ErrNoServer, says: `server "10.0.0.9/x"`},
			{name: "enable: no such server", do: func(j *ops.Job) error { return j.EnableServers(ctx, "") }, is: ops.ErrNoServer, says: `server ""`},
			{name: "kill: nothing runs", do: func(j *ops.Job) error { _, err := j.Kill(ctx, ops.KillRequest{}); return err }, is: ops.ErrNotRunning},
			{name: "kill: no such item", do: func(j *ops.Job) error { _, err := j.Kill(ctx, ops.KillRequest{Items: []int{0, 3}}); return err }, says: "item 3: 0 to 2"},
			{name: "kill: a negative item", do: func(j *ops.Job) error { _, err := j.Kill(ctx, ops.KillRequest{Items: []int{-1}}); return err }, says: "item -1"},
			{name: "kill: a tick to come", do: func(j *ops.Job) error {
				_, err := j.Kill(ctx, ops.KillRequest{Tick: now.Add(time.Hour)})
				return err
			}, says: "has not come yet"},
			{name: "kill: without records", job: "free", do: func(j *ops.Job) error { _, err := j.Kill(ctx, ops.KillRequest{}); return err }, is: ops.ErrNotRunning, says: "MonitorExecution"},
			{name: "kill: failover that the job has not", job: "free", do: func(j *ops.Job) error { _, err := j.Kill(ctx, ops.KillRequest{Failover: true}); return err }, says: "MonitorExecution"},
			{name: "resume: no pause", do: func(j *ops.Job) error { return j.Resume(ctx, ops.ResumeRequest{}) }, is: ops.ErrNotPaused},
			{name: "trigger: no such item", do: func(j *ops.Job) error { _, err := j.Trigger(ctx, job.TriggerRequest{Items: []int{3}}); return err }, says: "item 3: 0 to 2"},
			{name: "trigger: no such instance", do: func(j *ops.Job) error {
				_, err := j.Trigger(ctx, job.TriggerRequest{Instances: []string{"x"}})
				return err
			}, is: job.ErrNobodyRunsIt},
			{name: "trigger: a long parameter", do: func(j *ops.Job) error {
				_, err := j.Trigger(ctx, job.TriggerRequest{Parameter: strings.Repeat("x", jobtype.MaxTriggerParameter+1)})
				return err
			}, says: "parameter"},
			{name: "retry: nothing has failed", do: func(j *ops.Job) error { _, err := j.Retry(ctx, ops.RetryRequest{}); return err }, is: ops.ErrNothingFailed},
			{name: "retry: nor for that tick", do: func(j *ops.Job) error { _, err := j.Retry(ctx, ops.RetryRequest{Tick: now}); return err }, is: ops.ErrNothingFailed},
			{name: "backfill: no such item", do: backfill(ctx, ops.BackfillRequest{From: now.AddDate(-2, 0, 0), To: now, Items: []int{1, 3}}), says: "item 3: 0 to 2"},
			{name: "backfill: a negative item", do: backfill(ctx, ops.BackfillRequest{From: now.AddDate(-2, 0, 0), To: now, Items: []int{-1}}), says: "item -1: 0 to 2"},
			{name: "backfill: no tick", do: backfill(ctx, ops.BackfillRequest{From: now.Add(-time.Minute), To: now}), is: ops.ErrTicks, says: "no tick of"},
			{name: "backfill: a range that ends before it begins", do: backfill(ctx, ops.BackfillRequest{From: now, To: now.AddDate(-2, 0, 0)}), is: ops.ErrTicks, says: "no tick of"},
			{name: "backfill: the future", do: backfill(ctx, ops.BackfillRequest{From: now, To: now.AddDate(2, 0, 0)}), says: "has not come yet"},
			{name: "backfill: since ever", do: backfill(ctx, ops.BackfillRequest{To: now}), says: "from: needed"},
			{name: "backfill: too many ticks", job: "fast", do: backfill(ctx, ops.BackfillRequest{From: now.AddDate(-1, 0, 0), To: now}), is: ops.ErrTicks, says: "more than 1000"},
			{name: "backfill: a one-off job", job: "once", do: backfill(ctx, ops.BackfillRequest{From: now.AddDate(-2, 0, 0), To: now}), is: ops.ErrTicks, says: "a one-off job"},
			{name: "backfill: without records", job: "free", do: backfill(ctx, ops.BackfillRequest{From: now.AddDate(-2, 0, 0), To: now}), says: "MonitorExecution"},
			{name: "backfill: a long parameter", do: backfill(ctx, ops.BackfillRequest{From: now.AddDate(-2, 0, 0), To: now, Parameter: strings.Repeat("x", jobtype.MaxTriggerParameter+1)}), says: "parameter"},
			{name: "cancel: no such request", do: func(j *ops.Job) error { return j.Cancel(ctx, "x") }, is: job.ErrNoRequest},
			{name: "cancel: no name of one", do: func(j *ops.Job) error { return j.Cancel(ctx, "../config") }, is: job.ErrNoRequest},
			{name: "retry: no such item", do: func(j *ops.Job) error { _, err := j.Retry(ctx, ops.RetryRequest{Items: []int{3}}); return err }, is: job.ErrNoItem, says: "item 3: 0 to 2 are allowed"},
			{name: "backfill: a parameter of other bytes", do: backfill(ctx, ops.BackfillRequest{From: now.AddDate(-2, 0, 0), To: now, Parameter: "\xff"}), says: "parameter: UTF-8 is allowed"},
			{name: "retry: a long parameter", do: func(j *ops.Job) error {
				_, err := j.Retry(ctx, ops.RetryRequest{Parameter: strings.Repeat("x", jobtype.MaxTriggerParameter+1)})
				return err
			}, says: "parameter"},
			{name: "trigger: another job", job: "another", do: func(j *ops.Job) error { _, err := j.Trigger(ctx, job.TriggerRequest{}); return err }, is: ops.ErrNoJob},
			{name: "trigger: no name of a job", job: "a/b", do: func(j *ops.Job) error { _, err := j.Trigger(ctx, job.TriggerRequest{}); return err }, is: ops.ErrNoJob},
			{name: "another job", job: "another", do: func(j *ops.Job) error { return j.Reshard(ctx) }, is: ops.ErrNoJob},
			{name: "no name of a job", job: "a/b", do: func(j *ops.Job) error { _, err := j.Kill(ctx, ops.KillRequest{Items: []int{0}}); return err }, is: ops.ErrNoJob},
			{name: "no name at all", job: "", do: func(*ops.Job) error { _, err := all.Job("").Requests(ctx); return err }, is: ops.ErrNoJob},
		} {
			name := "settle"
			if tc.job != "" {
				name = tc.job
			}
			err := tc.do(all.Job(name))
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) || len(err.Error()) > 700 {
				t.Errorf("%s: got %v", tc.name, err)
			}
		}
		if after := dump(t, reg); !slices.Equal(before, after) {
			t.Errorf("before %q\nafter %q", before, after)
		}
	})
}

func backfill(ctx context.Context, r ops.BackfillRequest) func(*ops.Job) error {
	return func(j *ops.Job) error { _, err := j.Backfill(ctx, r); return err }
}

// dump is all that stands in the store, and when it was written.
func dump(t *testing.T, reg coord.Registry) (list []string) {
	t.Helper()
	for n, err := range reg.Walk(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(n.Path, n.Modified))
	}
	return list
}

// If the tree changes all the time, an operator is told so, after a bounded number of attempts.
func TestBusy(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		owns(t, runs(t, d, settle(), "10.0.0.1", func(context.Context, job.ShardingContext) error { return nil }), 3)
		attempts := 0
		reg := &wired{Registry: open(t, d), answer: func(func() (int64, error)) (int64, error) {
			attempts++
			return 0, coord.ErrConflict
		}}
		steer := ops.New(reg).Job("settle")
		for name, do := range map[string]func(context.Context) error{
			"pause": func(ctx context.Context) error { _, err := steer.Pause(ctx, ops.PauseRequest{}); return err },
			"deal":  steer.Reshard,
			"backfill": func(ctx context.Context) error {
				return backfill(ctx, ops.BackfillRequest{From: time.Now().AddDate(-2, 0, 0), To: time.Now()})(steer)
			},
		} {
			attempts = 0
			if err := do(t.Context()); !errors.Is(err, ops.ErrBusy) || !errors.Is(err, coord.ErrConflict) || attempts != 20 {
				t.Errorf("%s: %v after %d attempts", name, err, attempts)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			begin := time.Now()
			if err := do(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 200*time.Millisecond {
				t.Errorf("%s: %v after %v", name, err, time.Since(begin))
			}
			cancel()
		}
	})
}

// A request whose answer was lost is written once.
func TestLostAnswerOfARequest(t *testing.T) {
	for name, arrives := range map[string]bool{"it arrived": true, "it did not": false} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T, d dial) {
				owns(t, runs(t, d, settle(), "10.0.0.1", func(context.Context, job.ShardingContext) error { return nil }), 3)
				lost := false
				reg := &wired{Registry: open(t, d)}
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
				steer := ops.New(reg).Job("settle")
				r, err := steer.Backfill(t.Context(), ops.BackfillRequest{From: time.Now().AddDate(-2, 0, 0), To: time.Now()})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := r.Wait(t.Context()); err != nil {
					t.Error(err)
				}
				if list, err := steer.Requests(t.Context()); err != nil || len(list) != 1 || list[0].ID != r.ID || len(r.Ticks) == 0 {
					t.Errorf("requests %+v, %v", list, err)
				}
			})
		})
	}
}

// A kill of an item reads what concerns it, however large the job is.
func TestReadsOfAKill(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		begun := make(chan int, 100)
		cfg := settle()
		cfg.ShardingTotalCount, cfg.Threads = 50, 60
		s := runs(t, d, cfg, "10.0.0.1", func(ctx context.Context, sc job.ShardingContext) error {
			begun <- sc.Item
			<-ctx.Done()
			return context.Cause(ctx)
		})
		owns(t, s, 50)
		reg := &wired{Registry: open(t, d)}
		steer := ops.New(reg).Job("settle")
		r, err := steer.Trigger(t.Context(), job.TriggerRequest{Items: []int{7, 8}})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			<-begun
		}
		reg.gets, reg.walks = 0, 0
		if killed, err := steer.Kill(t.Context(), ops.KillRequest{Items: []int{7}}); err != nil || len(killed) != 1 || killed[0].Item != 7 {
			t.Errorf("killed %+v, %v", killed, err)
		}
		if reg.gets != 7 || reg.walks > 0 {
			t.Errorf("%d gets, %d walks", reg.gets, reg.walks)
		}
		if killed, err := steer.Kill(t.Context(), ops.KillRequest{Token: 1}); !errors.Is(err, ops.ErrNotRunning) || !strings.Contains(err.Error(), "item 8 runs another one") {
			t.Errorf("another run: %+v, %v", killed, err)
		}
		if killed, err := steer.Kill(t.Context(), ops.KillRequest{}); err != nil || !slices.ContainsFunc(killed, func(k ops.Killed) bool { return k.Item == 8 }) {
			t.Errorf("killed %+v, %v", killed, err)
		}
		results, err := r.Wait(t.Context())
		if err != nil || results[0].Outcome != job.OutcomeKilled || results[1].Outcome != job.OutcomeKilled {
			t.Errorf("results %+v, %v", results, err)
		}
	})
}

// A store that takes so long for each answer that another execution begins meanwhile does not keep a kill from the
// execution that it has read last.
func TestKillOnASlowStore(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		reg := open(t, d)
		if err := ops.New(reg).Create(t.Context(), ops.CreateRequest{Config: settle()}); err != nil {
			t.Fatal(err)
		}
		name := jobtree.Job("settle")
		begin := func(instance string) {
			t.Helper()
			claim := coord.Put(name.Fired(0), jobtree.EncodeClaim(time.Now(), time.Now()))
			if _, err := reg.Commit(t.Context(), claim, coord.Put(name.Running(0), []byte(instance))); err != nil {
				t.Fatal(err)
			}
		}
		begin("first")
		instances := 0
		slow := &wired{Registry: reg, reads: func(path string) {
			if path != name.Fired(0) && path != name.Running(0) {
				instances++
				begin(fmt.Sprint("instance-", instances%2))
			}
		}}
		killed, err := ops.New(slow).Job("settle").Kill(t.Context(), ops.KillRequest{Items: []int{0}})
		fired, getErr := reg.Get(t.Context(), name.Fired(0))
		if err != nil || getErr != nil || len(killed) != 1 || killed[0].Token != fired.Modified || killed[0].Instance != fmt.Sprint("instance-", instances%2) {
			t.Errorf("killed %+v, %v; fired %+v, %v, by instance-%d", killed, err, fired, getErr, instances%2)
		}
	})
}

// Wait says what is not through when its context ends, and Requests why.
func TestRequestsSayWhyTheyWait(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		s := runs(t, d, settle(), "10.0.0.1", func(context.Context, job.ShardingContext) error { return nil })
		owns(t, s, 3)
		steer := ops.New(open(t, d)).Job("settle")
		for i := range 2 {
			if err := steer.Pin(t.Context(), i, ops.PinRequest{Label: "none", Strict: true}); err != nil {
				t.Fatal(err)
			}
		}
		owns(t, s, 1)
		r, err := steer.Trigger(t.Context(), job.TriggerRequest{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := r.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "items 0, 1 are not through") {
			t.Errorf("wait: %v", err)
		}
		say := func(want string) {
			t.Helper()
			list, err := steer.Requests(t.Context())
			if err != nil || len(list) != 1 || !slices.Equal(list[0].Through, []int{2}) || !slices.Equal(list[0].Waiting, []int{0, 1}) || list[0].Why != want {
				t.Errorf("requests %+v, %v", list, err)
			}
		}
		say("item 0 has no owner, because it is pinned, and there is no such instance")
		if err := steer.DisableServers(t.Context()); err != nil {
			t.Fatal(err)
		}
		say("all servers are disabled")
	})
}

// An item that was disabled after its run for a request had been cut short waits: nobody runs it.
func TestRequestOfAnItemThatWasCutShortAndDisabled(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		hangs := func(ctx context.Context, _ job.ShardingContext) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		first := runs(t, d, settle(), "10.0.0.1", hangs)
		owns(t, first, 3)
		steer := ops.New(open(t, d)).Job("settle")
		r, err := steer.Trigger(t.Context(), job.TriggerRequest{Items: []int{1}})
		if err != nil {
			t.Fatal(err)
		}
		await(t, first, "a run", func(s job.Status) bool { return slices.Equal(s.Running, []int{1}) })
		if err := steer.DisableItems(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_ = first.Shutdown(ended) // which says that it has cut the run short
		second := runs(t, d, settle(), "10.0.0.2", func(context.Context, job.ShardingContext) error { return nil })
		owns(t, second, 3)
		list, err := steer.Requests(t.Context())
		if want := "item 1 was cut short, and is disabled"; err != nil || len(list) != 1 || len(list[0].Running) > 0 || !slices.Equal(list[0].Waiting, []int{1}) || list[0].Why != want {
			t.Errorf("requests %+v, %v", list, err)
		}
		if err := steer.EnableItems(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if results, err := r.Wait(t.Context()); err != nil || results[0].Outcome != job.OutcomeOK {
			t.Errorf("results %+v, %v", results, err)
		}
	})
}
