package job_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

const (
	nothingOut    = "timeZone: UTC\n"
	everythingOut = "timeZone: UTC\nweekly: [MON-SUN]\n"
)

// putCalendar writes a calendar as an operator does.
func (c *cluster) putCalendar(name, document string) ops.PutCalendarResult {
	c.Helper()
	result, err := ops.New(c.admin).PutCalendar(c.Context(), ops.PutCalendarRequest{Name: name, Document: []byte(document)})
	c.must(err)
	return result
}

// leavingOut returns the calendar that leaves out the time from one instant up to another.
func leavingOut(t testing.TB, from, to time.Time) string {
	t.Helper()
	const layout = "20060102T150405Z"
	c, err := calendar.FromICalendar("UTC", fmt.Appendf(nil, "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:%s\nDTEND:%s\nEND:VEVENT\nEND:VCALENDAR\n",
		from.UTC().Format(layout), to.UTC().Format(layout)))
	if err != nil {
		t.Fatal(err)
	}
	return string(c.Document())
}

// calendarConfig is a job of every second that goes by calendars.
func (c *cluster) calendarConfig(names ...string) job.Config {
	cfg := c.config()
	cfg.Calendars = names
	return cfg
}

func after(at time.Time) func(execution) bool {
	return func(e execution) bool { return e.ScheduledTime.After(at) }
}

// awaitTime waits until a time has come.
func (c *cluster) awaitTime(at time.Time) {
	c.Helper()
	c.must(elapse(c.Context(), time.Until(at)))
}

// Ticks at a time that a calendar leaves out do not run, and are not made up, also if another
// process comes up meanwhile. Those before and after run.
func TestTicksThatACalendarLeavesOut(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		from := time.Now().Truncate(time.Second).Add(4 * time.Second)
		to := from.Add(4 * time.Second)
		c.putCalendar("break", leavingOut(t, from, to))
		m := c.join("10.0.0.1", c.calendarConfig("break"), nil)
		c.awaitRuns("ticks before it", 3, anything)
		c.awaitTime(from.Add(1500 * time.Millisecond))
		if s := m.awaitStatus("the next tick", func(s job.Status) bool { return !s.NextTick.Before(to) }); !s.NextTick.Equal(to) {
			t.Errorf("the next tick is %s, want %s", s.NextTick, to)
		}
		m.leave()
		c.join("10.0.0.2", c.calendarConfig("break"), nil)
		c.awaitRuns("ticks after it", 6, func(e execution) bool { return !e.ScheduledTime.Before(to) })
		for _, e := range c.record.find(anything) {
			if !e.ScheduledTime.Before(from) && e.ScheduledTime.Before(to) || e.begin.After(from.Add(time.Second)) && e.begin.Before(to.Add(-100*time.Millisecond)) {
				t.Errorf("begun: %+v", e)
			}
		}
		c.check()
	})
}

// A calendar that changes is in force a moment later, also in a running job. Ticks that an
// earlier one has left out are not made up, and a pause stays.
func TestCalendarChanges(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.putCalendar("b", nothingOut)
		c.putCalendar("a", nothingOut)
		m := c.join("10.0.0.1", c.calendarConfig("b", "a"), nil)
		other := c.join("10.0.0.2", c.calendarConfig("b", "a"), nil)
		c.awaitRuns("ticks", 6, anything)
		if got := c.putCalendar("a", everythingOut); !slices.Equal(got.Jobs, []string{"settle"}) || !slices.Equal(got.Idle, got.Jobs) {
			t.Errorf("%+v", got)
		}
		sum := func(document string) string {
			read, err := calendar.Parse([]byte(document))
			c.must(err)
			return read.Sum()
		}
		want := "a=" + sum(everythingOut) + ",b=" + sum(nothingOut)
		c.await("it is in force", func(s *jobtree.State) bool { return s.Schedule != nil && s.Schedule.Calendars == want })
		from := c.state().Schedule.Since
		m.awaitFault(jobtype.FaultConfig, "calendars leave out all ticks to come")
		other.awaitStatus("no next tick", func(s job.Status) bool { return s.NextTick.IsZero() })
		c.elapseTicks(3)
		c.putCalendar("a", nothingOut)
		c.await("it is in force", func(s *jobtree.State) bool { return s.Schedule.Since.After(from) })
		to := c.state().Schedule.Since
		c.awaitRuns("ticks again", 6, after(to))
		m.awaitFaultOver(jobtype.FaultConfig)
		if ran := c.record.find(func(e execution) bool { return e.ScheduledTime.After(from) && !e.ScheduledTime.After(to) }); len(ran) > 0 {
			t.Errorf("begun for ticks that were left out: %+v", ran)
		}
		c.pause(false)
		c.putCalendar("a", everythingOut)
		c.await("it is in force", func(s *jobtree.State) bool { return s.Schedule.Calendars == want })
		if !c.state().Schedule.IsPaused() {
			t.Error("the pause has ended")
		}
		c.resume(nil)
		if got := c.state().Schedule.Calendars; got != want {
			t.Errorf("after the pause: %q", got)
		}
		// Without calendars all ticks run.
		c.configure(func(cfg *job.Config) { cfg.Calendars = nil })
		c.await("no calendars are in force", func(s *jobtree.State) bool { return s.Schedule.Calendars == "" })
		c.awaitRuns("ticks without calendars", 3, after(c.state().Schedule.Since))
		c.check()
	})
}

