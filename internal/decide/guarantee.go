package decide

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
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
	return w.Rules.Once && w.Guarantee(tick) == nil && (last == nil || tick.After(last.Tick) || w.isFuture(last.Tick))
}

// OpenTick fixes the members of a tick for which items are due, before the first of them is claimed.
// Whoever commits it calls Started. It is nil if once-listeners are not told of the tick, or have been.
// tooMany says that they are not, because other ticks have to end first.
//
// The parent has the last tick, and its version is a condition: so no tick is told of twice, even after
// its node was removed.
func (w *World) OpenTick(k *Work, tick time.Time) (change *Change, tooMany bool, err error) {
	if !w.wantsGuarantee(tick) {
		return nil, false, nil
	}
	if len(w.Guarantees) >= maxGuarantees {
		return nil, true, nil
	}
	now := w.correctedTime()
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
	return &Change{Step: "open tick", Urgency: urgency.Sooner, Ops: []coord.Op{
		w.ifSessionLives(), w.ifSameConfig(), w.ifSameSchedule(), last, coord.Create(w.Job.Guarantee(tick), document),
	}}, false, nil
}

// membersOf lists the items that belong to a tick: they are enabled, have an owner of ours, are
// idle, and are due for it, be it on time or to be made up. It looks at all items.
func (w *World) membersOf(k *Work, tick time.Time) []int {
	var members []int
	for i := range w.itemCount() {
		item := &w.Items[i]
		if item.Disabled || item.Owner == nil || w.isJVM(item.Owner.ID) || !isIdle(k, i, item) || k.hasBegun(i, tick) {
			continue
		}
		if v := w.judge(i, item, tick); v == onTime || v == makeUp || v == notMadeUp && k.isWaitingOnTime(i, tick) {
			members = append(members, i)
		}
	}
	return members
}

// isOpenMember reports whether an item is a member of a tick that has not ended, so that a claim or an end
// of the item for that tick counts for it.
func (w *World) isOpenMember(g *jobtree.Guarantee, i int) bool {
	return w.Rules.Once && g != nil && g.Err == nil && g.Completer == "" && !g.Ended && g.Has(i) && !w.hasMemberEnded(g, i)
}

// memberClaims is tickClaims for members of a tick, with the condition that none has been skipped since,
// and Completed is not being called.
func (w *World) memberClaims(step string, g *jobtree.Guarantee) *claims {
	c := w.tickClaims(step)
	before := c.head
	c.head = func(w *World) []coord.Op {
		return append(before(w), coord.AtVersion(w.Job.Guarantee(g.Tick), g.Version))
	}
	return c
}

// otherClaims is tickClaims for items that are no members. If the snapshot shows nothing of the tick, that
// is a condition: a view may show guarantee before guarantee/{t}.
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

// hasMemberEnded reports whether outcomeOf finds an outcome.
func (w *World) hasMemberEnded(g *jobtree.Guarantee, i int) bool {
	if _, ok := g.Outcomes[i]; ok || g.IsSkipped(i) {
		return true
	}
	return i < len(w.Items) && w.Items[i].Completed.IsFor(g.Tick)
}

// recordMemberEnd returns the operations that write {g}/{i}, for outcomes that {i}/completed alone does
// not tell for certain: the member has no execution, or may be run again.
func (w *World) recordMemberEnd(i int, tick time.Time, outcome jobtree.Outcome) []coord.Op {
	if g := w.Guarantee(tick); w.isOpenMember(g, i) {
		return []coord.Op{coord.Exists(w.Job.Guarantee(tick)), coord.Create(w.Job.GuaranteeItem(tick, i), []byte(outcome))}
	}
	return nil
}

// recordCutMember is recordMemberEnd for a run that ends without its runner. A run for a request belongs
// to no tick.
func (w *World) recordCutMember(i int, p purpose, tick time.Time, outcome jobtree.Outcome) []coord.Op {
	if len(w.Guarantees) == 0 || p.request != nil || p.isOver {
		return nil
	}
	return w.recordMemberEnd(i, tick, outcome)
}

// recordRunEnd is recordMemberEnd for a run that has ended here.
func (w *World) recordRunEnd(r *Run) []coord.Op {
	if len(w.Guarantees) == 0 || r.Request != "" || r.Completed.Outcome != jobtree.OutcomeCut && r.Completed.Outcome != jobtree.OutcomeKilled {
		return nil
	}
	return w.recordMemberEnd(r.Item, r.Tick, r.Completed.Outcome)
}

