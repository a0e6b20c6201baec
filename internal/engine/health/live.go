package health

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

const (
	// passPatience is how long a scheduler may work without getting on before that is a fault. A
	// request to a store that does not answer ends sooner (5 s by default).
	passPatience = 15 * time.Second
	// stuckTime is how long that may take before the process had better be restarted.
	stuckTime = time.Minute
)

// Clock is the local time.
type Clock struct {
	Now    func() time.Time     // the time of day
	Moment func() clocks.Moment // the monotonic clock
}

// Live is what any goroutine may see of a scheduler. Whoever asks for the status gets the session, the ticks and
// the view's fault as they are then: the answer is true although the scheduler may be waiting for the store.
type Live struct {
	job   jobtree.Job
	view  coord.View
	clock Clock

	mu          sync.Mutex
	status      jobtype.Status // without what is added when somebody asks
	running     map[int]bool   // the items that have runs
	runsChanged bool           // since the last PublishRuns
	session     coord.Session  // nil while there is none
	schedule    decide.Ticks
	hasEnded    bool
	began       time.Time     // when the scheduler has got on last; while it waits for something to do,
	working     clocks.Moment // … this is zero
	changed     chan struct{} // closed when the status changes; nil if nobody waits
	entered     chan struct{} // closed when the session changes; nil if nobody waits
}

// NewLive returns what is seen of a scheduler that starts.
func NewLive(job jobtree.Job, view coord.View, clock Clock) *Live {
	return &Live{job: job, view: view, clock: clock, running: map[int]bool{}}
}

// Publish shows how the scheduler stands, but for its runs, and by which ticks it goes.
func (l *Live) Publish(s jobtype.Status, schedule decide.Ticks) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.LastError, s.LastErrorTime = l.status.LastError, l.status.LastErrorTime
	differs := !sameStatus(&s, &l.status)
	l.status, l.schedule = s, schedule
	if differs {
		l.wake()
	}
}

// PublishRuns wakes those who wait for a change of the status if other items run than before.
func (l *Live) PublishRuns() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runsChanged {
		l.runsChanged = false
		l.wake()
	}
}

// SetRunning notes that an item has a run, or has none any more.
func (l *Live) SetRunning(item int, runs bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runsChanged = true
	if runs {
		l.running[item] = true
	} else {
		delete(l.running, item)
	}
}

// SetError shows the error of the execution that failed last.
func (l *Live) SetError(err error, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status.LastError, l.status.LastErrorTime = err, at
}

// SetSession shows the session; nil if there is none.
func (l *Live) SetSession(s coord.Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = s
	if l.entered != nil {
		close(l.entered)
		l.entered = nil
	}
	l.wake()
}

// SetWorking shows that the scheduler works and gets on, or that it waits for something to do. While it works it
// says so often: when a pass begins, and before and after requests to the store.
func (l *Live) SetWorking(works bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.working = (clocks.Moment{}); works {
		l.working, l.began = l.clock.Moment(), l.clock.Now()
	}
}

// End shows that the scheduler has ended.
func (l *Live) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hasEnded, l.working = true, clocks.Moment{}
	l.status.Faults, l.status.Waiting = nil, nil
	l.wake()
}

// Wake wakes those who wait for a change of the status.
func (l *Live) Wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake()
}

func (l *Live) wake() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Changed returns a channel that is closed when the status has changed since the call; nil once
// the scheduler has ended.
func (l *Live) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hasEnded {
		return nil
	}
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

// FollowSession wakes those who wait for a change of the status when the session's state
// changes, even while the scheduler waits for the store. It returns when over is closed.
func (l *Live) FollowSession(over <-chan struct{}) {
	for {
		l.mu.Lock()
		session := l.session
		if l.entered == nil {
			l.entered = make(chan struct{})
		}
		entered := l.entered
		l.mu.Unlock()
		var moved <-chan struct{}
		if session != nil {
			var state coord.SessionState
			if state, moved = session.State(); state == coord.Lost {
				moved = nil
			}
		}
		select {
		case <-moved:
			l.Wake()
		case <-entered:
		case <-over:
			return
		}
	}
}

// Status returns the status at this moment.
func (l *Live) Status() jobtype.Status {
	l.mu.Lock()
	s, session, schedule, hasEnded := cloneStatus(l.status), l.session, l.schedule, l.hasEnded
	s.Running = slices.Sorted(maps.Keys(l.running))
	began, working := l.began, l.working
	l.mu.Unlock()
	now := l.clock.Now()
	if schedule != nil && !hasEnded {
		s.LastTick, s.NextTick = schedule.Prev(now), schedule.Next(now)
		if !s.Paused.Since.IsZero() {
			s.NextTick = time.Time{}
		}
	}
	s.Session = stateOf(session)
	if hasEnded || s.Session == coord.Lost {
		s.Registered, s.Leader = false, false
	}
	if hasEnded {
		s.Items = nil
		return s
	}
	l.addFaults(&s, session, began, working)
	return s
}