// If a calendar goes, or cannot be read, processes go on by the last good one. One that comes up
// then has none: it begins nothing, and others get its items. All of that is a fault, and is over
// when the calendar is back.
func TestCalendarGoes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.putCalendar("holidays", nothingOut)
		a := c.join("10.0.0.1", c.calendarConfig("holidays"), nil)
		c.awaitRuns("ticks", 3, anything)
		since := c.state().Schedule.Since
		c.commit(coord.Delete(jobtree.Calendar("holidays")))
		a.awaitFault(jobtype.FaultCalendar, "calendar holidays (~elasticjob/calendars/holidays): there is no such node; the last good one stays in force")
		b := c.join("10.0.0.2", c.calendarConfig("holidays"), nil)
		b.awaitFault(jobtype.FaultCalendar, "this process has never read it")
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		now := time.Now()
		c.awaitRuns("ticks by the last good one", 9, after(now))
		c.commit(coord.Put(jobtree.Calendar("holidays"), []byte("dates: 12-25")))
		a.awaitFault(jobtype.FaultCalendar, "timeZone: a name is needed")
		c.configure(func(cfg *job.Config) { cfg.MoreCrons = []string{"0 0 0 1 1 ?"} }) // the record can be written nevertheless
		c.await("other expressions are in force", func(s *jobtree.State) bool { return s.Schedule.Since.After(since) })
		c.awaitRuns("ticks of other expressions", 3, after(c.state().Schedule.Since))
		c.putCalendar("holidays", nothingOut)
		a.awaitFaultOver(jobtype.FaultCalendar)
		b.awaitFaultOver(jobtype.FaultCalendar)
		c.await("it has items again", func(s *jobtree.State) bool { return len(owners(s, 3)["10.0.0.2"]) > 0 })
		now = time.Now()
		c.awaitRuns("ticks on both", 6, func(e execution) bool { return e.ScheduledTime.After(now) && e.ip == "10.0.0.2" })
		for _, e := range c.record.find(func(e execution) bool { return e.ip != "10.0.0.1" && !e.ScheduledTime.After(now) }) {
			if e.begin.Before(since) {
				t.Errorf("begun without a calendar: %+v", e)
			}
		}
		c.check()
	})
}

