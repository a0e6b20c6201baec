package mixed

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// late is how long after its tick an execution may begin and not be late.
const late = 2 * time.Second

// count is what became of the item-ticks of a window: see the comment of the package.
type count struct {
	ticks                                         int
	missed, orphaned, doubled, late, overlapping  int
	swept, amongJVMs                              int
	failedOver, unrecovered, twice, wrong, leftBy int
	stories                                       []string // of what went wrong
	story                                         string   // of what was done
}

func (c *count) add(o count) {
	c.ticks += o.ticks
	c.missed += o.missed
	c.orphaned += o.orphaned
	c.doubled += o.doubled
	c.swept += o.swept
	c.late += o.late
	c.overlapping += o.overlapping
	c.amongJVMs += o.amongJVMs
	c.failedOver += o.failedOver
	c.unrecovered += o.unrecovered
	c.twice += o.twice
	c.wrong += o.wrong
	c.leftBy += o.leftBy
	c.stories = append(c.stories, o.stories...)
}

// titles are the columns of String.
const titles = "ticks | missed | of them orphaned | doubled | swept along | late | overlapping | of them among JVMs | failed over | unrecovered | twice | wrong tick | left"

func (c *count) String() string {
	cells := []int{c.ticks, c.missed, c.orphaned, c.doubled, c.swept, c.late, c.overlapping, c.amongJVMs, c.failedOver, c.unrecovered, c.twice, c.wrong, c.leftBy}
	text := make([]string, len(cells))
	for i, n := range cells {
		text[i] = fmt.Sprint(n)
	}
	return strings.Join(text, " | ")
}

func (c *count) tell(format string, args ...any) {
	c.stories = append(c.stories, fmt.Sprintf(format, args...))
}

// count counts the ticks of a window. isFailover says whether what was cut short is to run again.
func (l *ledger) count(from, to time.Time, isFailover bool) count {
	l.mu.Lock()
	defer l.mu.Unlock()
	var c count
	var made, idle []*execution
	items := 0
	for _, d := range l.due {
		items = max(items, d.total)
	}
	for item := range items {
		o := &ofItem{item: item, from: from, to: to, isFailover: isFailover, count: &c, dead: l.dead, begun: map[int64]*execution{}}
		for _, d := range l.due {
			if item < d.total {
				o.due = append(o.due, d)
			}
		}
		for _, e := range l.executions {
			if e.item == item {
				o.executions = append(o.executions, e)
			}
		}
		slices.SortStableFunc(o.executions, func(a, b *execution) int { return a.begin.Compare(b.begin) })
		o.run()
		made, idle = append(made, o.made...), append(idle, o.idle...)
	}
	for _, e := range idle {
		isSwept := slices.ContainsFunc(made, func(m *execution) bool {
			return m.member == e.member && m.tick.Equal(e.tick) && m.begin.Sub(e.begin).Abs() < time.Second
		})
		if isSwept {
			c.swept++
			continue
		}
		c.doubled++
		c.tell("doubled: nothing was missed before\n\t%v", e)
	}
	return c
}

// ofItem counts the ticks of one item.
type ofItem struct {
	item       int
	from, to   time.Time
	isFailover bool
	due        []due
	executions []*execution
	dead       map[string]time.Time // when members were killed
	begun      map[int64]*execution // by tick
	count      *count

	made, idle []*execution // make-ups of JVM members that stand for something, and for nothing
}

func (o *ofItem) within(at time.Time) bool { return !at.Before(o.from) && at.Before(o.to) }

func (o *ofItem) run() {
	for n, e := range o.executions {
		switch e.source {
		case normal:
			o.normal(e)
		case makeUp:
			o.makeUp(e)
		case failover:
			o.failover(e, o.executions[:n])
		case planted:
			e.stands = o.last(e.begin)
		}
		o.overlap(e, o.executions[:n])
	}
	o.missed()
	o.unrecovered()
}

// last returns the last tick that had come by a time, or the zero time.
func (o *ofItem) last(by time.Time) time.Time {
	tick := time.Time{}
	for _, d := range o.due {
		if !d.tick.After(by) {
			tick = d.tick
		}
	}
	return tick
}

// normal is an execution for a tick.
func (o *ofItem) normal(e *execution) {
	e.stands = e.tick
	if e.stands.IsZero() {
		e.stands = o.last(e.begin)
	}
	before := o.begun[e.stands.UnixNano()]
	if before != nil {
		o.doubled(e, before)
		return
	}
	o.begun[e.stands.UnixNano()] = e
	if o.within(e.stands) && e.begin.Sub(e.stands) > late {
		o.count.late++
	}
}

