package diagnose

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
)

// text says why an item has not begun.
func (r reason) text(p Pass, whyBusy func() string) string {
	var why string
	switch {
	case r.elsewhere.Reason != decide.NotStalled:
		why = whyStalled(p, r.elsewhere)
	case r.held != nil:
		why = fmt.Sprintf("it waits for Started of its tick, which %s calls", brief.Text(r.held.Starter))
	case r.earlier != nil && r.earlier.Tick.IsZero():
		why = fmt.Sprintf("its execution that began at %s is not through", p.dateTime(r.earlier.Begun))
	case r.earlier != nil:
		why = fmt.Sprintf("its execution of %s is not through", p.dateTime(r.earlier.Tick))
	default:
		why = whyBusy()
	}
	if r.request != "" {
		return fmt.Sprintf("request %s waits for it: %s", brief.Text(r.request), why)
	}
	return why
}

// dateTime returns the text of a time in the zone of the job.
func (p Pass) dateTime(t time.Time) string { return t.In(p.Settings.Zone).Format(time.DateTime) }

// whyStalled says why an item that others should have begun does not begin.
func whyStalled(p Pass, l decide.Stalled) string {
	id := brief.Text(l.Instance)
	switch l.Reason {
	case decide.NobodyHasLabel:
		return fmt.Sprintf("no instance has the label %q", brief.Text(p.World.Rules.Label))
	case decide.NobodyMay:
		return "no instance may have it: all refuse the configuration, or have clocks that are off"
	case decide.NobodyHasThread:
		return "it waits to be run again, and no instance has a free thread for it"
	case decide.WaitsForEarlier:
		return "it waits to be run again until an earlier execution of it is through"
	case decide.HasNoOwner:
		return "it has no owner"
	case decide.MatchesNobody:
		return "it has no owner, because it is pinned, and there is no such instance"
	case decide.HasNoRoom:
		return fmt.Sprintf("it has no owner, because no instance may have more than %d items", p.World.Rules.MaxItems)
	case decide.OwnerIsGone:
		return fmt.Sprintf("its instance %s is gone, and it is not assigned again", id)
	case decide.OwnerMayNot:
		return fmt.Sprintf("its instance %s may not have it now, and it is not assigned again", id)
	case decide.OwnerIsStatic:
		return fmt.Sprintf("its instance %s is gone, and static sharding keeps it there for a while", id)
	case decide.OwnerDoesNotBegin:
		return fmt.Sprintf("its instance %s is there and does not begin it", id)
	case decide.RunnerIsDead:
		return fmt.Sprintf("its instance %s has ended, and it is not recovered", id)
	case decide.AllDisabled:
		return "all servers are disabled"
	case decide.OwnerIsOld:
		return fmt.Sprintf("its instance %s shares the tree by a protocol that has no requests; update its program", id)
	case decide.RunnerGoesOn:
		if l.Tick.IsZero() {
			return fmt.Sprintf("an execution of it at %s is not through", id)
		}
		return fmt.Sprintf("its execution of %s at %s is not through", p.dateTime(l.Tick), id)
	}
	return "nobody knows why"
}

// whyBusy says what keeps this instance from beginning an item.
func (d *Diagnosis) whyBusy(p Pass, runs map[int]Run) string {
	executing := 0
	var oldest Run
	for _, r := range runs {
		if r.Phase != exec.Executing {
			continue
		}
		if executing++; executing == 1 || r.Begun.Before(oldest.Begun) {
			oldest = r
		}
	}
	switch {
	case executing < p.Threads && d.config.Threads.Waits():
		return fmt.Sprintf("all %d threads that the jobs of this process share are busy", d.config.Threads.Limit())
	case executing < p.Threads:
		if f, _ := d.config.Commits.Oldest(func(error) bool { return true }, 0); f != nil {
			return brief.Text("its claim does not succeed: " + f.Err.Error())
		}
		return "its claim does not succeed"
	case executing == 0:
		return fmt.Sprintf("all %d threads are busy", p.Settings.ThreadCount)
	case p.Threads < p.Settings.ThreadCount:
		return fmt.Sprintf("an instance may run no more than %d items at a time, and this one runs item %d since %s", p.Threads, oldest.Item, oldest.Begun.Format(time.DateTime))
	}
	return fmt.Sprintf("all %d threads are busy, one of them with item %d since %s", p.Settings.ThreadCount, oldest.Item, oldest.Begun.Format(time.DateTime))
}
