package engine

import (
	"errors"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

const (
	// healTime is how long something must not have come back until it is forgotten.
	healTime = time.Minute
	// freeHeals is how many corrections of the same thing, within healTime, need no back-off.
	freeHeals = 3
	// maxHeals bounds how many things are remembered.
	maxHeals = 10_000
)

// errComesBack is the trouble with something that is corrected in vain: an external writer undoes
// each correction.
var errComesBack = errors.New("comes back each time it is corrected; somebody else writes or removes it again and again")

// heal is how often a step, or a part of one, has corrected the same thing.
type heal struct {
	since clocks.Moment // of the first correction
	last  clocks.Moment // of the last one, or when the thing was last seen to be back
	times int
	held  bool // corrections have a back-off
}

// heals are kept by the names that troubles have. A correction that succeeds again and again
// needs a back-off, too: otherwise we and the external writer who undoes it would go on for ever.
type heals map[string]*heal

// done notes a correction, and reports whether the next one has to wait.
func (h heals) done(name string, now clocks.Moment) (held bool) {
	one := h[name]
	if one == nil {
		if len(h) >= maxHeals {
			return false
		}
		one = &heal{since: now}
		h[name] = one
	}
	if !one.held && now.Sub(one.since) > healTime {
		one.since, one.times = now, 0
	}
	one.last = now
	one.times++
	one.held = one.held || one.times > freeHeals
	return one.held
}

// endPass forgets what has not come back for healTime. It keeps the troubles of the rest:
// troubles.endPass would drop them, because no step wants to try until the thing is back.
func (h heals) endPass(t troubles, pass int, now clocks.Moment) {
	for name, one := range h {
		if trouble := t[name]; one.held && trouble != nil {
			if trouble.waits(now) && trouble.pass == pass {
				one.last = now // it is back, and its correction waits
			}
			trouble.pass = pass
		}
		if now.Sub(one.last) > healTime {
			delete(h, name)
		}
	}
}
