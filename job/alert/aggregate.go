package alert

import (
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// rules say when a message is sent; see the table of properties.
type rules struct {
	window   time.Duration
	after    int
	queue    int
	recovery bool
}

// aggregate holds what is to be said of one job. It counts, and keeps no list of failures, so
// its size is bounded. The zero aggregate, with rules, has nothing to say.
type aggregate struct {
	rules
	// groups are the failures by the text of their error, up to rules.queue.
	groups map[string]*group
	// mixed are the failures that have found no room in groups.
	mixed group
	// streaks are the items that fail, if the rules ask for it.
	streaks map[int]streak
	// working are the items that work again, of which no message has told.
	working map[int]bool
	// worked is their message.
	worked group
	// states are what is to be said of the whole job, which standing has: a few for each kind of faults.
	states   map[subject]*group
	standing standing
	// unsent counts what was in messages that were given up, and of which no message has told.
	unsent int
	// began counts the messages that began to wait: those that are due at the same time are sent
	// in this order.
	began int
}

// group is what one message will be about.
type group struct {
	subject // of states
	what    string
	text    string
	// due is when the next message may be sent: when the window after the last one ends.
	due         time.Time
	count       int // of what waits for a message
	began       int // aggregate.began, when it began to wait
	items       items
	first, last time.Time
	execution   Execution
}

func (g *group) add(now time.Time, text string, e Execution) {
	if g.count == 0 {
		g.first = now
	}
	g.count++
	g.text, g.last, g.execution = text, now, e
}

// streak is an item that fails.
type streak struct {
	failures int  // in a row, up to rules.after
	told     bool // by a message, or by one that waits
}

// failed adds a failure. It reports whether a message waits now that did not before.
func (a *aggregate) failed(now time.Time, text string, sc job.ShardingContext) bool {
	if !a.counts(sc.Item) {
		return false
	}
	g := a.groupOf(now, text)
	a.begin(g)
	g.add(now, text, executionOf(sc))
	g.items.add(sc.Item)
	return g.count == 1
}

// begin notes when a group begins to wait.
func (a *aggregate) begin(g *group) {
	if g.count == 0 {
		a.began++
		g.began = a.began
	}
}

// counts reports whether a failure of an item is to be told.
func (a *aggregate) counts(item int) bool {
	if a.after == 1 && !a.recovery {
		return true
	}
	s := a.streaks[item]
	if a.working[item] { // it does not, after all
		delete(a.working, item)
		a.worked.count = len(a.working)
		s.told = true
	}
	s.failures = min(s.failures+1, a.after)
	tell := s.failures == a.after
	s.told = s.told || tell
	if a.streaks == nil {
		a.streaks = map[int]streak{}
	}
	a.streaks[item] = s
	return tell
}

// succeeded adds a success. It reports whether a message waits now that did not before.
func (a *aggregate) succeeded(now time.Time, sc job.ShardingContext) bool {
	s, failing := a.streaks[sc.Item]
	if !failing {
		return false
	}
	delete(a.streaks, sc.Item)
	if !s.told || !a.recovery {
		return false
	}
	if a.working == nil {
		a.working = map[int]bool{}
	}
	a.working[sc.Item] = true
	a.worked.add(now, "", executionOf(sc))
	a.worked.count = len(a.working)
	return a.worked.count == 1
}

// groupOf returns the group of an error.
func (a *aggregate) groupOf(now time.Time, text string) *group {
	if g := a.groups[text]; g != nil {
		return g
	}
	if len(a.groups) == a.queue {
		maps.DeleteFunc(a.groups, func(_ string, g *group) bool { return g.count == 0 && !now.Before(g.due) })
	}
	if len(a.groups) == a.queue {
		return &a.mixed
	}
	if a.groups == nil {
		a.groups = map[string]*group{}
	}
	g := &group{}
	a.groups[text] = g
	return g
}

// next takes the next message. If none is due, it returns when one will be; the zero time if
// none waits. With hurry all are due.
func (a *aggregate) next(now time.Time, hurry bool) (Message, time.Time, bool) {
	g := a.oldest()
	if a.worked.count > 0 && (hurry || !now.Before(a.worked.due)) {
		// Failures are told before the success that came after them, even if they are not due:
		// otherwise they would look like new ones.
		if g != nil {
			return a.take(g, now), time.Time{}, true
		}
		return a.takeWorked(now), time.Time{}, true
	}
	if g != nil && (hurry || !now.Before(g.due)) {
		return a.take(g, now), time.Time{}, true
	}
	due := a.worked.due
	if a.worked.count == 0 || g != nil && g.due.Before(due) {
		due = time.Time{}
		if g != nil {
			due = g.due
		}
	}
	return Message{}, due, false
}

// oldest returns the group that waits and is due first; nil if none waits.
func (a *aggregate) oldest() *group {
	var oldest *group
	if a.mixed.count > 0 {
		oldest = &a.mixed
	}
	for _, g := range a.waitingGroups() {
		if oldest == nil || g.due.Before(oldest.due) || g.due.Equal(oldest.due) && g.began < oldest.began {
			oldest = g
		}
	}
	if oldest != nil && oldest.over { // what has begun is told before that it is over
		if begun := a.states[subject{oldest.about, oldest.fault, false}]; begun != nil && begun.count > 0 {
			return begun
		}
	}
	return oldest
}

// waitingGroups are those of groups and states that wait for a message.
func (a *aggregate) waitingGroups() (list []*group) {
	add := func(g *group) {
		if g.count > 0 {
			list = append(list, g)
		}
	}
	for _, g := range a.groups {
		add(g)
	}
	for _, g := range a.states {
		add(g)
	}
	return list
}

func (a *aggregate) take(g *group, now time.Time) Message {
	m := a.message(g)
	m.Error, m.Mixed = g.text, g == &a.mixed
	*g = group{subject: g.subject, due: now.Add(a.window)}
	return m
}

func (a *aggregate) takeWorked(now time.Time) Message {
	g := &a.worked
	g.count = len(a.working)
	for _, item := range slices.Sorted(maps.Keys(a.working)) {
		if g.items.add(item); g.items.more {
			break
		}
	}
	m := a.message(g)
	m.Recovered = true
	clear(a.working)
	*g = group{due: now.Add(a.window)}
	return m
}

func (a *aggregate) message(g *group) Message {
	slices.Sort(g.items.list)
	m := Message{
		Count: g.count, Items: append([]int{}, g.items.list...), MoreItems: g.items.more,
		First: g.first, Last: g.last, Execution: g.execution, Unsent: a.unsent,
		About: g.about, What: g.what, Fault: g.fault, Recovered: g.over, Holding: a.standing.told(),
	}
	for _, s := range a.streaks {
		if s.told {
			m.Failing++
		}
	}
	return m
}

// waiting returns how many failures, items that work again, and troubles of the whole job wait for a message.
func (a *aggregate) waiting() int {
	n := a.mixed.count + len(a.working)
	for _, g := range a.waitingGroups() {
		n += g.count
	}
	return n
}
