package job

import (
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

const (
	// firstPause and lastPause bound the back-off of a step whose commits fail.
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
	// firstHold and lastHold bound that of a part that the rest goes on without.
	firstHold = time.Second
	lastHold  = 30 * time.Second
	// freeTries is how many conflicts in a row are taken for those of a busy tree.
	freeTries = 3
)

// trouble is what a step, or a part of its commits, has met in a row.
type trouble struct {
	since time.Time // of the first
	times int
	err   error // the last
	pause time.Duration
	until time.Time // it waits
	pass  int       // in which it was last wanted
}

// waits reports whether it is too early to try again. A clock that was set back does not
// make it wait for longer than it should.
func (t *trouble) waits(now time.Time) bool {
	return now.Before(t.until) && !t.until.After(now.Add(2*t.pause))
}

// troubles are by step, and by the name of a part. Each has a back-off of its own, so
// that one never delays another.
type troubles map[string]*trouble

// meet notes that something failed.
func (t troubles) meet(name string, err error, now time.Time, first, last time.Duration, free int) *trouble {
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

// over forgets trouble.
func (t troubles) over(name string) { delete(t, name) }

// want keeps the troubles of a step, and of its parts, although it is not tried now.
func (t troubles) want(step string, pass int) {
	for name, one := range t {
		if name == step || strings.HasPrefix(name, step+" ") {
			one.pass = pass
		}
	}
}

// endPass forgets what nobody has wanted any more since a pass.
func (t troubles) endPass(pass int) {
	for name, one := range t {
		if one.pass < pass {
			delete(t, name)
		}
	}
}

// oldest returns the oldest trouble of a kind that has lasted for so long, with its name,
// and how many there are.
func (t troubles) oldest(now time.Time, lasting time.Duration, kind func(error) bool) (name string, one *trouble, n int) {
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

// ofTree tells trouble with the tree from trouble with the store.
func ofTree(err error) bool {
	return errors.Is(err, coord.ErrConflict) || errors.Is(err, errComesBack)
}

func ofStore(err error) bool { return !ofTree(err) }