// keepOutcome returns the operations that write {g}/{i} for a member whose outcome only {i}/completed has,
// before that is overwritten.
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

// ifSameCall is the condition, for the failover of a member for which Started is being called, that nobody
// else calls Started meanwhile: then the run would have to wait for longer than the snapshot says.
func (w *World) ifSameCall(c *Claim) []coord.Op {
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

// Outcomes returns how the members of a tick have ended, and which instances have those that have not.
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

// EndCall notes that a call has been made: the handlers of the tick may begin, or nothing of the tick is left.
func (w *World) EndCall(call Call) Change {
	c := changes{w: w, step: "end call", urgency: urgency.Soonest, head: (*World).sessionHead}
	if !call.IsEnd {
		c.add(NoItem, coord.Exists(w.Job.Guarantee(call.Tick)), coord.Create(w.Job.GuaranteeOpen(call.Tick), nil))
		return c.list[0]
	}
	if len(call.Outcomes) > maxOutcomesAtOnce {
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

// maxOutcomesAtOnce is how many outcomes are removed with the node of a tick in one commit.
const maxOutcomesAtOnce = 50

// AdvanceTicks takes, as the coordinator, the ticks that once-listeners are told of a step further: it has
// Completed called when all members have ended, takes the calls of instances that have ended, and removes
// ticks that nobody wants to be told of.
func (w *World) AdvanceTicks() []Change {
	if len(w.Guarantees) == 0 || !w.IsCoordinator() {
		return nil
	}
	now := w.correctedTime()
	isUnwanted := !w.Rules.Once && w.Accepted == w.Config.Modified
	late := w.bySlowestClock()
	c := changes{w: w, step: "advance ticks", urgency: urgency.Sooner, head: (*World).sessionConfigHead}
	for _, g := range w.Guarantees {
		d := g.GuaranteeDocument
		switch {
		case g.Err != nil, isUnwanted, g.Ended:
			w.removeTick(&c, g)
		case !w.Rules.Once, g.Completer == w.Self.ID:
		case g.Completer != "" && w.IsDead(g.Completer):
			d.Completer, d.Until, d.Again = w.Self.ID, w.callDeadline(now), true
			c.put(w.writeGuarantee(g, d), w.ifDead(g.Completer)...)
		case g.Completer != "":
			if now.After(g.Until) {
				w.removeTick(&c, g)
			}
		case !g.IsOpen && w.IsDead(g.Starter):
			d.Starter, d.StartBy, d.Again = w.Self.ID, now.Add(w.Rules.StartTime), true
			c.put(w.writeGuarantee(g, d), w.ifDead(g.Starter)...)
		case !g.IsOpen:
			if !now.Before(g.StartBy.Add(lateGrace)) {
				c.add(NoItem, coord.AtVersion(w.Job.Guarantee(g.Tick), g.Version), coord.Create(w.Job.GuaranteeOpen(g.Tick), nil)).Late = g
			}
		case !now.Before(g.CompleteBy) || w.haveAllEnded(g):
			d.Completer, d.Until, d.Again = w.Self.ID, w.callDeadline(now), false
			c.put(w.writeGuarantee(g, d))
		default:
			w.endStuckMembers(&c, g, late)
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

// callDeadline returns when a call of Completed that begins now must be over.
func (w *World) callDeadline(now time.Time) time.Time { return now.Add(w.Rules.StartTime + callGrace) }

// writeGuarantee returns the operation that writes the document of a tick anew; none if it cannot be written.
func (w *World) writeGuarantee(g *jobtree.Guarantee, d jobtree.GuaranteeDocument) []coord.Op {
	value, err := jobtree.EncodeGuarantee(d)
	if err != nil { // it was read, so it can be written, unless what is skipped makes it too large
		return nil
	}
	return []coord.Op{coord.SetAt(w.Job.Guarantee(g.Tick), value, g.Version)}
}

// haveAllEnded reports whether all members of a tick have ended.
func (w *World) haveAllEnded(g *jobtree.Guarantee) bool {
	return !slices.ContainsFunc(g.Items, func(i int) bool { return !w.hasMemberEnded(g, i) })
}

// endStuckMembers ends members that nobody will run for the tick any more. Those that were claimed have
// been cut short. The others are skipped, in the document of the tick, because its version is a condition
// of their claims. late is what [World.bySlowestClock] returns.
func (w *World) endStuckMembers(c *changes, g *jobtree.Guarantee, late *World) {
	const most = 100
	skipped := g.Skipped[:len(g.Skipped):len(g.Skipped)]
	var conditions []coord.Op
	for _, i := range g.Items {
		if _, isLooked := slices.BinarySearch(w.Dirty, i); w.Dirty != nil && !isLooked || w.hasMemberEnded(g, i) {
			continue
		}
		item := w.Item(i)
		unclaimed := w.ifUnclaimed(i, &item)
		switch {
		case item.Fired != nil && item.Fired.Run.Equal(g.Tick):
			if item.Running == nil && item.Failovering == nil && !w.awaitsFailoverOf(i, g.Tick) {
				// A view may show the claim before it shows the rest.
				c.add(i, append(w.recordMemberEnd(i, g.Tick, jobtree.OutcomeCut), unclaimed, coord.Absent(w.Job.Running(i)), coord.Absent(w.Job.FailoverItem(i)), coord.Absent(w.Job.Failovering(i)))...)
			}
		case item.Failovering != nil, w.awaitsFailoverOf(i, g.Tick):
		case item.Fired == nil, !item.Fired.Tick.Before(g.Tick), late.nobodyWillBegin(g.Tick, i, &item):
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

// bySlowestClock returns the world by the slowest clock that an instance with items may have. A tick that
// has come by that clock has come for everybody. The coordinator's own clock does not count, because the
// others begin ticks by theirs.
func (w *World) bySlowestClock() *World {
	late := *w
	late.Now = w.correctedTime().Add(-w.slowestClockLag())
	return &late
}

// nobodyWillBegin reports, in a world bySlowestClock, whether no instance will begin an item for a tick
// any more that it has not begun.
func (w *World) nobodyWillBegin(tick time.Time, i int, item *jobtree.Item) bool {
	switch {
	case item.Disabled, i >= w.Rules.Total, w.IsPaused(), item.Owner != nil && w.isJVM(item.Owner.ID):
		return true
	case w.Rules.Broadcast && item.Owner == nil: // whoever gets it begins with the next tick
		return !tick.After(w.Now)
	case !w.IsScheduleEffective():
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

// nobodyWillBeginAt returns the next time, by [World.correctedTime], at which nobodyWillBegin may become
// true for items of a tick; zero if that time is over. lag is what [World.slowestClockLag] returns.
func (w *World) nobodyWillBeginAt(tick time.Time, lag time.Duration) time.Time {
	now := w.correctedTime()
	if at := tick.Add(lag); w.Rules.Broadcast && at.After(now) {
		return at
	}
	if w.Rules.Ticks != nil {
		if w.Schedule != nil && w.Schedule.Since.After(tick) {
			tick = w.Schedule.Since
		}
		if next := w.Ticks().Next(tick); !next.IsZero() {
			if at := next.Add(w.Rules.Jitter + lag); at.After(now) {
				return at
			}
		}
	}
	return time.Time{}
}

// awaitsFailoverOf reports whether an item awaits failover for a tick.
func (w *World) awaitsFailoverOf(i int, tick time.Time) bool {
	at, waits := slices.BinarySearchFunc(w.FailoverItems, i, func(f jobtree.FailoverItem, i int) int { return f.Item - i })
	return waits && (w.FailoverItems[at].Tick.IsZero() || w.FailoverItems[at].Tick.Equal(tick))
}

// removeTick removes the node of a tick. A large one is removed in parts.
func (w *World) removeTick(c *changes, g *jobtree.Guarantee) {
	if len(g.Outcomes) > maxOutcomesAtOnce {
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

// NextDeadline returns when AdvanceTicks is to be asked again although nothing has changed; zero if it is
// not. Only the coordinator has to ask.
func (w *World) NextDeadline() time.Time {
	var next time.Time
	if len(w.Guarantees) == 0 || !w.Rules.Once || !w.IsCoordinator() {
		return next
	}
	lag := w.slowestClockLag()
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
			if lost := w.nobodyWillBeginAt(g.Tick, lag); !lost.IsZero() && lost.Before(at) {
				at = lost
			}
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}
