package decide

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const (
	// maxGuarantees bounds the ticks that once-listeners are told of at a time.
	maxGuarantees = 50
	// callGrace is how much longer than allowed a call may take until its result is dropped.
	callGrace = time.Minute
	// lateGrace is how long the caller of Started has, after the time of the call, to say that it
	// is over. Handlers do not wait for that.
	lateGrace = 10 * time.Second
)

// wantsGuarantee reports whether once-listeners are still to be told of a tick.
func (w *World) wantsGuarantee(tick time.Time) bool {
	last := w.Guaranteed
	return w.Rules.Once && w.Guarantee(tick) == nil && (last == nil || tick.After(last.Tick) || w.fromFuture(last.Tick))
}

// BeginTick fixes the members of a tick for which items are due, before the first of them is
// claimed. Whoever commits it calls Started. It is nil if there is nothing to be told, or not
// any more. tooMany says that other ticks have to end first: then this one is not told of.
//
// The parent has the last tick, and its version is a condition: so no tick comes twice, whoever
// has removed its node since.
func (w *World) BeginTick(k *Work, tick time.Time) (change *Change, tooMany bool, err error) {
	if !w.wantsGuarantee(tick) {
		return nil, false, nil
	}
	if len(w.Guarantees) >= maxGuarantees {
		return nil, true, nil
	}
	now := w.time()
	members := w.membersOf(k, tick)
	if len(members) == 0 {
		return nil, false, nil
	}
	document, err := jobtree.EncodeGuarantee(jobtree.GuaranteeDocument{
		Items: members, Starter: w.Self.ID, StartBy: now.Add(w.Rules.StartTime), Begun: now, CompleteBy: now.Add(w.Rules.TickTime),
	})
	if err != nil {
		return nil, false, err
	}
	last := coord.Create(w.Job.Guarantees(), jobtree.EncodeFired(tick))
	if w.Guaranteed != nil {
		last = coord.SetAt(w.Job.Guarantees(), jobtree.EncodeFired(tick), w.Guaranteed.Version)
	}
	return &Change{Step: "begin tick", Urgency: coord.Sooner, Ops: []coord.Op{
		w.ifMine(), w.ifConfigured(), w.ifScheduled(), last, coord.Create(w.Job.Guarantee(tick), document),
	}}, false, nil
}

// membersOf lists the items that belong to a tick: they are enabled, have an owner of ours, are
// idle, and are due for it, be it on time or to be made up. It looks at all items.
func (w *World) membersOf(k *Work, tick time.Time) []int {
	var members []int
	for i := range w.items() {
		item := &w.Items[i]
		if item.Disabled || item.Owner == nil || w.isJVM(item.Owner.ID) || !isIdle(k, i, item) || k.hasBegun(i, tick) {
			continue
		}
		if v := w.judge(i, item, tick); v == onTime || v == missed || v == expired && k.hasWaited(i, tick) {
			members = append(members, i)
		}
	}
	return members
}

// joins reports whether a claim of an item for a tick is that of a member.
func (w *World) joins(g *jobtree.Guarantee, i int) bool {
	return w.Rules.Once && g != nil && g.Err == nil && g.Completer == "" && !g.Ended && g.Has(i) && !w.isThrough(g, i)
}

// memberClaims is tickClaims for members of a tick: nothing has been skipped since, and
// Completed is not being called.
func (w *World) memberClaims(step string, g *jobtree.Guarantee) *claims {
	c := w.tickClaims(step)
	before := c.head
	c.head = func(w *World) []coord.Op {
		return append(before(w), coord.AtVersion(w.Job.Guarantee(g.Tick), g.Version))
	}
	return c
}

// otherClaims is tickClaims for items that are no members. If nobody is being told of the tick,
// that is a condition: a view may show that it was told of before it shows its members.
func (w *World) otherClaims(step string, tick time.Time, g *jobtree.Guarantee) *claims {
	c := w.tickClaims(step)
	if before := c.head; w.Rules.Once && g == nil {
		c.head = func(w *World) []coord.Op { return append(before(w), coord.Absent(w.Job.Guarantee(tick))) }
	}
	return c
}

