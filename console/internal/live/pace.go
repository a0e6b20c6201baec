package live

import "time"

const (
	// firstPause and lastPause bound the time before a watch that has ended is opened again.
	firstPause = 500 * time.Millisecond
	lastPause  = time.Minute
	// firstSilence and lastSilence bound the time between two warnings of that.
	firstSilence = time.Minute
	lastSilence  = time.Hour
	// calm is how long no watch has to end until a pause is the first one again: longer than the last pause and an opening.
	calm = 5 * time.Minute
)

// pace slows down the watches of a topic that end again and again: each may read all of a namespace, and each could fill
// the log.
type pace struct {
	ended   time.Time // the last one
	pause   time.Duration
	silence time.Duration // after the last warning
	warned  time.Time
	untold  int // ends since then
}

// next returns how long to rest after the end of a watch, and whether the log is told of it, as it is of the first one and
// then at growing distance: with how many it was not told of.
func (p *pace) next(now time.Time) (pause time.Duration, isTold bool, untold int) {
	p.pause = min(max(2*p.pause, firstPause), lastPause)
	if now.Sub(p.ended) >= calm {
		p.pause = firstPause
	}
	if now.Sub(p.ended) >= lastSilence {
		p.silence = 0
	}
	p.ended = now
	if now.Sub(p.warned) < p.silence {
		p.untold++
		return p.pause, false, 0
	}
	untold, p.untold = p.untold, 0
	p.warned, p.silence = now, min(max(2*p.silence, firstSilence), lastSilence)
	return p.pause, true, untold
}

// ended notes the end of a watch of a topic: see pace. Feeds of the same topic share that, for one may be new with each
// request.
func (l *Live) ended(t topic) (pause time.Duration, isTold bool, untold int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.paces[t]
	if p == nil {
		if len(l.paces) >= l.o.Watches {
			l.forgetPace()
		}
		p = &pace{}
		l.paces[t] = p
	}
	return p.next(time.Now())
}

// forgetPace forgets the one that is calm for the longest time.
func (l *Live) forgetPace() {
	var oldest topic
	var when time.Time
	for t, p := range l.paces {
		if when.IsZero() || p.ended.Before(when) {
			oldest, when = t, p.ended
		}
	}
	delete(l.paces, oldest)
}