// When all processes have ended and the calendar is gone, nobody begins a tick until it is back.
// The schedule is in force since when it was: what was missed is made up as always.
func TestRestartWithoutTheCalendar(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.putCalendar("holidays", nothingOut)
		m := c.join("10.0.0.1", c.calendarConfig("holidays"), nil)
		c.awaitRuns("ticks", 3, anything)
		schedule := c.state().Schedule.ScheduleDocument
		m.leave()
		err := ops.New(c.admin).RemoveCalendar(t.Context(), ops.RemoveCalendarRequest{Name: "holidays"})
		var used *ops.CalendarUsedError
		if !errors.Is(err, ops.ErrCalendarUsed) || !errors.As(err, &used) || !slices.Equal(used.Jobs, []string{"settle"}) {
			t.Fatalf("removed: %v", err)
		}
		c.must(ops.New(c.admin).RemoveCalendar(t.Context(), ops.RemoveCalendarRequest{Name: "holidays", Force: true}))
		ran := len(c.record.find(anything))
		m = c.join("10.0.0.2", c.calendarConfig("holidays"), nil)
		m.awaitFault(jobtype.FaultCalendar, "this process has never read it, and begins no ticks")
		c.elapseTicks(3)
		if got := c.record.find(anything); len(got) > ran || c.state().Schedule.ScheduleDocument != schedule {
			t.Errorf("%d executions, then %d; schedule %+v\n%s", ran, len(got), c.state().Schedule, c.record)
		}
		c.putCalendar("holidays", nothingOut)
		c.awaitRuns("ticks", 6, after(time.Now()))
		if got := c.state().Schedule.ScheduleDocument; got != schedule {
			t.Errorf("schedule %+v, want %+v", got, schedule)
		}
		m.awaitFaultOver(jobtype.FaultCalendar)
		c.check()
	})
}

// A backfill leaves out what the calendars do.
func TestBackfillByCalendars(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.calendarConfig("break", "nothing")
		cfg.Cron = "0 * * * * ?"
		c.putCalendar("nothing", nothingOut)
		minute := time.Now().Truncate(time.Minute)
		c.putCalendar("break", leavingOut(t, minute.Add(-3*time.Minute), minute.Add(-time.Minute)))
		c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		r := ops.BackfillRequest{From: minute.Add(-4 * time.Minute), To: minute.Add(-time.Minute), Items: []int{0}}
		got, err := c.ops().Backfill(t.Context(), r)
		c.must(err)
		if len(got.Ticks) != 2 || !got.Ticks[0].Equal(r.From) || !got.Ticks[1].Equal(r.To) {
			t.Errorf("ticks %v", got.Ticks)
		}
		if _, err := got.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		c.commit(coord.Delete(jobtree.Calendar("nothing")))
		if _, err := c.ops().Backfill(t.Context(), r); !errors.Is(err, ops.ErrNoCalendar) {
			t.Errorf("without the calendar: %v", err)
		}
	})
}

// Operators read, write and remove calendars.
func TestCalendarsOfOperators(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		o := ops.New(c.admin)
		if list, err := o.Calendars(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("%v, %v", list, err)
		}
		if _, err := o.Calendar(t.Context(), "a"); !errors.Is(err, ops.ErrNoCalendar) {
			t.Error(err)
		}
		c.putCalendar("b", nothingOut)
		c.putCalendar("a", everythingOut)
		a, err := o.Calendar(t.Context(), "a")
		if err != nil || string(a.Document) != everythingOut || a.Err != nil || a.Calendar == nil {
			t.Fatalf("%+v, %v", a, err)
		}
		if _, err := o.PutCalendar(t.Context(), ops.PutCalendarRequest{Name: "a", Document: []byte(nothingOut), Version: &a.Version}); err != nil {
			t.Error(err)
		}
		if _, err := o.PutCalendar(t.Context(), ops.PutCalendarRequest{Name: "a", Document: []byte(nothingOut), Version: &a.Version}); !errors.Is(err, ops.ErrCalendarChanged) {
			t.Errorf("an old version: %v", err)
		}
		for name, r := range map[string]ops.PutCalendarRequest{
			"no name": {Document: []byte(nothingOut)}, "a path": {Name: "a/b", Document: []byte(nothingOut)}, "nonsense": {Name: "c", Document: []byte("dates: 12")},
		} {
			if _, err := o.PutCalendar(t.Context(), r); err == nil {
				t.Errorf("%s was accepted", name)
			}
		}
		c.commit(coord.Put(jobtree.Calendar("c"), []byte("x")))
		var names []string
		list, err := o.Calendars(t.Context())
		for _, one := range list {
			names = append(names, fmt.Sprintf("%s %v", one.Name, one.Err == nil))
		}
		if want := []string{"a true", "b true", "c false"}; err != nil || !slices.Equal(names, want) {
			t.Errorf("%q, %v, want %q", names, err, want)
		}
		if err := o.RemoveCalendar(t.Context(), ops.RemoveCalendarRequest{Name: "a", Version: &a.Version, Force: true}); !errors.Is(err, ops.ErrCalendarChanged) {
			t.Errorf("removed on what was read before: %v", err)
		}
		c.ok(errors.Join(o.RemoveCalendar(t.Context(), ops.RemoveCalendarRequest{Name: "a"}), o.RemoveCalendar(t.Context(), ops.RemoveCalendarRequest{Name: "c", Force: true})))
		if err := o.RemoveCalendar(t.Context(), ops.RemoveCalendarRequest{Name: "a"}); !errors.Is(err, ops.ErrNoCalendar) {
			t.Error(err)
		}
	})
}

