package zk

import (
	"cmp"
	"slices"
	"time"
)

// When a list of children has more than bulk new ones, they are read in slices, with
// other news before each of them. One commit makes far fewer nodes.
const (
	bulk      = 1000
	sliceSize = 256
)

// backlog is what a follower still has to read: lots, of which the smallest comes first,
// unless somebody waits for another. The zero value is empty.
type backlog struct {
	lots    []*lot
	waiting map[string]struct{} // the paths of all of them
	era     int                 // grows whenever somebody begins to wait
	waiters []waiter
}

// lot is what was found in one list, and then below it.
type lot struct {
	era     int
	errands []errand // the last comes first, and then what is found below it
}

// waiter wants everything to be read that was found up to an era.
type waiter struct {
	era    int
	synced chan struct{}
}

func (b *backlog) isEmpty() bool { return len(b.lots) == 0 }

func (b *backlog) has(path string) bool {
	_, ok := b.waiting[path]
	return ok
}

// add makes a lot of errands that the reading of another led to, or news.
func (b *backlog) add(errands []errand, from *lot) {
	l := &lot{era: b.era}
	if from != nil {
		l.era = from.era
	}
	b.lots = append(b.lots, l)
	b.addTo(l, errands)
}

func (b *backlog) addTo(l *lot, errands []errand) {
	if b.waiting == nil {
		b.waiting = make(map[string]struct{})
	}
	for _, e := range slices.Backward(errands) {
		b.waiting[e.path] = struct{}{}
		l.errands = append(l.errands, e)
	}
}

// slice takes out what to read next, or nothing.
func (b *backlog) slice() (*lot, []errand) {
	b.lots = slices.DeleteFunc(b.lots, func(l *lot) bool { return len(l.errands) == 0 })
	if b.isEmpty() {
		return nil, nil
	}
	next := slices.MinFunc(b.lots, func(x, y *lot) int {
		if len(b.waiters) > 0 {
			if n := cmp.Compare(x.era, y.era); n != 0 {
				return n
			}
		}
		return cmp.Compare(len(x.errands), len(y.errands))
	})
	rest := max(0, len(next.errands)-sliceSize)
	errands := slices.Clone(next.errands[rest:])
	next.errands = next.errands[:rest]
	return next, errands
}

// wait lets somebody wait for what is in the backlog now.
func (b *backlog) wait(syncs []chan struct{}) {
	for _, synced := range syncs {
		b.waiters = append(b.waiters, waiter{b.era, synced})
	}
	if len(syncs) > 0 {
		b.era++
	}
}

// done returns those who do not have to wait any more.
func (b *backlog) done() []chan struct{} {
	b.lots = slices.DeleteFunc(b.lots, func(l *lot) bool { return len(l.errands) == 0 })
	var done []chan struct{}
	b.waiters = slices.DeleteFunc(b.waiters, func(w waiter) bool {
		over := !slices.ContainsFunc(b.lots, func(l *lot) bool { return l.era <= w.era })
		if over {
			done = append(done, w.synced)
		}
		return over
	})
	return done
}

// abandon returns all who wait.
func (b *backlog) abandon() []chan struct{} {
	var syncs []chan struct{}
	for _, w := range b.waiters {
		syncs = append(syncs, w.synced)
	}
	b.waiters = nil
	return syncs
}

// A list of more than largeList children is not read again before some time for each of
// them has passed: while somebody makes one child after the other, all the time would go
// into that.
const (
	largeList    = 1000
	calmForChild = 20 * time.Microsecond
)

// largeLists are the nodes with many children.
type largeLists map[string]*largeChildren

type largeChildren struct {
	until   time.Time
	changed bool
}

// read notes that a list was read.
func (ls largeLists) read(path string, children int) {
	if children <= largeList {
		delete(ls, path)
		return
	}
	ls[path] = &largeChildren{until: time.Now().Add(time.Duration(children) * calmForChild)}
}

// putOff reports whether a list that has changed will be due later.
func (ls largeLists) putOff(path string, urgent bool) bool {
	l := ls[path]
	if l == nil || urgent || !time.Now().Before(l.until) {
		return false
	}
	l.changed = true
	return true
}

// due returns the lists that have changed and were put off until now.
func (ls largeLists) due(urgent bool) map[string]bool {
	lists := make(map[string]bool)
	for path, l := range ls {
		if l.changed && (urgent || !time.Now().Before(l.until)) {
			l.changed = false
			lists[path] = true
		}
	}
	return lists
}

// wait is how long to wait before one is due.
func (ls largeLists) wait() time.Duration {
	wait := never
	for _, l := range ls {
		if l.changed {
			wait = min(wait, max(0, time.Until(l.until)))
		}
	}
	return wait
}
