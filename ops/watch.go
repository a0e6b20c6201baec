package ops

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// DefaultEvery is the least time between two updates of a watch.
const DefaultEvery = 200 * time.Millisecond

// Update says which jobs are new, or otherwise than before.
type Update struct {
	// Jobs are those, by name. In the first update they are all that there are.
	Jobs []JobInfo `json:"jobs,omitempty"`
	// Removed are the names of jobs that are gone, ascending.
	Removed []string `json:"removed,omitempty"`
	// Fault says why what is told may be incomplete or old; empty if it is neither. The watch goes on.
	Fault string `json:"fault,omitempty"`
	// FaultSince is since when it may be old; zero if it is only incomplete.
	FaultSince time.Time `json:"faultSince,omitzero"`
}

// Watch follows the jobs of the namespace by one view. The first update has all of them; each
// further one has those that have changed since the one before, as they are then. A JobInfo is
// told anew also when its next tick has come. Between two updates there is some time: a positive
// every, or DefaultEvery. Whoever needs longer for one gets fewer, and always the newest state: nothing
// piles up.
//
//	for update, err := range jobs.Watch(ctx, time.Second) {
//		if err != nil {
//			return err
//		}
//		show(update)
//	}
//
// It works in the loop's goroutine, and closes its view at the end of the loop. The process holds the
// namespace in memory meanwhile: 500 to 900 bytes for each node, and of a job at most 64 MiB of values.
//
// The error is the last that comes: the cause of ctx when that ends; those of a read when the view
// is opened; coord.ErrClosed.
func (o *Ops) Watch(ctx context.Context, every time.Duration) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		w := &watch{ops: o, jobs: map[jobtree.Job]*watched{}}
		var told *Update // whose fault was told last
		err := o.follow(ctx, "", every, func(now coord.Snapshot, doubt error) (bool, time.Duration) {
			u := w.look(now)
			u.Fault, u.FaultSince = doubtOf(doubt)
			if told != nil && len(u.Jobs)+len(u.Removed) == 0 && u.Fault == told.Fault && u.FaultSince.Equal(told.FaultSince) {
				return true, w.until(w.dues.first())
			}
			told = &Update{Fault: u.Fault, FaultSince: u.FaultSince}
			return yield(u, nil), w.until(w.dues.first())
		})
		if err != nil {
			yield(Update{}, fmt.Errorf("watch: %w", err))
		}
	}
}

// Watch follows all of one job, as [Ops.Watch] does: it tells what [Job.Describe] returns whenever
// that has changed, or the next tick has come. It ends with ErrNoJob if the job is not there, or is removed.
func (j *Job) Watch(ctx context.Context, every time.Duration) iter.Seq2[*JobDetail, error] {
	return func(yield func(*JobDetail, error) bool) {
		isThere := true
		err := j.check()
		if err == nil {
			err = j.ops.follow(ctx, j.name.Root(), every, func(now coord.Snapshot, doubt error) (bool, time.Duration) {
				s := jobtree.Read(now, j.name)
				if isThere = s.Config != nil; !isThere {
					return false, 0
				}
				f := j.ops.newInformant(ctx)
				d := f.detail(j.name, s)
				d.Doubt, d.DoubtSince = doubtOf(doubt)
				return yield(d, nil), f.until(d.Info.Next)
			})
		}
		if err == nil && !isThere {
			err = ErrNoJob
		}
		if err != nil {
			yield(nil, fmt.Errorf("job %s: watch: %w", brief.Text(string(j.name)), err))
		}
	}
}

// doubtOf returns why what a view with a fault shows may be incomplete or old, and since when it may be old.
func doubtOf(fault error) (why string, since time.Time) {
	if stale, ok := errors.AsType[*coord.StaleError](fault); ok {
		fault, since = stale.Err, stale.Since
	}
	if fault == nil {
		return "", time.Time{}
	}
	return brief.Error(fault).Error(), since
}

