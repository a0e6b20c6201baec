package engine

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// live is what other goroutines see of a controller, guarded by its mu. Whoever asks for the
// status reads the session, the ticks and the view's fault anew (statusNow): the answer is
// true although the controller may be waiting for the store.
type live struct {
	status      Status        // publish, returns, end; without Running, which are the keys of runs
	runsChanged bool          // since the last publishRuns: setRun
	session     coord.Session // nil while there is none: showSession
	schedule    decide.Ticks  // publish
	ended       bool          // the loop has ended: end
	atWork      instant       // when the controller has got on last; zero while it waits for something to do: controller.atWork
	changed     chan struct{} // closed when status changes; nil if nobody waits: Scheduler.Changed, broadcast
	entered     chan struct{} // closed when session changes; nil if nobody waits: followSession, showSession
}

// publish shows others how this scheduler stands, and logs what has changed. w is nil while
// there is no session. After a narrow pass only the runs can differ.
func (c *controller) publish(w *decide.World) {
	if w != nil && w.Narrow != nil {
		c.publishRuns()
		return
	}
	s := Status{InstanceID: c.self.ID, Leaving: c.isLeaving(), Waiting: c.signs.waiting}
	if w != nil {
		s.Registered, s.Enabled, s.Leader = w.IsRegistered(), w.ServerEnabled(c.self.IP), w.Leads()
		s.Items = c.items()
		s.Expired = w.HasExpired()
		s.Paused = pauseOf(w)
		c.logTakenOver(s.Leaving || s.InstanceID != c.logged.failover.to)
	}
	s.Faults = slices.AppendSeq(s.Faults, c.holding())
	c.mu.Lock()
	s.LastError, s.LastErrorTime = c.live.status.LastError, c.live.status.LastErrorTime
	differs := !sameStatus(&s, &c.live.status)
	c.live.status = s
	if c.live.schedule = c.settings.rules.Ticks; w != nil {
		c.live.schedule = w.Ticks()
	}
	if differs {
		c.live.broadcast()
	}
	c.mu.Unlock()
	c.publishRuns()
	if s.Registered {
		c.started()
	}
}

// publishRuns tells those who wait for a change of the status that other items run now.
func (c *controller) publishRuns() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live.runsChanged {
		c.live.runsChanged = false
		c.live.broadcast()
	}
}

// setRun notes, for Status.Running, that an item has a run here or has none any more.
func (c *controller) setRun(item int, r *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live.runsChanged = true
	if r == nil {
		delete(c.runs, item)
		delete(c.work.Runs, item)
		return
	}
	c.runs[item], c.work.Runs[item] = r, &r.Run
}

// items lists the items that are assigned to this instance.
func (c *controller) items() []int {
	if !c.listed {
		c.owned, c.listed = ownItems(c.state, c.self.ID), true
	}
	return c.owned
}

// ownItems lists the items that are assigned to an instance.
func ownItems(s *jobtree.State, id string) (items []int) {
	for i := range s.Items {
		if s.Items[i].Owner.Is(id) {
			items = append(items, i)
		}
	}
	return items
}

// ownedItems counts the items that have an owner.
func ownedItems(s *jobtree.State) (n int) {
	for i := range s.Items {
		if s.Items[i].Owner != nil {
			n++
		}
	}
	return n
}

// showSession shows others the session; nil if there is none.
func (c *controller) showSession(s coord.Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live.session = s
	if c.live.entered != nil {
		close(c.live.entered)
		c.live.entered = nil
	}
	c.live.broadcast()
}

// withdraw shows others that there is no session any more.
func (c *controller) withdraw() {
	c.showSession(nil)
	c.publish(nil)
}

// atWork shows others that the controller works and gets on, or that it waits for something to
// do. While it works it calls that often: when a pass begins, and before and after requests to
// the store.
func (c *controller) atWork(works bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live.atWork = (instant{}); works {
		c.live.atWork = c.instant()
	}
}