// viewing counts the views that are open of the calendars.
type viewing struct {
	counting
	opened, closed atomic.Int32
}

func (r *viewing) View(ctx context.Context, path string, depth int, bounds ...coord.Bounds) (coord.View, error) {
	v, err := r.Registry.View(ctx, path, depth, bounds...)
	if err != nil || path != jobtree.Calendars {
		return v, err
	}
	r.opened.Add(1)
	return closing{v, &r.closed}, nil
}

type closing struct {
	coord.View
	closed *atomic.Int32
}

func (v closing) Close() {
	v.closed.Add(1)
	v.View.Close()
}

// All jobs of a node share one view of the calendars, which is open while one of them names any.
// A calendar that changes costs each job that names it one commit, and the others nothing.
func TestJobsOfANodeShareTheCalendars(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewStore(memory.Options{})
		defer store.Close()
		dialed, err := store.Dial(t.Context(), memory.Config{Namespace: "node"})
		if err != nil {
			t.Fatal(err)
		}
		defer closeRegistry(t, dialed)
		reg := &viewing{counting: counting{Registry: dialed}}
		n, err := job.NewNode(reg, job.NodeConfig{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := n.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			if reg.opened.Load() != reg.closed.Load() {
				t.Errorf("%d views opened, %d closed", reg.opened.Load(), reg.closed.Load())
			}
		}()
		put := func(name, document string) {
			t.Helper()
			if _, err := dialed.Commit(t.Context(), coord.Put(jobtree.Calendar(name), []byte(document))); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		put("holidays", nothingOut)
		put("other", nothingOut)
		start := func(name string, calendars ...string) *job.Scheduler {
			t.Helper()
			s, err := n.Schedule(t.Context(), job.Config{Name: name, Cron: rarely, ShardingTotalCount: 1, Calendars: calendars, ReconcileInterval: -1}, job.HandlerFunc(untilDone))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		start("without")
		synctest.Wait()
		if reg.opened.Load() > 0 {
			t.Error("a view is open for a job that names no calendars")
		}
		const jobs = 100
		var named []*job.Scheduler
		for i := range jobs {
			named = append(named, start(fmt.Sprintf("job-%d", i), "holidays"))
		}
		start("elsewhere", "other")
		synctest.Wait()
		if opened, closed := reg.opened.Load(), reg.closed.Load(); opened != 1 || closed != 0 {
			t.Errorf("%d views opened, %d closed", opened, closed)
		}
		reg.take()
		put("holidays", "timeZone: UTC\ndates: [12-25]\n")
		commits, others := reg.take()
		if len(commits) != jobs || len(others) > 0 {
			t.Errorf("a change costs %d commits and %q", len(commits), others)
		}
		for _, commit := range commits {
			if path := commit[len(commit)-1].Path; !strings.HasPrefix(path, "job-") || !strings.HasSuffix(path, "/schedule") {
				t.Errorf("writes %s", path)
			}
		}
		t.Logf("a calendar that %d jobs name changes: %d commits, %d reads", jobs, len(commits), len(others))
		put("unnamed", nothingOut)
		if commits, others := reg.take(); len(commits) > 0 || len(others) > 0 {
			t.Errorf("a calendar that nobody names costs %d commits and %q", len(commits), others)
		}
		if err := n.Job("elsewhere").Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		for _, s := range named {
			if err := s.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if opened, closed := reg.opened.Load(), reg.closed.Load(); opened != 1 || closed != 1 {
			t.Errorf("after the last job: %d views opened, %d closed", opened, closed)
		}
		again := start("again", "holidays")
		synctest.Wait()
		if reg.opened.Load() != 2 || again.Status().Fault() != nil {
			t.Errorf("%d views opened, %v", reg.opened.Load(), again.Status().Fault())
		}
	})
}
