package ops_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// told is what a watch has told.
type told[T any] struct {
	what T
	err  error
}

// watching has a loop go on in the background, until the test ends. Who does not receive is slow.
func watching[T any](t *testing.T, watch func(context.Context) iter.Seq2[T, error]) <-chan told[T] {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	updates, ended := make(chan told[T]), make(chan struct{})
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	go func() {
		defer close(ended)
		for what, err := range watch(ctx) {
			select {
			case updates <- told[T]{what, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return updates
}

// brief writes an update in one line.
func (u told[T]) String() string {
	update, ok := any(u.what).(ops.Update)
	if u.err != nil || !ok {
		return fmt.Sprint(u.err)
	}
	var b strings.Builder
	for _, i := range update.Jobs {
		fmt.Fprintf(&b, " %s:%s:%d", i.Name, i.Status, i.Running)
	}
	for _, name := range update.Removed {
		fmt.Fprintf(&b, " -%s", name)
	}
	if update.Fault != "" {
		b.WriteString(" fault")
	}
	return b.String()
}

// doubtful is a registry whose views may have a fault.
type doubtful struct {
	coord.Registry
	atomic.Bool
}

func (d *doubtful) View(ctx context.Context, path string, depth int, bounds ...coord.Bounds) (coord.View, error) {
	v, err := d.Registry.View(ctx, path, depth, bounds...)
	return doubtfulView{v, d}, err
}

type doubtfulView struct {
	coord.View
	doubts *doubtful
}

func (v doubtfulView) Fault() error {
	if v.doubts.Load() {
		return coord.ErrUnavailable
	}
	return nil
}

// A watch tells everything first, and then what has changed, together and not too often.
func TestWatch(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		reg := open(t, d)
		put := func(ops ...coord.Op) {
			t.Helper()
			if _, err := reg.Commit(t.Context(), ops...); err != nil {
				t.Fatal(err)
			}
		}
		plant(t, reg, "a", map[string]string{"config": small})
		plant(t, reg, "b", map[string]string{"config": small, "instances/" + here: "", "servers/192.0.2.2": "ENABLED", "sharding/0/instance": here})
		doubts := &doubtful{Registry: open(t, d)}
		updates := watching(t, func(ctx context.Context) iter.Seq2[ops.Update, error] { return ops.New(doubts).Watch(ctx, time.Second) })
		quiet := func(d time.Duration) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			select {
			case u := <-updates:
				t.Errorf("told without need: %v", u)
			default:
			}
		}
		wants := func(want string, within time.Duration) {
			t.Helper()
			begin := time.Now()
			u := <-updates
			if u.String() != want {
				t.Errorf("told %s, want %s", u, want)
			}
			if took := time.Since(begin); took > within {
				t.Errorf("told %s after %v", u, took)
			}
		}
		wants(" a:NEVER_STARTED:0 b:OK:0", 10*time.Millisecond)
		quiet(2 * time.Second)

		put(coord.Put("b/sharding/0/running", []byte(here)))
		wants(" b:OK:1", 10*time.Millisecond)
		put(coord.Delete("b/sharding/0/running"), coord.Create("a/instances/"+here, nil))
		put(coord.Create("c/config", []byte(small)))
		wants(" a:DISABLED:0 b:OK:0 c:NEVER_STARTED:0", time.Second+10*time.Millisecond)
		put(coord.Put("b/cursor/0", nil), coord.Put("x/junk", nil), coord.Put("~elasticjob/junk", nil))
		quiet(3 * time.Second)
		put(coord.DeleteTree("c"), coord.Delete("a/config"))
		wants(" -a -c", time.Second+10*time.Millisecond)

		quiet(2 * time.Second)

		// Nothing piles up for who is slow.
		for n := range 20 {
			put(coord.Put("b/sharding/0/running", []byte(here)))
			time.Sleep(time.Second)
			put(coord.Delete("b/sharding/0/running"), coord.Put("a/config", []byte(small+fmt.Sprintf("description: %d\n", n))))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		wants(" b:OK:1", 0)
		wants(" a:DISABLED:0 b:OK:0", time.Second+10*time.Millisecond)
		quiet(3 * time.Second)

		doubts.Store(true)
		put(coord.Put("x/junk", nil))
		wants(" fault", time.Second)
		put(coord.Put("x/junk", nil))
		quiet(3 * time.Second)
		doubts.Store(false)
		put(coord.Put("x/junk", nil))
		wants("", time.Second)
		quiet(time.Minute)
	})
}

// While the store does not answer a watch says so, and since when; it says when that is over.
func TestWatchOfAStoreThatIsAway(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		reg, own := open(t, d), open(t, d).(*memory.Registry)
		plant(t, reg, "a", map[string]string{"config": small})
		all := ops.New(own)
		jobs := watching(t, func(ctx context.Context) iter.Seq2[ops.Update, error] { return all.Watch(ctx, 0) })
		one := watching(t, func(ctx context.Context) iter.Seq2[*ops.JobDetail, error] { return all.Job("a").Watch(ctx, 0) })
		if u, v := <-jobs, <-one; u.err != nil || u.what.Fault != "" || v.err != nil || v.what.Doubt != "" {
			t.Errorf("told %+v and %+v at the beginning", u, v)
		}
		own.Link().Cut()
		cut := time.Now()
		u, v := <-jobs, <-one
		if !strings.Contains(u.what.Fault, "unavailable") || !u.what.FaultSince.Equal(cut) || v.what.Doubt != u.what.Fault || !v.what.DoubtSince.Equal(cut) {
			t.Errorf("told %+v and %+v, cut at %v", u.what, v.what, cut)
		}
		if took := time.Since(cut); took > time.Second {
			t.Errorf("told after %v", took)
		}
		own.Link().Heal()
		u, v = <-jobs, <-one
		if u.what.Fault != "" || !u.what.FaultSince.IsZero() || v.what.Doubt != "" || !v.what.DoubtSince.IsZero() {
			t.Errorf("told %+v and %+v when it is over", u.what, v.what)
		}
	})
}