const (
	// passPatience is how long a controller may work without getting on before that is a fault. A
	// request to a store that does not answer ends sooner (5 s by default).
	passPatience = 15 * time.Second
	// standstill is how long that may take before the process had better be restarted.
	standstill = time.Minute
)

// end shows others that the controller has ended.
func (c *controller) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live.ended, c.live.atWork = true, instant{}
	c.live.status.Faults, c.live.status.Waiting = nil, nil
	c.live.broadcast()
}

// broadcast wakes those who wait for a change of the status.
func (l *live) broadcast() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// statusNow returns the status at this moment.
func (c *controller) statusNow() Status {
	c.mu.Lock()
	s, session, schedule, ended, begun := cloneStatus(c.live.status), c.live.session, c.live.schedule, c.live.ended, c.live.atWork
	s.Running = slices.Sorted(maps.Keys(c.runs))
	c.mu.Unlock()
	s.Leaving = s.Leaving || c.isShutdown()
	now := c.now()
	if schedule != nil && !ended {
		s.LastTick, s.NextTick = schedule.Prev(now), schedule.Next(now)
		if !s.Paused.Since.IsZero() {
			s.NextTick = time.Time{}
		}
	}
	s.Session = stateOf(session)
	if ended || s.Session == coord.Lost {
		s.Registered, s.Leader = false, false
	}
	if ended {
		s.Items = nil
		return s
	}
	c.addFaults(&s, session, begun)
	return s
}

// faultsNow returns the faults at this moment. It costs less than statusNow.
func (c *controller) faultsNow() []Fault {
	c.mu.Lock()
	s, session, ended, begun := Status{Faults: slices.Clone(c.live.status.Faults)}, c.live.session, c.live.ended, c.live.atWork
	c.mu.Unlock()
	if !ended {
		s.Session = stateOf(session)
		c.addFaults(&s, session, begun)
	}
	return s.Faults
}

// stateOf returns the state of a session, which may be nil.
func stateOf(session coord.Session) coord.SessionState {
	if session == nil {
		return coord.Lost
	}
	state, _ := session.State() // nobody waits here for its change
	return state
}

// addFaults adds what the controller cannot tell as long as it waits. begun is live.atWork.
func (c *controller) addFaults(s *Status, session coord.Session, begun instant) {
	now := c.now()
	switch s.Session {
	case coord.Lost:
		addFault(s, Fault{Kind: jobtype.FaultStore, Err: fmt.Errorf("job %s: %w: there is no session", c.job, coord.ErrUnavailable), Since: now})
	case coord.Suspended:
		addFault(s, Fault{Kind: jobtype.FaultStore, Err: suspendedUntil(session.Deadline()), Since: now})
	}
	if err := c.view.Fault(); err != nil {
		addFault(s, Fault{Kind: health.KindOfView(err), Err: err, Since: now})
	}
	for i := range s.Faults {
		s.Faults[i].Since = c.sinceWhen(s.Faults[i].Kind, s.Faults[i].Since)
	}
	if !begun.mono.IsZero() && c.moment().Sub(begun.mono) > passPatience {
		addFault(s, Fault{Kind: jobtype.FaultStarvation, Err: fmt.Errorf("job %s: the scheduler has got no further since %s: what it called does not return; that may be the store, a strategy or a logger", c.job, begun.wall.Format(time.TimeOnly)), Since: begun.wall})
	}
}

// standsStill returns for how long the controller has called something that does not return, if
// that is longer than any request takes; otherwise 0.
func (c *controller) standsStill() time.Duration {
	c.mu.Lock()
	begun := c.live.atWork
	c.mu.Unlock()
	if begun.mono.IsZero() {
		return 0
	}
	if d := c.moment().Sub(begun.mono); d >= standstill {
		return d
	}
	return 0
}

func suspendedUntil(deadline time.Time) error {
	return fmt.Errorf("%w: the session is not renewed, and ends at %s", coord.ErrUnavailable, deadline.Format(time.TimeOnly))
}