// outcomeOf returns how a member has ended, if it has.
func (w *World) outcomeOf(g *jobtree.Guarantee, i int) (jobtree.Outcome, bool) {
	if outcome, ok := g.Outcomes[i]; ok {
		return outcome, true
	}
	if item := w.Item(i); item.Completed.IsFor(g.Tick) {
		d, err := item.Completed.Document()
		if err != nil {
			d.Outcome = "" // it is known to nobody
		}
		return d.Outcome, true
	}
	return jobtree.OutcomeSkipped, g.IsSkipped(i)
}

// isThrough is outcomeOf for those who only want to know whether a member has ended.
func (w *World) isThrough(g *jobtree.Guarantee, i int) bool {
	if _, ok := g.Outcomes[i]; ok || g.IsSkipped(i) {
		return true
	}
	return i < len(w.Items) && w.Items[i].Completed.IsFor(g.Tick)
}

// endMember returns the operations that note how a member has ended, for outcomes that the node
// {i}/completed alone does not tell for certain: it has no execution, or may be run again.
func (w *World) endMember(i int, tick time.Time, outcome jobtree.Outcome) []coord.Op {
	if g := w.Guarantee(tick); w.joins(g, i) {
		return []coord.Op{coord.Exists(w.Job.Guarantee(tick)), coord.Create(w.Job.GuaranteeItem(tick, i), []byte(outcome))}
	}
	return nil
}

// cutMember is endMember for a run that ends without its runner. A run for a request belongs to
// no tick.
func (w *World) cutMember(i int, p purpose, tick time.Time, outcome jobtree.Outcome) []coord.Op {
	if len(w.Guarantees) == 0 || p.request != nil || p.isOver {
		return nil
	}
	return w.endMember(i, tick, outcome)
}

// endsMember is endMember for a run that has ended here.
func (w *World) endsMember(r *Run) []coord.Op {
	if len(w.Guarantees) == 0 || r.Request != "" || r.Completed.Outcome != jobtree.OutcomeCut && r.Completed.Outcome != jobtree.OutcomeKilled {
		return nil
	}
	return w.endMember(r.Item, r.Tick, r.Completed.Outcome)
}

// keepOutcome returns the operations that keep how a member has ended, where another outcome is
// about to take the place of that in {i}/completed.
func (w *World) keepOutcome(i int) []coord.Op {
	for _, g := range w.Guarantees {
		if g.Err != nil || g.Ended || !g.Has(i) || !w.Item(i).Completed.IsFor(g.Tick) {
			continue
		}
		if _, isKept := g.Outcomes[i]; isKept {
			continue
		}
		outcome, _ := w.outcomeOf(g, i)
		return []coord.Op{coord.Exists(w.Job.Guarantee(g.Tick)), coord.Create(w.Job.GuaranteeItem(g.Tick, i), []byte(outcome))}
	}
	return nil
}

// HeldUntil returns until when a run has to wait for Started of its tick; zero if it need not.
func HeldUntil(s *jobtree.State, r *Run) time.Time {
	if len(s.Guarantees) == 0 || r.Request != "" {
		return time.Time{}
	}
	g := s.Guarantee(r.Tick)
	if g == nil || g.Err != nil || g.IsOpen || g.Completer != "" || !g.Has(r.Item) {
		return time.Time{}
	}
	return g.StartBy
}

// ifCalled is the condition for taking over a member of a tick for which Started is called, or its
// caller has ended: that nobody calls it again meanwhile. If somebody does, the run has to wait
// for longer than the snapshot says.
func (w *World) ifCalled(c *Claim) []coord.Op {
	g := w.Guarantee(c.Tick)
	if g == nil || g.Err != nil || g.IsOpen || g.Completer != "" || c.Request != "" || !g.Has(c.Item) {
		return nil
	}
	return []coord.Op{coord.AtVersion(w.Job.Guarantee(g.Tick), g.Version)}
}

