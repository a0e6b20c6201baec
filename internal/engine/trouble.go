package engine

import (
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

const (
	// firstPause and lastPause bound the back-off of a step whose requests fail.
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
	// firstHold and lastHold bound the back-off of a part of a commit. The other parts go on
	// without it, so it can wait longer. A part that fails waits for a holdShare of the time
	// since it began to fail: then it goes on soon after what was in its way has gone.
	firstHold = time.Second
	lastHold  = 30 * time.Second
	holdShare = 4
	// freeTries is how many conflicts in a row need no back-off: the tree may just be busy.
	freeTries = 3
)

// trouble is a row of failures of a step, or of a part of its commits.
type trouble struct {
	since clocks.Moment // when the first came
	times int           // how many there were
	err   error         // the last
	pause time.Duration // the back-off after the last
	until clocks.Moment // when the next attempt may be made
	pass  int           // the last pass that wanted to try, or kept it
}

// waits reports whether it is too early to try again.
func (t *trouble) waits(now clocks.Moment) bool { return now.Before(t.until) }

// troubles are kept by the name of a step, or of a part (decide.Change.Name). Each has its
// own back-off, so that one does not delay another.
type troubles map[string]*trouble

// meet notes a failure. The back-off begins after free failures in a row, and grows from
// first to last.
func (t troubles) meet(name string, err error, now clocks.Moment, first, last time.Duration, free int) *trouble {
	one := t[name]
	if one == nil {
		one = &trouble{since: now}
		t[name] = one
	}
	one.err = err
	if one.times++; one.times > free {
		one.pause = min(max(2*one.pause, first), last)
		one.until = now.Add(one.pause/2 + rand.N(one.pause/2+1))
	}
	return one
}

// hold is the longest back-off that a part may have now.
func (t troubles) hold(name string, now clocks.Moment) time.Duration {
	if one := t[name]; one != nil {
		return min(max(now.Sub(one.since)/holdShare, firstHold), lastHold)
	}
	return firstHold
}

// over forgets the trouble of a name: it has succeeded.
func (t troubles) over(name string) { delete(t, name) }

// want keeps the troubles of a step, and of its parts, although the step does not try now.
func (t troubles) want(step string, pass int) {
	for name, one := range t {
		if name == step || strings.HasPrefix(name, step+" ") {
			one.pass = pass
		}
	}
}

// endPass forgets the troubles that nobody wanted to try again in this pass.
func (t troubles) endPass(pass int) {
	for name, one := range t {
		if one.pass < pass {
			delete(t, name)
		}
	}
}

// oldest returns the oldest trouble of a kind that has lasted for long enough, with its name,
// and how many such troubles there are.
func (t troubles) oldest(now clocks.Moment, lasting time.Duration, kind func(error) bool) (name string, one *trouble, n int) {
	for candidate, tr := range t {
		if now.Sub(tr.since) < lasting || !kind(tr.err) {
			continue
		}
		n++
		if one == nil || tr.since.Before(one.since) || tr.since.Equal(one.since) && strings.Compare(candidate, name) < 0 {
			name, one = candidate, tr
		}
	}
	return name, one, n
}

// ofTree reports whether trouble is with what is in the tree; all other is with the store.
func ofTree(err error) bool {
	return errors.Is(err, coord.ErrConflict) || errors.Is(err, errComesBack)
}

func ofStore(err error) bool { return !ofTree(err) }