// Faults returns the faults at this moment. It costs less than Status.
func (l *Live) Faults() []jobtype.Fault {
	l.mu.Lock()
	s, session, hasEnded := jobtype.Status{Faults: slices.Clone(l.status.Faults)}, l.session, l.hasEnded
	began, working := l.began, l.working
	l.mu.Unlock()
	if !hasEnded {
		s.Session = stateOf(session)
		l.addFaults(&s, session, began, working)
	}
	return s.Faults
}

// StuckFor returns for how long the scheduler has called something that does not return, if that is longer
// than any request takes; otherwise 0.
func (l *Live) StuckFor() time.Duration {
	l.mu.Lock()
	working := l.working
	l.mu.Unlock()
	if working.IsZero() {
		return 0
	}
	if d := l.clock.Moment().Sub(working); d >= stuckTime {
		return d
	}
	return 0
}

// stateOf returns the state of a session, which may be nil.
func stateOf(session coord.Session) coord.SessionState {
	if session == nil {
		return coord.Lost
	}
	state, _ := session.State() // nobody waits here for its change
	return state
}

// addFaults adds faults that show without the scheduler: of the session, of the view, and that the
// scheduler itself is stuck.
func (l *Live) addFaults(s *jobtype.Status, session coord.Session, began time.Time, working clocks.Moment) {
	now := l.clock.Now()
	switch s.Session {
	case coord.Lost:
		addFault(s, jobtype.Fault{Kind: jobtype.FaultStore, Err: NoSession(l.job), Since: now})
	case coord.Suspended:
		addFault(s, jobtype.Fault{Kind: jobtype.FaultStore, Err: Suspended(session), Since: now})
	}
	fault := l.view.Fault()
	if fault != nil {
		addFault(s, jobtype.Fault{Kind: KindOfView(fault), Err: fault, Since: now})
	}
	for i := range s.Faults {
		s.Faults[i].Since = faultSince(fault, s.Faults[i].Kind, s.Faults[i].Since)
	}
	if !working.IsZero() && l.clock.Moment().Sub(working) > passPatience {
		addFault(s, jobtype.Fault{Kind: jobtype.FaultStarvation, Since: began, Err: fmt.Errorf("job %s: the scheduler has got no further since %s: what it called does not return; that may be the store, a strategy or a logger", l.job, began.Format(time.TimeOnly))})
	}
}

// NoSession is the cause of the fault of a process that has no session.
func NoSession(job jobtree.Job) error {
	return fmt.Errorf("job %s: %w: there is no session", job, coord.ErrUnavailable)
}

// Suspended is the cause of the fault of a session that is not renewed.
func Suspended(session coord.Session) error {
	return fmt.Errorf("%w: the session is not renewed, and ends at %s", coord.ErrUnavailable, session.Deadline().Format(time.TimeOnly))
}

// faultSince returns since when a fault holds that was noticed at a time. A store that does not answer is
// noticed later than it was heard last; then the view knows since when.
func faultSince(ofView error, kind jobtype.FaultKind, noticed time.Time) time.Time {
	stale, ok := errors.AsType[*coord.StaleError](ofView)
	if ok && KindOfView(stale) == kind && stale.Since.Before(noticed) {
		return stale.Since
	}
	return noticed
}

// sameStatus reports whether two statuses are the same, but for what is added when somebody asks:
// the session, the ticks and the runs.
func sameStatus(s, o *jobtype.Status) bool {
	sameFault := func(a, b jobtype.Fault) bool {
		return a.Kind == b.Kind && a.Since.Equal(b.Since) && a.Err.Error() == b.Err.Error()
	}
	return s.InstanceID == o.InstanceID && s.Registered == o.Registered && s.Enabled == o.Enabled && s.Leader == o.Leader && s.Paused == o.Paused && s.Expired == o.Expired && s.Differs == o.Differs &&
		s.Leaving == o.Leaving && s.LastErrorTime.Equal(o.LastErrorTime) &&
		slices.Equal(s.Items, o.Items) && slices.Equal(s.Waiting, o.Waiting) && slices.EqualFunc(s.Faults, o.Faults, sameFault)
}

func cloneStatus(s jobtype.Status) jobtype.Status {
	s.Items, s.Running = slices.Clone(s.Items), slices.Clone(s.Running)
	s.Waiting, s.Faults = slices.Clone(s.Waiting), slices.Clone(s.Faults)
	return s
}

// addFault adds a fault to a status, unless there is one of its kind already.
func addFault(s *jobtype.Status, f jobtype.Fault) {
	at, there := slices.BinarySearchFunc(s.Faults, f, func(a, b jobtype.Fault) int { return int(a.Kind) - int(b.Kind) })
	if !there {
		s.Faults = slices.Insert(s.Faults, at, f)
	}
}
