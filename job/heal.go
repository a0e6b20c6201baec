package job

import (
	"errors"
	"time"
)

const (
	// healTime is how long something must be quiet that comes back, until it is forgotten.
	healTime = time.Minute
	// freeHeals is how often in that time it is corrected at once.
	freeHeals = 3
	// maxHeals bounds what is remembered.
	maxHeals = 10_000
)

// errComesBack is trouble with what is corrected in vain: somebody undoes it, as fast as
// it is done.
var errComesBack = errors.New("comes back each time it is corrected; somebody else writes or removes it again and again")

// heal is what a step, or a part of one, has corrected.
type heal struct {
	since time.Time // of the first
	last  time.Time
	times int
	held  bool // it has a back-off
}

// heals are by the names that troubles have. A step that fails has a back-off, and so has
// one that succeeds all the time, because the two sides would go on for ever otherwise.
type heals map[string]*heal

// done notes a correction, and reports whether the next one has to wait.
func (h heals) done(name string, now time.Time) (held bool) {
	one := h[name]
	if one == nil {
		if len(h) >= maxHeals {
			return false
		}
		one = &heal{since: now}
		h[name] = one
	}
	if !one.held && apart(now, one.since) {
		one.since, one.times = now, 0
	}
	one.last = now
	one.times++
	one.held = one.held || one.times > freeHeals
	return one.held
}

// endPass forgets what has been quiet, and keeps the troubles of the rest: as long as the
// other side has not undone it again, nobody wants to try.
func (h heals) endPass(t troubles, pass int, now time.Time) {
	for name, one := range h {
		if trouble := t[name]; one.held && trouble != nil {
			if trouble.waits(now) && trouble.pass == pass {
				one.last = now // it is back, and waits
			}
			trouble.pass = pass
		}
		if apart(now, one.last) {
			delete(h, name)
		}
	}
}

// apart reports whether two corrections have nothing to do with each other. The clock may
// have been set back between them.
func apart(a, b time.Time) bool { return a.Sub(b).Abs() > healTime }
