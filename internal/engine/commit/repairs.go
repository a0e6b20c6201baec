package commit

import (
	"errors"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

const (
	// repairTime is how long a repair must have lasted until it is forgotten.
	repairTime = time.Minute
	// freeRepairs is how many repairs of the same thing, within repairTime, need no back-off.
	freeRepairs = 3
	// maxRepairs bounds how many things are remembered.
	maxRepairs = 10_000
)

// ErrUndone is the failure of what is repaired in vain: an external writer undoes each repair.
var ErrUndone = errors.New("comes back each time it is corrected; somebody else writes or removes it again and again")

// repair is how often a step, or a part of one, has repaired the same thing.
type repair struct {
	since  clocks.Moment // of the first
	last   clocks.Moment // of the last one, or when it was last seen to be undone
	times  int
	isHeld bool // the next one has a back-off
}

// repairs are kept by the names that failures have. A repair that succeeds again and again
// needs a back-off, too: otherwise this process and the external writer would go on for ever.
type repairs map[string]*repair

// note counts a repair, and reports whether the next one has to wait.
func (all repairs) note(name string, now clocks.Moment) (isHeld bool) {
	r := all[name]
	if r == nil {
		if len(all) >= maxRepairs {
			return false
		}
		r = &repair{since: now}
		all[name] = r
	}
	if !r.isHeld && now.Sub(r.since) > repairTime {
		r.since, r.times = now, 0
	}
	r.last = now
	r.times++
	r.isHeld = r.isHeld || r.times > freeRepairs
	return r.isHeld
}

// endPass forgets repairs that nobody has undone for repairTime. It keeps the failures of the others:
// failures.endPass would drop them, because no step wants to try until the repair is undone.
func (all repairs) endPass(failing failures, pass int, now clocks.Moment) {
	for name, r := range all {
		if f := failing[name]; r.isHeld && f != nil {
			if f.isWaiting(now) && f.pass == pass {
				r.last = now // it is undone, and the next repair waits
			}
			f.pass = pass
		}
		if now.Sub(r.last) > repairTime {
			delete(all, name)
		}
	}
}
