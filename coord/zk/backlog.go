package zk

import (
	"cmp"
	"slices"
	"time"
)

// A list with more than bulk new children is read in slices, and other changes are read before each
// slice. One commit makes far fewer nodes than bulk.
const (
	bulk      = 1000
	sliceSize = 256
)

// backlog holds the tasks that a watcher has put off, in batches. The smallest batch is read first;
// while somebody waits for Sync, one of the oldest. The zero value is empty.
type backlog struct {
	batches    []*batch
	waiting    map[string]struct{} // the paths of all tasks
	generation int                 // of new batches; grows with each call of Sync
	waiters    []waiter
}

// batch holds the tasks for the new children of one list, and then for what is below them.
type batch struct {
	generation int
	tasks      []task // the last one is read first
}

// waiter is a call of Sync, which waits until all batches up to a generation are read.
type waiter struct {
	generation int
	synced     chan struct{}
}

func (b *backlog) isEmpty() bool { return len(b.batches) == 0 }

func (b *backlog) has(path string) bool {
	_, ok := b.waiting[path]
	return ok
}

// add adds a batch. from is the batch that led to these tasks; nil if a change did.
func (b *backlog) add(tasks []task, from *batch) {
	added := &batch{generation: b.generation}
	if from != nil {
		added.generation = from.generation
	}
	b.batches = append(b.batches, added)
	b.addTo(added, tasks)
}

// addTo adds tasks to a batch.
func (b *backlog) addTo(to *batch, tasks []task) {
	if b.waiting == nil {
		b.waiting = make(map[string]struct{})
	}
	for _, t := range slices.Backward(tasks) {
		b.waiting[t.path] = struct{}{}
		to.tasks = append(to.tasks, t)
	}
}

// takeSlice removes the tasks to read next, and returns them with their batch; nil if there are none.
func (b *backlog) takeSlice() (*batch, []task) {
	b.batches = slices.DeleteFunc(b.batches, func(x *batch) bool { return len(x.tasks) == 0 })
	if b.isEmpty() {
		return nil, nil
	}
	next := slices.MinFunc(b.batches, func(x, y *batch) int {
		if len(b.waiters) > 0 {
			if n := cmp.Compare(x.generation, y.generation); n != 0 {
				return n
			}
		}
		return cmp.Compare(len(x.tasks), len(y.tasks))
	})
	rest := max(0, len(next.tasks)-sliceSize)
	tasks := slices.Clone(next.tasks[rest:])
	next.tasks = next.tasks[:rest]
	return next, tasks
}

// addWaiters adds calls of Sync, which wait for what is in the backlog now.
func (b *backlog) addWaiters(syncs []chan struct{}) {
	for _, synced := range syncs {
		b.waiters = append(b.waiters, waiter{b.generation, synced})
	}
	if len(syncs) > 0 {
		b.generation++
	}
}

// takeDone removes and returns the calls of Sync whose batches are read.
func (b *backlog) takeDone() []chan struct{} {
	b.batches = slices.DeleteFunc(b.batches, func(x *batch) bool { return len(x.tasks) == 0 })
	var done []chan struct{}
	b.waiters = slices.DeleteFunc(b.waiters, func(w waiter) bool {
		over := !slices.ContainsFunc(b.batches, func(x *batch) bool { return x.generation <= w.generation })
		if over {
			done = append(done, w.synced)
		}
		return over
	})
	return done
}

// takeWaiters removes and returns all calls of Sync.
func (b *backlog) takeWaiters() []chan struct{} {
	var syncs []chan struct{}
	for _, w := range b.waiters {
		syncs = append(syncs, w.synced)
	}
	b.waiters = nil
	return syncs
}

// A list of more than largeList children is not read again before pausePerChild has passed for each
// of them. Otherwise a view would do nothing but read that list while somebody makes one child after
// the other.
const (
	largeList     = 1000
	pausePerChild = 20 * time.Microsecond
)

// largeLists holds the nodes with many children, by path.
type largeLists map[string]*largeChildren

type largeChildren struct {
	until   time.Time // the list is not read before this time
	changed bool      // the list has changed since it was read
}

// noteRead records that a list was read.
func (ls largeLists) noteRead(path string, children int) {
	if children <= largeList {
		delete(ls, path)
		return
	}
	ls[path] = &largeChildren{until: time.Now().Add(time.Duration(children) * pausePerChild)}
}

// postpone records that a list has changed, and reports whether it is to be read later.
func (ls largeLists) postpone(path string, urgent bool) bool {
	l := ls[path]
	if l == nil || urgent || !time.Now().Before(l.until) {
		return false
	}
	l.changed = true
	return true
}

// due returns the postponed lists that are to be read now.
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

// wait returns how long it takes until a list is due.
func (ls largeLists) wait() time.Duration {
	wait := never
	for _, l := range ls {
		if l.changed {
			wait = min(wait, max(0, time.Until(l.until)))
		}
	}
	return wait
}
