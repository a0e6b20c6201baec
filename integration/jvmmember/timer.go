package jvmmember

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// misfireThreshold is by how much a fire may be late; ElasticJob sets Quartz's to this.
const misfireThreshold = time.Millisecond

// timer is a Quartz scheduler with one thread: while a run goes on nothing fires. It looks at its
// triggers again when the run has ended.
type timer struct {
	member *Member
	wake   chan struct{} // has room for one signal
	// turn is the lock of ElasticJob's schedule controller. A clean shut-down keeps it until the
	// run has ended, and all others who need it wait, the listeners first of all.
	turn chan struct{}
	over chan struct{} // closed when the last run has ended

	mu     sync.Mutex
	cron   *cronTrigger
	once   []time.Time // triggers that fire once
	paused bool
	halted bool
	closed bool
	// interrupt ends the context of the work in progress.
	interrupt context.CancelFunc
}

// cronTrigger is the job's trigger by cron.
type cronTrigger struct {
	text       string
	schedule   *cronexpr.Schedule
	last, next time.Time // last is zero before the first fire
}

func newTimer(m *Member) *timer {
	return &timer{member: m, wake: make(chan struct{}, 1), turn: make(chan struct{}, 1), over: make(chan struct{})}
}

// enter takes the controller's lock; ok is false if the process ends first.
func (t *timer) enter() (ok bool) {
	select {
	case t.turn <- struct{}{}:
		return true
	case <-t.member.ctx.Done():
		return false
	}
}

func (t *timer) leave() { <-t.turn }

// change changes the triggers under both locks, unless the scheduler is shut down.
func (t *timer) change(do func()) {
	if !t.enter() {
		return
	}
	defer t.leave()
	t.mu.Lock()
	if !t.closed {
		do()
	}
	t.mu.Unlock()
	t.signal()
}

func (t *timer) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *timer) newCron(text, zone string) (*cronTrigger, error) {
	loc, err := cronexpr.LoadLocation(zone)
	if err != nil {
		return nil, err
	}
	s, err := cronexpr.Parse(text, loc)
	if err != nil {
		return nil, err
	}
	if cronexpr.Quartz(text) == cronexpr.QuartzRefuses {
		return nil, fmt.Errorf("cron expression %q: Quartz does not read it", text)
	}
	// Quartz leaves the milliseconds out of the start, and looks from a second before.
	start := t.member.now().Truncate(time.Second)
	return &cronTrigger{text: text, schedule: s, next: s.Next(start.Add(-time.Second))}, nil
}

func (t *timer) schedule(text, zone string) error {
	trigger, err := t.newCron(text, zone)
	if err != nil {
		return err
	}
	t.change(func() { t.cron = trigger })
	return nil
}

// reschedule takes a new expression. A new time zone alone is passed over, as in ElasticJob.
func (t *timer) reschedule(text, zone string) error {
	var err error
	t.change(func() {
		if t.cron == nil || t.cron.text == text {
			return
		}
		var trigger *cronTrigger
		if trigger, err = t.newCron(text, zone); err == nil {
			t.cron = trigger
		}
	})
	return err
}

// trigger fires once, as soon as the thread is free.
func (t *timer) trigger() {
	t.change(func() { t.once = append(t.once, t.member.now()) })
}

func (t *timer) pause() {
	t.change(func() { t.paused = true })
}

// resume lets the triggers go on. A tick that was missed is a misfire at once.
func (t *timer) resume() {
	if !t.enter() {
		return
	}
	defer t.leave()
	t.mu.Lock()
	misfired := false
	if !t.closed && t.paused {
		t.paused = false
		misfired = t.misfire()
	}
	t.mu.Unlock()
	if misfired {
		t.member.onMisfire()
	}
	t.signal()
}

func (t *timer) isPaused() bool {
	if !t.enter() {
		return false
	}
	defer t.leave()
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.closed && t.paused && t.cron != nil
}

// misfire moves a trigger by cron that is late to its next time. It reports whether that is to
// be written down: not for one that has never fired. The caller has the lock.
func (t *timer) misfire() bool {
	now := t.member.now()
	if t.cron == nil || t.cron.next.IsZero() || t.cron.next.After(now.Add(-misfireThreshold)) {
		return false
	}
	t.cron.next = t.cron.schedule.Next(now)
	return !t.cron.last.IsZero()
}

// onMisfire marks all items of the instance.
func (m *Member) onMisfire() {
	// ElasticJob fails if it cannot read them; the scheduler goes on.
	items, _ := m.ownItems()
	m.setMisfire(items)
}

// run is the scheduler's thread and its worker in one: they never do anything at the same time.
func (t *timer) run() {
	defer close(t.over)
	var acquired time.Time // a tick that the scheduler had taken before its time: it is never late
	for t.member.ctx.Err() == nil {
		t.mu.Lock()
		if t.halted {
			t.mu.Unlock()
			return
		}
		if t.paused {
			t.mu.Unlock()
			acquired = time.Time{}
			t.wait(nil)
			continue
		}
		now := t.member.now()
		if len(t.once) > 0 && (t.cron == nil || t.cron.next.IsZero() || t.once[0].Before(t.cron.next)) {
			t.once = t.once[1:]
			t.mu.Unlock()
			acquired = time.Time{} // Quartz gives back what it has taken when something earlier comes
			t.member.fire(time.Time{})
			continue
		}
		if t.cron == nil || t.cron.next.IsZero() {
			t.mu.Unlock()
			t.wait(nil)
			continue
		}
		next := t.cron.next
		if next.After(now) {
			t.mu.Unlock()
			acquired = next
			alarm := time.NewTimer(next.Sub(now))
			t.wait(alarm.C)
			alarm.Stop()
			continue
		}
		if !next.Equal(acquired) {
			was := t.cron.next
			misfired := t.misfire()
			late := !t.cron.next.Equal(was)
			if late {
				t.mu.Unlock()
				if misfired {
					t.member.onMisfire()
				}
				continue
			}
		}
		t.cron.last, t.cron.next = next, t.cron.schedule.Next(next)
		t.mu.Unlock()
		t.member.fire(next)
	}
}

// wait waits for a signal, an alarm or the end.
func (t *timer) wait(alarm <-chan time.Time) {
	select {
	case <-t.wake:
	case <-alarm:
	case <-t.member.ctx.Done():
	}
}

// halt ends the scheduler; a run in progress goes on.
func (t *timer) halt() {
	t.mu.Lock()
	t.halted = true
	t.mu.Unlock()
	t.signal()
}

func (t *timer) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

func (t *timer) isClosed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// shutDown ends the scheduler and does not wait for the run, which it may interrupt. It reports
// whether the scheduler was open.
func (t *timer) shutDown(interrupts bool) (was bool) {
	t.change(func() {
		t.halted, t.closed, was = true, true, true
		if interrupts && t.interrupt != nil {
			t.interrupt()
		}
	})
	return was
}

// working remembers how the work in progress is interrupted; nil when it has ended.
func (t *timer) working(interrupt context.CancelFunc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.interrupt = interrupt
}