// The next tick is told anew when it has come, and when a calendar changes that leaves it out.
func TestWatchTellsNextTicks(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		reg := open(t, d)
		plant(t, reg, "a", map[string]string{"config": "cron: 0 0 * * * ?\njobName: a\nshardingTotalCount: 1\ntimeZone: GMT+00:00\nprops:\n  schedule.calendars: quiet\n"})
		all := ops.New(reg)
		if _, err := all.PutCalendar(t.Context(), ops.PutCalendarRequest{Name: "quiet", Document: []byte("timeZone: UTC\ndates: [2020-01-01]\n")}); err != nil {
			t.Fatal(err)
		}
		updates := watching(t, func(ctx context.Context) iter.Seq2[ops.Update, error] { return all.Watch(ctx, 0) })
		next := func() time.Time {
			t.Helper()
			u := <-updates
			if u.err != nil || len(u.what.Jobs) != 1 || u.what.Jobs[0].NextError != "" {
				t.Fatalf("told %+v", u)
			}
			return u.what.Jobs[0].Next
		}
		first := next()
		if until := time.Until(first); until <= 0 || until > time.Hour {
			t.Errorf("the next tick comes at %v", first)
		}
		if second := next(); !second.Equal(first.Add(time.Hour)) || time.Since(first) > time.Second {
			t.Errorf("at %v the next tick is %v", time.Now(), second)
		}
		if _, err := all.PutCalendar(t.Context(), ops.PutCalendarRequest{Name: "quiet", Document: []byte("timeZone: UTC\ndates: [" + first.UTC().Format(time.DateOnly) + "]\n")}); err != nil {
			t.Fatal(err)
		}
		if third := next(); !third.Equal(first.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)) {
			t.Errorf("with a day off the next tick is %v", third)
		}
	})
}

// A watch ends with its context, with its job, and with its loop.
func TestEndOfAWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.NewStore(memory.Options{})
		t.Cleanup(s.Close)
		d := dial(func() (coord.Registry, error) { return s.Dial(t.Context(), memory.Config{Namespace: "ops"}) })
		reg := open(t, d)
		plant(t, reg, "a", map[string]string{"config": small})
		all := ops.New(reg)
		watches := s.Watches()
		for range all.Watch(t.Context(), 0) {
			break
		}
		enough := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, enough)
		defer cancel()
		var last error
		for _, err := range all.Watch(ctx, 0) {
			last = err
		}
		if !errors.Is(last, enough) {
			t.Errorf("got %v", last)
		}
		time.AfterFunc(time.Minute, func() {
			if err := all.Job("a").Remove(t.Context(), ops.RemoveRequest{}); err != nil {
				t.Error(err)
			}
		})
		details := 0
		for detail, err := range all.Job("a").Watch(t.Context(), 0) {
			if last = err; err == nil && detail.Info.Name == "a" {
				details++
			}
		}
		if !errors.Is(last, ops.ErrNoJob) || details != 1 {
			t.Errorf("got %v after %d", last, details)
		}
		for _, name := range []string{"a", "", "x/y"} {
			for _, last = range all.Job(name).Watch(t.Context(), 0) {
				if !errors.Is(last, ops.ErrNoJob) {
					t.Errorf("%q: got %v", name, last)
				}
			}
		}
		if s.Watches() != watches {
			t.Errorf("%d watches are left, %d were there", s.Watches(), watches)
		}
		other, err := d()
		if err != nil {
			t.Fatal(err)
		}
		for _, last = range ops.New(other).Watch(t.Context(), 0) {
			if last == nil {
				if err := other.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !errors.Is(last, coord.ErrClosed) {
			t.Errorf("got %v", last)
		}
	})
}

