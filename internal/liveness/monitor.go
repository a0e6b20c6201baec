// Package liveness notices when a store does not answer any more. It asks nothing itself: what a
// client exchanges with its store anyway, such as the renewals of its session, shows it.
package liveness

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

// Grace is how long a client that has a reason to doubt its store waits for an answer. Most such
// reasons are over by then: another member has taken over, or the connection is open again.
const Grace = 800 * time.Millisecond

// Monitor tells when an outage of the store begins and ends. It begins when the store has not
// answered for Patience, or for Grace after a Suspect; it ends with the next answer. The zero
// value tells nothing until Start.
type Monitor struct {
	origin clocks.Moment
	begun  func(outage int, since time.Time)
	over   func(outage int)
	counts atomic.Bool  // Start was called
	last   atomic.Int64 // when the store has answered last, in nanoseconds since origin
	isOut  atomic.Bool

	mu        sync.Mutex
	timeout   time.Duration // of the session; 0 before Start and after Stop
	suspected clocks.Moment
	outage    int // the number of the last one
	due       clocks.Moment
	timer     *time.Timer
}

// Patience is how long a store that gives sessions a time-out may not answer before that is an
// outage: until its client's session ends.
func Patience(timeout time.Duration) time.Duration {
	return timeout - max(200*time.Millisecond, timeout/10)
}

// Start begins to count. Outages have numbers that grow. begun is told when the store has answered
// last, as a time of day. The functions must not call the monitor.
func (m *Monitor) Start(timeout time.Duration, begun func(outage int, since time.Time), over func(outage int)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.origin, m.timeout, m.begun, m.over = clocks.Now(), timeout, begun, over
	m.timer = time.AfterFunc(Patience(timeout), m.check)
	m.due = m.origin.Add(Patience(timeout))
	m.counts.Store(true)
}

// Stop ends the monitor.
func (m *Monitor) Stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.timeout = 0
	if m.timer != nil {
		m.timer.Stop()
	}
}

// SetTimeout says which time-out the store has granted to the session.
func (m *Monitor) SetTimeout(timeout time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timeout == 0 || m.timeout == timeout {
		return
	}
	m.timeout = timeout
	m.armLocked(m.endLocked())
}

// Answered says that the store has answered a request, or has told of a change.
func (m *Monitor) Answered() {
	if !m.counts.Load() {
		return
	}
	m.last.Store(int64(clocks.Since(m.origin)))
	if !m.isOut.Load() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timeout == 0 || !m.isOut.CompareAndSwap(true, false) {
		return
	}
	m.armLocked(m.endLocked())
	m.over(m.outage)
}

// Suspect says that there is a reason to doubt that the store answers: a renewal of the session
// has failed.
func (m *Monitor) Suspect() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timeout == 0 || m.isOut.Load() || m.suspected.After(m.lastAnswer()) {
		return
	}
	m.suspected = clocks.Now()
	m.armLocked(m.endLocked())
}

func (m *Monitor) lastAnswer() clocks.Moment { return m.origin.Add(time.Duration(m.last.Load())) }

// endLocked is when patience with the store ends.
func (m *Monitor) endLocked() clocks.Moment {
	last := m.lastAnswer()
	end := last.Add(Patience(m.timeout))
	if m.suspected.After(last) {
		return clocks.Earlier(end, m.suspected.Add(Grace))
	}
	return end
}

func (m *Monitor) armLocked(due clocks.Moment) {
	m.due = due
	m.timer.Reset(clocks.Until(due))
}

// check runs when patience may be over. Answers only note when they came, so it looks at that now.
func (m *Monitor) check() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timeout == 0 || m.isOut.Load() {
		return
	}
	now, end := clocks.Now(), m.endLocked()
	switch {
	case now.Before(end):
		m.armLocked(end)
		return
	case now.Sub(m.due) > Grace:
		m.armLocked(now.Add(Grace)) // this process stood still: the answer may have come meanwhile, and is not read yet
		return
	}
	last := m.last.Load()
	m.isOut.Store(true)
	if m.last.Load() != last { // Answered may not have seen it
		m.isOut.Store(false)
		m.armLocked(m.endLocked())
		return
	}
	m.outage++
	m.begun(m.outage, clocks.Wall().Add(-clocks.Since(m.lastAnswer())))
}