// sinceWhen returns since when a fault holds that was noticed at a time: a store that does not answer
// is noticed later than it was heard last, and then its view says when that was.
func (c *controller) sinceWhen(kind FaultKind, noticed time.Time) time.Time {
	stale, ok := errors.AsType[*coord.StaleError](c.view.Fault())
	if ok && health.KindOfView(stale) == kind && stale.Since.Before(noticed) {
		return stale.Since
	}
	return noticed
}

// quietTime is how soon after its end a fault counts as come back. Such a fault is over only
// when it has stayed away for that long: one that comes and goes must not fill the log.
const quietTime = 30 * time.Second

// recurring is a fault that holds, or was over and may come back.
type recurring struct {
	Fault               // Err is nil while it does not hold
	began clocks.Moment // when it began
	ended clocks.Moment // when it was over last; zero if it never was
	again bool          // it began again within quietTime of that
	quiet since         // it does not hold
}

// fault notes that a fault holds, or with a nil err that it does not. Status shows a fault as
// long as it lasts; the log says when it begins and when it is over.
func (c *controller) fault(kind FaultKind, err error) {
	f, now := c.faults[kind], c.moment()
	if f == nil {
		if err == nil {
			return
		}
		f = &recurring{}
		c.faults[kind] = f
	}
	quiet := f.quiet.hold(err == nil, now)
	switch {
	case err == nil && f.Err == nil:
	case err == nil && f.again && quiet < quietTime:
		c.wakeIn(quietTime - quiet)
	case err == nil:
		f.ended = now
		c.reporter.Fault(c.self.ID, f.Fault, true)
		c.log.Info("fault is over", zap.Stringer("kind", kind), zap.Duration("after", now.Sub(f.began).Round(time.Millisecond)))
		f.Fault = Fault{}
	case f.Err == nil:
		f.again = !f.ended.IsZero() && now.Sub(f.ended) < quietTime
		f.Fault, f.began = Fault{Kind: kind, Err: err, Since: c.sinceWhen(kind, c.now())}, now
		c.reporter.Fault(c.self.ID, f.Fault, false)
		c.log.Error("job is at fault", zap.Stringer("kind", kind), zap.String("cause", brief.Cut(err.Error(), 2000)), zap.String("do", health.Remedy(kind)))
	case f.Err.Error() != err.Error():
		f.Err, f.Since = err, c.sinceWhen(kind, f.Since)
	}
}

// holding goes over the faults that hold.
func (c *controller) holding() iter.Seq[Fault] {
	return func(yield func(Fault) bool) {
		for _, f := range c.faults {
			if f != nil && f.Err != nil && !yield(f.Fault) {
				return
			}
		}
	}
}

// sameStatus reports whether two statuses are the same, but for what is added when somebody asks:
// the session, the ticks and the runs.
func sameStatus(s, o *Status) bool {
	sameFault := func(a, b Fault) bool {
		return a.Kind == b.Kind && a.Since.Equal(b.Since) && a.Err.Error() == b.Err.Error()
	}
	return s.InstanceID == o.InstanceID && s.Registered == o.Registered && s.Enabled == o.Enabled && s.Leader == o.Leader && s.Paused == o.Paused && s.Expired == o.Expired &&
		s.Leaving == o.Leaving && s.LastErrorTime.Equal(o.LastErrorTime) &&
		slices.Equal(s.Items, o.Items) && slices.Equal(s.Waiting, o.Waiting) && slices.EqualFunc(s.Faults, o.Faults, sameFault)
}

func cloneStatus(s Status) Status {
	s.Items, s.Running = slices.Clone(s.Items), slices.Clone(s.Running)
	s.Waiting, s.Faults = slices.Clone(s.Waiting), slices.Clone(s.Faults)
	return s
}

// addFault adds a fault to a status, unless there is one of its kind already.
func addFault(s *Status, f Fault) {
	at, there := slices.BinarySearchFunc(s.Faults, f, func(a, b Fault) int { return int(a.Kind) - int(b.Kind) })
	if !there {
		s.Faults = slices.Insert(s.Faults, at, f)
	}
}