func (o *ofItem) doubled(e, before *execution) {
	if !o.within(e.stands) {
		return
	}
	o.count.doubled++
	if before == nil {
		o.count.tell("doubled: nothing was missed or cut short before\n\t%v", e)
		return
	}
	o.count.tell("doubled:\n\t%v\n\t%v", before, e)
}

// makeUp stands for the ticks that were missed up to its own; a JVM's own is that in whose fire it
// made up for earlier ones.
func (o *ofItem) makeUp(e *execution) {
	e.stands = e.tick
	if e.stands.IsZero() {
		e.stands = o.last(e.begin)
	}
	own := o.begun[e.stands.UnixNano()]
	if e.kind == golang && own != nil {
		o.doubled(e, own)
		return
	}
	switch found := o.standsFor(e, own != nil); {
	case found && e.kind == jvm:
		o.made = append(o.made, e)
	case found:
	case e.kind == jvm && o.within(e.stands):
		o.idle = append(o.idle, e)
	default:
		o.doubled(e, own)
	}
}

// standsFor lets an execution stand for the ticks before its own, and that one, that nobody has
// begun. It reports whether there are any. With isNext, its own may have been begun.
func (o *ofItem) standsFor(e *execution, isNext bool) bool {
	found := false
	for _, d := range slices.Backward(o.due) {
		if d.tick.After(e.stands) {
			continue
		}
		if o.begun[d.tick.UnixNano()] != nil {
			if isNext {
				isNext = false
				continue
			}
			break
		}
		o.begun[d.tick.UnixNano()] = e
		found = true
		if o.within(d.tick) {
			o.count.late++
		}
	}
	return found
}

// failover is an execution that is to repeat what was cut short.
func (o *ofItem) failover(e *execution, before []*execution) {
	var first, other *execution
	for _, b := range slices.Backward(before) {
		if !b.isCut() && b.ending != torn || b.end.After(e.begin) {
			continue
		}
		if b.again == nil {
			first = b
			break
		}
		if other == nil && !b.again.isCut() {
			other = b
		}
	}
	switch {
	case first != nil:
		first.again, e.stands = e, first.stands
		// What was cut short earlier is repeated with it: an item runs again once.
		for _, b := range before {
			if b.isCut() && b.again == nil {
				b.again = e
			}
		}
		if !o.within(first.stands) {
			return
		}
		o.count.failedOver++
		if e.kind == golang && first.source != planted && !e.tick.Equal(first.stands) {
			o.count.wrong++
			o.count.tell("wrong tick:\n\t%v\n\t%v", first, e)
		}
	case other != nil:
		e.stands = other.stands
		if o.within(e.stands) {
			o.count.twice++
			o.count.tell("run again twice:\n\t%v\n\t%v\n\t%v", other, other.again, e)
		}
	default: // its record stood, but its work had not begun
		e.stands = o.last(e.begin)
		if !o.standsFor(e, true) {
			o.doubled(e, nil)
		}
	}
}

func (o *ofItem) overlap(e *execution, before []*execution) {
	now := time.Now()
	for _, b := range before {
		if e.begin.Before(b.endsBy(now)) && o.within(e.begin) {
			o.count.overlapping++
			if b.kind == jvm && e.kind == jvm {
				o.count.amongJVMs++
			}
			o.count.tell("overlapping:\n\t%v\n\t%v", b, e)
		}
	}
}

func (o *ofItem) missed() {
	for _, d := range o.due {
		if !o.within(d.tick) {
			continue
		}
		o.count.ticks++
		if o.begun[d.tick.UnixNano()] != nil {
			continue
		}
		o.count.missed++
		if d.orphaned[o.item] || o.diesAt(d) {
			o.count.orphaned++
			continue
		}
		o.count.tell("missed: item %d, tick %s", o.item, d.tick.Format("15:04:05"))
	}
}

// diesAt reports whether the owner of the item was killed when a tick came, before it could begin.
func (o *ofItem) diesAt(d due) bool {
	if o.item >= len(d.owners) {
		return false
	}
	at, isDead := o.dead[d.owners[o.item]]
	return isDead && !at.Before(d.tick) && at.Sub(d.tick) < time.Second
}

func (o *ofItem) unrecovered() {
	if !o.isFailover {
		return
	}
	for _, e := range o.executions {
		if e.isCut() && e.again == nil && o.within(e.begin) {
			o.count.unrecovered++
			o.count.tell("not run again:\n\t%v", e)
		}
	}
}