// Call is a call of once-listeners that this instance has to make.
type Call struct {
	*jobtree.Guarantee
	IsEnd bool // Completed, and not Started
}

// Calls lists the calls that this instance has to make, by the tree.
func (w *World) Calls() []Call {
	var list []Call
	for _, g := range w.Guarantees {
		switch {
		case g.Err != nil || g.Ended:
		case g.Completer == w.Self.ID:
			list = append(list, Call{g, true})
		case g.Completer == "" && !g.IsOpen && g.Starter == w.Self.ID:
			list = append(list, Call{g, false})
		}
	}
	return list
}

// Outcomes returns how the members of a tick have ended, and which instances have those that
// have not.
func (w *World) Outcomes(g *jobtree.Guarantee) (ended map[int]jobtree.Outcome, missing map[int]string) {
	ended, missing = map[int]jobtree.Outcome{}, map[int]string{}
	for _, i := range g.Items {
		outcome, is := w.outcomeOf(g, i)
		item := w.Item(i)
		switch {
		case is:
			ended[i] = outcome
		case item.Running != nil:
			missing[i] = item.Running.ID
		case item.Owner != nil:
			missing[i] = item.Owner.ID
		default:
			missing[i] = ""
		}
	}
	return ended, missing
}

// EndCall notes that a call has been made: the handlers of the tick may begin, or nothing of
// the tick is left.
func (w *World) EndCall(call Call) Change {
	c := changes{w: w, step: "end call", urgency: coord.Soonest, head: (*World).ifRunner}
	if !call.IsEnd {
		c.add(NoItem, coord.Exists(w.Job.Guarantee(call.Tick)), coord.Create(w.Job.GuaranteeOpen(call.Tick), nil))
		return c.list[0]
	}
	if len(call.Outcomes) > partlyTicks {
		d := call.GuaranteeDocument
		d.Ended = true
		if ops := w.writeGuarantee(call.Guarantee, d); ops != nil {
			c.add(NoItem, ops...)
			return c.list[0]
		}
	}
	c.add(NoItem, coord.AtVersion(w.Job.Guarantee(call.Tick), call.Version), coord.DeleteTree(w.Job.Guarantee(call.Tick)))
	return c.list[0]
}

// partlyTicks is how many outcomes go with the node of a tick in one commit.
const partlyTicks = 50

// TendTicks looks after the ticks that once-listeners are told of, as the coordinator: it has
// Completed called when all members have ended, and goes on where an instance has ended. It
// removes ticks that nobody wants to be told of.
func (w *World) TendTicks() []Change {
	if len(w.Guarantees) == 0 || !w.IsCoordinator() {
		return nil
	}
	now := w.time()
	isUnwanted := !w.Rules.Once && w.Accepted == w.Config.Modified
	late := w.bySlowestClock()
	c := changes{w: w, step: "tend ticks", urgency: coord.Sooner, head: func(w *World) []coord.Op { return []coord.Op{w.ifMine(), w.ifConfigured()} }}
	for _, g := range w.Guarantees {
		d := g.GuaranteeDocument
		switch {
		case g.Err != nil, isUnwanted, g.Ended:
			w.dropTick(&c, g)
		case !w.Rules.Once, g.Completer == w.Self.ID:
		case g.Completer != "" && w.IsDead(g.Completer):
			d.Completer, d.Until, d.Again = w.Self.ID, w.until(now), true
			c.put(w.writeGuarantee(g, d), w.ifDead(g.Completer)...)
		case g.Completer != "":
			if now.After(g.Until) {
				w.dropTick(&c, g)
			}
		case !g.IsOpen && w.IsDead(g.Starter):
			d.Starter, d.StartBy, d.Again = w.Self.ID, now.Add(w.Rules.StartTime), true
			c.put(w.writeGuarantee(g, d), w.ifDead(g.Starter)...)
		case !g.IsOpen:
			if !now.Before(g.StartBy.Add(lateGrace)) {
				c.add(NoItem, coord.AtVersion(w.Job.Guarantee(g.Tick), g.Version), coord.Create(w.Job.GuaranteeOpen(g.Tick), nil)).Late = g
			}
		case !now.Before(g.CompleteBy) || w.areThrough(g):
			d.Completer, d.Until, d.Again = w.Self.ID, w.until(now), false
			c.put(w.writeGuarantee(g, d))
		default:
			w.endStrandedMembers(&c, g, late)
		}
	}
	return c.list
}

