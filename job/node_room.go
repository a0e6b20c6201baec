package job

import (
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

const (
	// roomTime is how long room is kept for items that may come: as long as a leader needs to
	// see that there is room, and to deal.
	roomTime = 10 * time.Second
	// A job waits for firstRoomPause after room was kept for it in vain, and longer each time, up
	// to maxRoomPause.
	firstRoomPause = time.Second
	maxRoomPause   = 10 * time.Minute
	// uncapAfter is how long nothing is missing, before an instance that has said that its room
	// is bounded takes that back, if by then there is room for all items of the job.
	uncapAfter = time.Minute
)

// ledger says how many items each job of a node has here, and which of them have room if all
// together are bounded. An item has room as long as it is here, so those that came last have
// none if there are too many. Jobs that want room and find none stand in a queue.
type ledger struct {
	limit int // how many items all jobs together may have; 0 is no bound

	mu       sync.Mutex
	items    int               // that are here
	held     int               // places for items that are taken
	accounts map[*account]bool // of the jobs
	queue    []*account        // if there are any, no place is free
}

// account is what a ledger knows of one job. A nil account is that of a job without a node.
// All its fields but the first two are guarded by ledger.mu.
type account struct {
	ledger *ledger
	wake   func() // tells the job that there is room for an item; it must not wait

	items int  // that are here
	held  int  // places that are taken for items that are here, or that may come
	waits bool // whether it stands in the queue

	// What the instance says: it has room for so many items of the job, and no more.
	capped bool
	room   int

	until   clocks.Moment // until when places are kept for items that may come; zero if none are
	uncaps  bool          // places are kept because the instance has just taken back that it is capped
	pause   time.Duration // how long it waits when places were kept in vain the next time
	resumes clocks.Moment // when it may ask for places again
	settled clocks.Moment // since when it is capped and nothing is missing
}

// account opens the account of a job.
func (l *ledger) account(wake func()) *account {
	if l == nil {
		return nil
	}
	a := &account{ledger: l, wake: wake}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accounts[a] = true
	return a
}

// demand is what a job has here, and what it may get.
type demand struct {
	items   int  // that are here: the instance's own, and guests
	pinned  int  // those of its own that are here whatever the bound is
	guests  int  // items of other instances that run here
	missing int  // items without an owner that may come here
	total   int  // items of the job
	joins   bool // the instance is not in the tree yet
}

// settle notes what a job has here. It takes places for that and, where the leader may deal
// more, for items that may come; and decides what the instance is to say. It returns in which
// time to call it again at the latest; 0 if that depends on changes only.
func (a *account) settle(d demand, now clocks.Moment) time.Duration {
	l := a.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items += d.items - a.items
	a.items = d.items
	if l.limit == 0 {
		return 0
	}
	a.giveBack(d, now)
	a.takePinned(d.pinned + d.guests)
	wants := d.items
	if mayAsk := d.joins || a.capped && a.room < d.items-d.guests+d.missing; mayAsk && !now.Before(a.resumes) {
		wants += d.missing
	}
	a.take(wants)
	if a.held > d.items && a.until.IsZero() {
		a.until = now.Add(roomTime)
	}
	a.decide(d, wants, now)
	return a.again(d, now)
}

// giveBack gives back places that no item needs, or has used for a while.
func (a *account) giveBack(d demand, now clocks.Moment) {
	isOver := !a.until.IsZero() && !now.Before(a.until)
	if isOver && d.missing > 0 && a.held > d.items {
		a.pause = min(max(2*a.pause, firstRoomPause), maxRoomPause)
		a.resumes = now.Add(a.pause)
	}
	if a.held <= d.items || isOver || d.missing == 0 && !a.uncaps {
		a.shrink(d.items)
		a.until, a.uncaps = clocks.Moment{}, false
	}
	if d.missing == 0 {
		a.pause, a.resumes = 0, clocks.Moment{}
	}
}

// takePinned takes places for what is here whatever the bound is. If there are none, other items
// lose theirs: those of this job, or of the job that settles next.
func (a *account) takePinned(must int) {
	l := a.ledger
	if a.held < must {
		l.held += must - a.held
		a.held = must
		if l.held > l.limit {
			for other := range l.accounts {
				other.wake()
			}
		}
	}
	if over := l.held - l.limit; over > 0 {
		a.shrink(max(must, a.held-over))
	}
}

// take takes places until the account holds n, as far as there are any. If there are too few,
// it stands in the queue.
func (a *account) take(n int) {
	l := a.ledger
	more := max(min(n-a.held, l.limit-l.held), 0)
	a.held, l.held = a.held+more, l.held+more
	switch {
	case a.held < n && !a.waits:
		a.waits = true
		l.queue = append(l.queue, a)
	case a.held >= n:
		a.stopWaiting()
	}
}

func (a *account) stopWaiting() {
	if a.waits {
		a.waits = false
		a.ledger.queue = slices.DeleteFunc(a.ledger.queue, func(other *account) bool { return other == a })
	}
}

// shrink gives back all places but n.
func (a *account) shrink(n int) {
	l := a.ledger
	if a.held > n {
		l.held -= a.held - n
		a.held = n
	}
	for len(l.queue) > 0 && l.held < l.limit {
		next := l.queue[0]
		l.queue[0] = nil
		l.queue = l.queue[1:]
		next.waits = false
		next.held++
		l.held++
		next.wake()
	}
}

// decide decides what the instance says. What it says changes only if that matters: if more is
// here than there is room for, or if items are missing and there is room for them now.
func (a *account) decide(d demand, wants int, now clocks.Moment) {
	l := a.ledger
	room := a.held - d.guests
	switch {
	case d.joins: // to say so costs nothing now
		a.capped, a.room = a.held < wants || l.held >= l.limit, room
	case a.held < d.items:
		a.capped, a.room = true, room
	case a.capped:
		a.room = max(a.room, room)
	}
	if !a.capped || d.missing > 0 || a.held < d.items || d.joins {
		a.settled = clocks.Moment{}
	} else if a.settled.IsZero() {
		a.settled = now
	}
	if all := d.total + d.guests; !a.settled.IsZero() && now.Sub(a.settled) >= uncapAfter {
		a.settled = now
		if l.limit-l.held >= all-a.held {
			a.take(all)
			a.capped, a.uncaps, a.until = false, true, now.Add(roomTime)
		}
	}
	if !a.capped || a.room >= d.total {
		a.capped, a.room = false, 0
	}
}

// again returns in which time settle may have something to do although nothing has changed.
func (a *account) again(d demand, now clocks.Moment) time.Duration {
	var at clocks.Moment
	if a.held > d.items {
		at = a.until
	}
	if a.resumes.After(now) {
		at = clocks.Earlier(at, a.resumes)
	}
	if !a.settled.IsZero() {
		at = clocks.Earlier(at, a.settled.Add(uncapAfter))
	}
	if at.IsZero() {
		return 0
	}
	return max(at.Sub(now), time.Millisecond)
}

// says returns what the instance is to say, and for how many of its own items there is room.
func (a *account) says(guests int) (capped bool, room, mayHave int) {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	return a.capped, a.room, a.held - guests
}

// admit takes places for up to n items of other instances, and returns how many it got. What is
// not used is given back by the next settle.
func (a *account) admit(n int) int {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	n = max(min(n, a.ledger.limit-a.ledger.held), 0)
	a.held += n
	a.ledger.held += n
	return n
}

// leave closes the account, and reports whether it was the last one. Another job is woken, which
// then says how many items are left here.
func (a *account) leave() (wasLast bool) {
	if a == nil {
		return false
	}
	l := a.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.accounts[a] {
		return false
	}
	delete(l.accounts, a)
	l.items -= a.items
	a.items = 0
	a.stopWaiting()
	a.shrink(0)
	for other := range l.accounts {
		other.wake()
		return false
	}
	return true
}

// others returns how many items of other jobs are here.
func (a *account) others() int {
	if a == nil {
		return 0
	}
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	return a.ledger.items - a.items
}

// load returns how many items are here.
func (l *ledger) load() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.items
}