// follow opens a view, and has look called with what it shows, and with what is wrong with it: at
// once, after each change, and when the time has passed that look returns; 0 is never. It ends when
// look returns false.
func (o *Ops) follow(ctx context.Context, path string, every time.Duration, look func(coord.Snapshot, error) (goOn bool, again time.Duration)) error {
	if every <= 0 {
		every = DefaultEvery
	}
	view, err := o.reg.View(ctx, path, coord.AllLevels, jobtree.SharedBounds())
	if err != nil {
		return err
	}
	defer view.Close()
	pause, tick := time.NewTimer(0), time.NewTimer(0)
	defer pause.Stop()
	defer tick.Stop()
	for {
		select { // so that changes come together
		case <-pause.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		changed := view.Changed()
		if err := view.Err(); err != nil {
			return err
		}
		goOn, again := look(view.Snapshot(), view.Fault())
		if !goOn {
			return nil
		}
		pause.Reset(every)
		tick.Stop()
		if again > 0 {
			tick.Reset(again)
		}
		select {
		case <-changed:
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// watch is what a watch of the namespace knows.
type watch struct {
	ops   *Ops
	shown coord.Snapshot
	jobs  map[jobtree.Job]*watched
	dues  dues
	*informant
}

// watched is a job that was told.
type watched struct {
	*jobtree.State
	info JobInfo
}

// look takes in what the namespace shows now, in time in proportion to what has changed.
func (w *watch) look(now coord.Snapshot) (u Update) {
	changed := w.changes(now)
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		j := w.read(name, now, changed[name])
		if j == nil {
			if w.jobs[name] != nil {
				u.Removed = append(u.Removed, string(name))
				delete(w.jobs, name)
			}
			continue
		}
		w.jobs[name] = j
		info := w.job(name, j.State)
		if info.Next != j.info.Next {
			w.dues.add(info.Next, name)
		}
		if info != j.info {
			j.info = info
			u.Jobs = append(u.Jobs, info)
		}
	}
	w.shown = now
	w.forgetDues()
	return u
}

// read returns a job as the namespace shows it now; nil if it is not there.
func (w *watch) read(name jobtree.Job, now coord.Snapshot, hasChanged bool) *watched {
	if _, isThere := now.Get(name.Config()); !isThere {
		return nil // what is left of a job that was removed may be large
	}
	j := w.jobs[name]
	switch {
	case j == nil:
		j = &watched{State: jobtree.Read(now, name)}
	case hasChanged:
		j.Follow(now.Sub(name.Root()), w.shown.Sub(name.Root()), name)
	}
	if j.Config == nil {
		return nil
	}
	return j
}

// changes returns the jobs to look at, and for each whether its tree has changed. For the others it
// is a tick that has come, or a calendar.
func (w *watch) changes(now coord.Snapshot) map[jobtree.Job]bool {
	changed := map[jobtree.Job]bool{}
	isOther := w.informant == nil
	for n := range now.Diff(w.shown) {
		if name, _, _ := strings.Cut(n.Path, "/"); isJob(name) {
			changed[jobtree.Job(name)] = true
		} else if coord.Within(n.Path, jobtree.Calendars) {
			isOther = true
		}
	}
	w.inform(now, isOther)
	look := func(name jobtree.Job) {
		if !changed[name] {
			changed[name] = false
		}
	}
	for _, name := range w.dues.take(w.now) {
		if j := w.jobs[name]; j != nil && !j.info.Next.After(w.now) { // else it has another tick meanwhile
			j.info.Next = time.Time{} // so that the next one is told and noted, whichever it is
			look(name)
		}
	}
	if isOther {
		for name, j := range w.jobs {
			if j.info.Calendars > 0 {
				look(name)
			}
		}
	}
	return changed
}

// inform tells from now on what holds now. Calendars that have not changed are not read again.
func (w *watch) inform(now coord.Snapshot, isOther bool) {
	next := &informant{now: w.ops.now()}
	if isOther {
		next.calendars = sync.OnceValues(func() (map[string]*Calendar, error) {
			byName := map[string]*Calendar{}
			for n := range now.All(jobtree.Calendars) {
				c := calendarOf(n)
				byName[c.Name] = c
			}
			return byName, nil
		})
	} else {
		next.calendars = w.calendars
	}
	w.informant = next
}

// forgetDues forgets ticks that jobs had before they were changed, once these are the most.
func (w *watch) forgetDues() {
	if len(w.dues) <= 2*len(w.jobs)+100 {
		return
	}
	w.dues = nil
	for name, j := range w.jobs {
		w.dues.add(j.info.Next, name)
	}
}

// until is how long it is to a tick, and a little longer; 0 if there is none.
func (f *informant) until(tick time.Time) time.Duration {
	if tick.IsZero() {
		return 0
	}
	return max(tick.Sub(f.now), 0) + time.Millisecond
}