// put adds operations that are one part, with their conditions.
func (c *changes) put(ops []coord.Op, conditions ...coord.Op) {
	if ops != nil {
		c.add(NoItem, append(ops, conditions...)...)
	}
}

// until returns when a call of Completed that begins now must be over.
func (w *World) until(now time.Time) time.Time { return now.Add(w.Rules.StartTime + callGrace) }

// writeGuarantee returns the operation that writes the document of a tick anew; none if it
// cannot be written.
func (w *World) writeGuarantee(g *jobtree.Guarantee, d jobtree.GuaranteeDocument) []coord.Op {
	value, err := jobtree.EncodeGuarantee(d)
	if err != nil { // it was read, so it can be written, unless what is skipped makes it too large
		return nil
	}
	return []coord.Op{coord.SetAt(w.Job.Guarantee(g.Tick), value, g.Version)}
}

// areThrough reports whether all members of a tick have ended.
func (w *World) areThrough(g *jobtree.Guarantee) bool {
	return !slices.ContainsFunc(g.Items, func(i int) bool { return !w.isThrough(g, i) })
}

// endStrandedMembers ends members that nobody runs for the tick any more. Those that were
// claimed have been cut short. The others are skipped, in the document of the tick, because its
// version is a condition of their claims. late is what [World.bySlowestClock] returns.
func (w *World) endStrandedMembers(c *changes, g *jobtree.Guarantee, late *World) {
	const most = 100
	skipped := g.Skipped[:len(g.Skipped):len(g.Skipped)]
	var conditions []coord.Op
	for _, i := range g.Items {
		if _, isLooked := slices.BinarySearch(w.Narrow, i); w.Narrow != nil && !isLooked || w.isThrough(g, i) {
			continue
		}
		item := w.Item(i)
		unclaimed := coord.Absent(w.Job.Fired(i)) // the item is gone
		if item.Fired != nil {
			unclaimed = coord.AtVersion(w.Job.Fired(i), item.Fired.Version)
		}
		switch {
		case item.Fired != nil && item.Fired.Run.Equal(g.Tick):
			if item.Running == nil && item.Failovering == nil && !w.waitsToRunAgain(i, g.Tick) {
				// A view may show the claim before it shows the rest.
				c.add(i, append(w.endMember(i, g.Tick, jobtree.OutcomeCut), unclaimed, coord.Absent(w.Job.Running(i)), coord.Absent(w.Job.FailoverItem(i)), coord.Absent(w.Job.Failovering(i)))...)
			}
		case item.Failovering != nil, w.waitsToRunAgain(i, g.Tick):
		case item.Fired == nil, !item.Fired.Tick.Before(g.Tick), late.isLost(g.Tick, i, &item):
			if coord.Cost(conditions...) < most {
				skipped, conditions = append(skipped, i), append(conditions, unclaimed)
			}
		}
	}
	if len(conditions) > 0 {
		d := g.GuaranteeDocument
		d.Skipped = skipped
		slices.Sort(d.Skipped)
		c.put(w.writeGuarantee(g, d), conditions...)
	}
}

