package live

import "time"

const (
	// firstPause and lastPause bound the time before a watch that has ended is opened again.
	firstPause = 500 * time.Millisecond
	lastPause  = time.Minute
	// firstSilence and lastSilence bound the time between two warnings of that.
	firstSilence = time.Minute
	lastSilence  = time.Hour
)

// pace slows down a watch that ends again and again: each may read all of a namespace, and each could fill the log.
type pace struct {
	begun   time.Time // when the watch told something first; zero if it has not yet
	pause   time.Duration
	silence time.Duration // after the last warning
	warned  time.Time
	untold  int // ends since then
}

// hears notes that the watch has told something, and reports whether that was the first time.
func (p *pace) hears(now time.Time) (isFirst bool) {
	if isFirst = p.begun.IsZero(); isFirst {
		p.begun = now
	}
	return isFirst
}

// ended returns how long to rest after the end of a watch, and whether the log is told of it, as it is of the first one and
// then at growing distance: with how many it was not told of.
func (p *pace) ended(now time.Time) (pause time.Duration, isTold bool, untold int) {
	went := time.Duration(0)
	if !p.begun.IsZero() {
		went, p.begun = now.Sub(p.begun), time.Time{}
	}
	p.pause = min(max(2*p.pause, firstPause), lastPause)
	if went >= lastPause {
		p.pause = firstPause
	}
	if went >= lastSilence {
		p.silence = 0
	}
	if now.Sub(p.warned) < p.silence {
		p.untold++
		return p.pause, false, 0
	}
	untold, p.untold = p.untold, 0
	p.warned, p.silence = now, min(max(2*p.silence, firstSilence), lastSilence)
	return p.pause, true, untold
}
