package mixed

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// kind is what a member is.
type kind string

const (
	jvm    kind = "JVM"
	golang kind = "Go"
)

// source is why an execution runs, whichever kind its member is of.
type source string

const (
	normal   source = "normal"
	makeUp   source = "make-up"
	failover source = "failover"
	asked    source = "asked for"
	planted  source = "planted" // by a test: the record of a member that is long dead
)

// ending is how an execution has ended.
type ending string

const (
	runs   ending = "" // it has not
	done   ending = "done"
	cut    ending = "cut short"
	killed ending = "killed"
	// torn: its work was done, but its record stood when its member was killed.
	torn ending = "done, but recorded as running"
)

// execution is one call of the work of an item.
type execution struct {
	kind       kind
	member     string
	item       int
	tick       time.Time // as the member said; zero if it did not
	source     source
	begin, end time.Time
	ending     ending

	stands time.Time // the tick that it counts for
	again  *execution
}

func (e *execution) String() string {
	end := "        …   "
	if !e.end.IsZero() {
		end = e.end.Format(clock)
	}
	tick := "-"
	if !e.tick.IsZero() {
		tick = e.tick.Format("15:04:05")
	}
	return fmt.Sprintf("%s–%s item %d on %s, %s for %s: %s", e.begin.Format(clock), end, e.item, e.member, e.source, tick, e.ending)
}

const clock = "15:04:05.000"

// isCut reports whether it did not come to its end.
func (e *execution) isCut() bool { return e.ending == cut || e.ending == killed }

// endsBy returns its end, or now while it runs.
func (e *execution) endsBy(now time.Time) time.Time {
	if e.end.IsZero() {
		return now
	}
	return e.end
}

// ledger has all executions of a job, and who owned its items when ticks came.
type ledger struct {
	mu         sync.Mutex
	executions []*execution
	due        []due
	dead       map[string]time.Time // when members were killed
}

// due is a tick that came, and what was to run then.
type due struct {
	tick  time.Time
	total int
	// orphaned are the items whose owner had been killed, or all if nobody was there.
	orphaned map[int]bool
	// owners are the names of the members that had the items.
	owners []string
}

func newLedger() *ledger { return &ledger{dead: map[string]time.Time{}} }

// begin notes that an execution begins, or returns nil if its member is dead.
func (l *ledger) begin(e execution) *execution {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, isDead := l.dead[e.member]; isDead {
		return nil
	}
	e.begin = time.Now()
	l.executions = append(l.executions, &e)
	return &e
}

// end notes that an execution has ended, if its member was not killed before.
func (l *ledger) end(e *execution, how ending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e != nil && e.ending == runs {
		e.end, e.ending = time.Now(), how
	}
}

// kill notes that a member is dead. recorded are the items that the tree shows as running there.
func (l *ledger) kill(member string, recorded []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead[member] = time.Now()
	for _, e := range l.executions {
		if e.member == member && e.ending == runs {
			e.end, e.ending = time.Now(), killed
		}
	}
	for _, item := range recorded {
		for _, e := range slices.Backward(l.executions) {
			if e.item == item {
				// If a tick has come since, the record may be of that: its work has not begun.
				if e.member == member && e.ending == done && !l.cameSince(e.end) {
					e.ending = torn
				}
				break
			}
		}
	}
}

// cameSince reports whether a tick has come since a time.
func (l *ledger) cameSince(at time.Time) bool {
	return len(l.due) > 0 && l.due[len(l.due)-1].tick.After(at)
}

// plant notes that the tree has the record of an execution that never was.
func (l *ledger) plant(item int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.executions = append(l.executions, &execution{kind: jvm, member: "long dead", item: item, source: planted, begin: now, end: now, ending: killed})
}

// isDead reports whether a member was killed.
func (l *ledger) isDead(member string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, isDead := l.dead[member]
	return isDead
}

// comes notes that a tick has come.
func (l *ledger) comes(d due) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.due = append(l.due, d)
}

// listed returns the executions that match, in the order in which they began.
func (l *ledger) listed(ok func(*execution) bool) []*execution {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []*execution
	for _, e := range l.executions {
		if ok(e) {
			list = append(list, e)
		}
	}
	return list
}