// bySlowestClock returns the world as the slowest clock shows it that an instance with items may
// have. What has come by that one has come for everybody: the coordinator's own clock does not count,
// because the others begin ticks by theirs.
func (w *World) bySlowestClock() *World {
	late := *w
	late.Now = w.time().Add(-w.mostBehind())
	return &late
}

// isLost reports, by the slowest clock, whether an item that has not begun a tick will not begin
// it. That it has begun a later one says the tree, and then nobody needs a clock.
func (w *World) isLost(tick time.Time, i int, item *jobtree.Item) bool {
	switch {
	case item.Disabled, i >= w.Rules.Total, w.IsPaused(), item.Owner != nil && w.isJVM(item.Owner.ID):
		return true
	case w.Rules.Broadcast && item.Owner == nil: // whoever gets it begins with the next tick
		return !tick.After(w.Now)
	case !w.IsInForce():
		return false
	case w.Rules.Ticks == nil:
		return true
	}
	return !w.isTick(tick) || w.LastTickOf(i).After(tick)
}

// isTick reports whether the schedule in force has a tick, or it is the last one before, which may be owed.
func (w *World) isTick(tick time.Time) bool {
	if !tick.After(w.Schedule.Since) {
		return tick.Equal(w.Schedule.LastBefore)
	}
	return w.Ticks().Prev(tick).Equal(tick)
}

// lostAt returns when the next look at a tick may find that nobody will begin some of its items,
// as [World.time] shows it; zero if that has been. behind is what [World.mostBehind] returns.
func (w *World) lostAt(tick time.Time, behind time.Duration) time.Time {
	now := w.time()
	if at := tick.Add(behind); w.Rules.Broadcast && at.After(now) {
		return at
	}
	if w.Rules.Ticks != nil {
		if w.Schedule != nil && w.Schedule.Since.After(tick) {
			tick = w.Schedule.Since
		}
		if next := w.Ticks().Next(tick); !next.IsZero() {
			if at := next.Add(w.Rules.Jitter + behind); at.After(now) {
				return at
			}
		}
	}
	return time.Time{}
}

// waitsToRunAgain reports whether an item waits to be run again for a tick.
func (w *World) waitsToRunAgain(i int, tick time.Time) bool {
	at, waits := slices.BinarySearchFunc(w.FailoverItems, i, func(f jobtree.FailoverItem, i int) int { return f.Item - i })
	return waits && (w.FailoverItems[at].Tick.IsZero() || w.FailoverItems[at].Tick.Equal(tick))
}

// dropTick removes the node of a tick. What is large goes in parts.
func (w *World) dropTick(c *changes, g *jobtree.Guarantee) {
	if len(g.Outcomes) > partlyTicks {
		for i := range g.Outcomes {
			c.add(i, coord.DeleteTree(w.Job.GuaranteeItem(g.Tick, i)))
		}
		return
	}
	ops := []coord.Op{coord.DeleteTree(w.Job.Guarantee(g.Tick))}
	if g.Path != "" {
		ops = append(ops, coord.AtVersion(w.Job.Guarantee(g.Tick), g.Version))
	}
	c.add(NoItem, ops...)
}

// NextDeadline returns when this instance is to look after a tick although nothing has changed;
// zero if it is not. Only the coordinator is: nobody may be for a long time, and others must not wait for
// that with pass after pass.
func (w *World) NextDeadline() time.Time {
	var next time.Time
	if len(w.Guarantees) == 0 || !w.Rules.Once || !w.IsCoordinator() {
		return next
	}
	behind := w.mostBehind()
	for _, g := range w.Guarantees {
		at := g.CompleteBy
		switch {
		case g.Err != nil || g.Ended || g.Completer == w.Self.ID:
			continue
		case g.Completer != "":
			at = g.Until.Add(time.Second)
		case !g.IsOpen:
			at = g.StartBy.Add(lateGrace)
		default:
			if lost := w.lostAt(g.Tick, behind); !lost.IsZero() && lost.Before(at) {
				at = lost
			}
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}