// What is told of a live job is what a read returns.
func TestWatchOfALiveJob(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		begun, hang := make(chan struct{}, 10), make(chan struct{})
		s := runs(t, d, settle(), "10.0.0.1", func(ctx context.Context, _ job.ShardingContext) error {
			begun <- struct{}{}
			select {
			case <-hang:
			case <-ctx.Done():
			}
			return nil
		})
		owns(t, s, 3)
		all := ops.New(open(t, d))
		jobs := watching(t, func(ctx context.Context) iter.Seq2[ops.Update, error] { return all.Watch(ctx, time.Millisecond) })
		details := watching(t, func(ctx context.Context) iter.Seq2[*ops.JobDetail, error] {
			return all.Job("settle").Watch(ctx, time.Millisecond)
		})
		sees := func(what string, ok func(ops.JobInfo) bool) {
			t.Helper()
			until(t, ctx, jobs, what, func(u ops.Update) bool { return len(u.Jobs) == 1 && ok(u.Jobs[0]) })
			until(t, ctx, details, what, func(d *ops.JobDetail) bool { return ok(d.Info) })
			if info, err := all.Job("settle").Info(ctx); err != nil || !ok(info) {
				t.Errorf("%s: read %+v, %v", what, info, err)
			}
		}
		sees("the job", func(i ops.JobInfo) bool { return i.Status == ops.JobOK && i.Instances == 1 })
		request, err := all.Job("settle").Trigger(ctx, job.TriggerRequest{Items: []int{2}})
		if err != nil {
			t.Fatal(err)
		}
		<-begun
		sees("a run", func(i ops.JobInfo) bool { return i.Running == 1 && i.Requests == 1 })
		close(hang)
		if _, err := request.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		sees("its end", func(i ops.JobInfo) bool {
			return i.Running == 0 && i.Requests == 0 && i.Last.Item == 2 && i.Last.Outcome == "OK"
		})
		if err := s.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		sees("the end of the instance", func(i ops.JobInfo) bool { return i.Status == ops.JobStopped && i.Leader == "" })
	})
}

// until receives what is told until it is as wanted.
func until[T any](t *testing.T, ctx context.Context, updates <-chan told[T], what string, ok func(T) bool) {
	t.Helper()
	for {
		select {
		case u := <-updates:
			if u.err != nil {
				t.Fatalf("%s: %v", what, u.err)
			}
			if ok(u.what) {
				return
			}
		case <-ctx.Done():
			t.Fatalf("not told: %s", what)
		}
	}
}

// Whatever happens to a namespace, what a watch has told by then is what a list shows.
func TestWatchAgreesWithTheList(t *testing.T) {
	path := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"a", "a-b", "a.b", "b", "ä", "~elasticjob/calendars"}).Draw(t, "job") + rapid.SampledFrom([]string{
			"", "/config", "/config", "/config", "/servers/192.0.2.2", "/instances/" + here, "/instances/" + gone, "/sessions/" + here, "/leader/election/instance", "/schedule", "/sharding/0", "/sharding/0/instance",
			"/sharding/0/running", "/sharding/0/completed", "/sharding/1/completed", "/sharding/1/disabled", "/sharding/2", "/faults/" + here, "/pins/0", "/requests/000000000001-x", "/leader/failover/items/1", "/cursor/0", "/quiet",
			"/instances/x/below", "/sharding/0/running/below", "/config/below", "/a",
		}).Draw(t, "path")
	})
	value := rapid.SampledFrom([]string{
		"", small, strings.Replace(small, "\n", "\nprops:\n  schedule.calendars: quiet\n", 1), here, gone, "DISABLED", "out: FAILED\n", "out: OK\n", "faults:\n- kind: clock\n  cause: off\n",
		"paused: 2026-11-22T12:00:00Z\n", "items: 0-1\nsource: MANUAL\n", "label: gpu\n", "timeZone: UTC\ndates: [2000-01-01]\n", "[",
	})
	rapid.Check(t, func(r *rapid.T) {
		virtual(t, func(t *testing.T, d dial) {
			reg := open(t, d)
			known := map[string]ops.JobInfo{}
			updates := watching(t, func(ctx context.Context) iter.Seq2[ops.Update, error] {
				return ops.New(reg).Watch(ctx, time.Millisecond)
			})
			for range rapid.IntRange(1, 20).Draw(r, "changes") {
				op := coord.Put(path.Draw(r, "put"), []byte(value.Draw(r, "value")))
				if rapid.IntRange(0, 3).Draw(r, "removes") == 0 {
					op = coord.DeleteTree(path.Draw(r, "removed"))
				}
				if _, err := reg.Commit(t.Context(), op); err != nil {
					r.Fatal(err)
				}
				for isTold := true; isTold; {
					time.Sleep(10 * time.Millisecond)
					synctest.Wait()
					select {
					case u := <-updates:
						for _, i := range u.what.Jobs {
							known[i.Name] = i
						}
						for _, name := range u.what.Removed {
							delete(known, name)
						}
					default:
						isTold = false
					}
				}
				list, err := ops.New(reg).Jobs(t.Context(), ops.JobsQuery{})
				if err != nil {
					r.Fatal(err)
				}
				shown := map[string]ops.JobInfo{}
				for _, i := range list.Jobs {
					shown[i.Name] = i
				}
				if !maps.Equal(known, shown) {
					r.Errorf("after %v: told %+v, and the list has %+v", op, known, shown)
				}
			}
		})
	})
}
