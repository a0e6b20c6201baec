package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Mixed is what this process has seen of a job that it shares with JVM members, which keep no sessions,
// no fired nodes and no conditions. The rules for such a job, which [World.MixedRules] names,
// are in force while one of them is there:
//
//	witness  the coordinator writes for JVM members what they do not: schedule, fired ([World.Witness])
//	latch    what waits to be run again is taken over by one process at a time, as JVM members do it; the
//	         owner leaves alone what a JVM member has taken over
//	linger   instances/{id} goes when nothing of the instance runs any more ([World.Resign])
//	order    instances are in ElasticJob's order ([World.Eligible])
//	gate     a leader of ours moves an item from or to a JVM member only while that begins nothing
//	word     who gives leadership up leaves word that the items are to be dealt
//	yield    while a JVM leader deals we begin nothing; ticks that come meanwhile are on time
//	         ([World.HeldForJVM])
//	tend     the coordinator does what a JVM leader leaves undone ([World.MarkForFailover], [World.AskForDeal])
//
// gate and word are for a leader of ours, yield and tend for a JVM leader.
type Mixed struct {
	// Now is whether a JVM member is there.
	Now bool
	// From is since when necessary or processing has stood, so that JVM members begin nothing, and
	// To is when that ended; zero while it stands. Both are zero if it was never seen.
	From, To clocks.Moment
	// Dealing is since when processing has stood; zero if it does not stand.
	Dealing clocks.Moment
	// Still is since when owners and servers are as they are. JVM members read them in caches, which are behind.
	// Newest is the number of the last commit that has written one.
	Still  clocks.Moment
	Newest int64
	// Runs has the runs of JVM members by item.
	Runs map[int]JVMRun
	// Out says of JVM members that own items since when they have been gone, or their servers
	// disabled: they begin nothing since then.
	Out map[string]clocks.Moment
}

// JVMRun is a run of a JVM member, as one process has seen it.
type JVMRun struct {
	ID       string
	Modified int64 // of its record
	// Over is since when another run of that member has had no record any more, which began in the same fire, or in
	// one after it; zero if none has.
	Over clocks.Moment
}

// runsOfJVM returns the runs of JVM members. A JVM member runs one fire at a time, waits for all of its items, and then
// removes their records. So if it has removed one, those that stood before that are of no run any more.
func runsOfJVM(s *jobtree.State, before map[int]JVMRun, now clocks.Moment) map[int]JVMRun {
	var ended map[string]bool
	for i, r := range before {
		if i < len(s.Items) && s.Items[i].Exists && s.Items[i].Running == nil {
			if ended == nil {
				ended = map[string]bool{}
			}
			ended[r.ID] = true
		}
	}
	var runs map[int]JVMRun
	for i := range s.Items {
		running := s.Items[i].Running
		if running == nil || !isJVM(s, running.ID) {
			continue
		}
		r := JVMRun{ID: running.ID, Modified: running.Modified}
		if b, stood := before[i]; stood && b.ID == r.ID && b.Modified == r.Modified {
			if r.Over = b.Over; r.Over.IsZero() && ended[r.ID] {
				r.Over = now
			}
		}
		if runs == nil {
			runs = map[int]JVMRun{}
		}
		runs[i] = r
	}
	return runs
}

// Mix returns what a process sees of JVM members; nil if there are none, and nothing of them is left that
// matters. before is what it returned for the snapshot before.
func Mix(s *jobtree.State, before *Mixed, now clocks.Moment) *Mixed {
	var m Mixed
	for id := range s.Instances {
		if isJVM(s, id) {
			m.Now = true
			break
		}
	}
	if before == nil {
		before = &Mixed{}
	}
	m.Runs = runsOfJVM(s, before.Runs, now)
	m.Newest = newest(s)
	m.Still = now
	if m.Newest == before.Newest {
		m.Still = before.Still
	}
	for i := range s.Items {
		owner := s.Items[i].Owner
		if owner == nil || !isOut(s, owner.ID) {
			continue
		}
		if m.Out == nil {
			m.Out = map[string]clocks.Moment{}
		}
		m.Out[owner.ID] = earliest(before.Out[owner.ID], now)
	}
	if !m.Now && m.Out == nil && !s.Processing {
		return nil
	}
	switch stands := s.Necessary || s.Processing; {
	case stands && before.To.IsZero():
		m.From = earliest(before.From, now)
	case stands:
		m.From = now
	case before.From.IsZero():
	default:
		m.From, m.To = earliest(before.From, now), earliest(before.To, now)
	}
	if s.Processing {
		m.Dealing = earliest(before.Dealing, now)
	}
	return &m
}

// newest returns the number of the last commit that has written an owner or a server.
func newest(s *jobtree.State) (n int64) {
	for i := range s.Items {
		if owner := s.Items[i].Owner; owner != nil {
			n = max(n, owner.Modified)
		}
	}
	for _, server := range s.Servers {
		n = max(n, server.Modified)
	}
	return n
}

// earliest returns since when something holds that was seen first at a time, or zero if it is seen first
// now.
func earliest(since, now clocks.Moment) clocks.Moment {
	if since.IsZero() {
		return now
	}
	return since
}

// isOut reports whether an id is that of a JVM member that is gone or may not have items.
func isOut(s *jobtree.State, id string) bool {
	in, isThere := s.Instances[id]
	if !isThere || in.Owner == 0 {
		return s.Sessions[id] == nil && jobtree.IsJVMID(id)
	}
	return isJVM(s, id) && !s.ServerEnabled(in.IP)
}

// isJVM reports whether an instance is there, and is a JVM member: it has no session's node. The view
// may show the two nodes of one of ours one after the other; its id tells it apart.
func isJVM(s *jobtree.State, id string) bool {
	in, isThere := s.Instances[id]
	return isThere && in.Owner != 0 && s.Sessions[id] == nil && !jobtree.IsOurID(id)
}

// isJVM reports whether an instance is there, and is a JVM member.
func (w *World) isJVM(id string) bool { return isJVM(w.State, id) }

// isRunByJVM reports whether the record of a run is that of a JVM member, be it there or not. One of ours always
// writes its id.
func (w *World) isRunByJVM(item *jobtree.Item) bool {
	id := item.Running.ID
	return id == "" || jobtree.IsJVMID(id) || w.isJVM(id)
}

// IsMixed reports whether a JVM member is there, so that the rules for that are in force.
func (w *World) IsMixed() bool { return w.Mixed != nil && w.Mixed.Now }

// MixedRules names the rules for jobs with JVM members that are in force; nil if there are none.
func (w *World) MixedRules() []string {
	switch {
	case !w.IsMixed():
		return nil
	case w.JVMLeads():
		return []string{"witness", "latch", "linger", "order", "yield", "tend"}
	}
	return []string{"witness", "latch", "linger", "order", "gate", "word"}
}

// yieldTime is how long our fires wait, at most, for a JVM leader that deals the items.
const yieldTime = 30 * time.Second

// HeldForJVM returns for how much longer our fires wait because a JVM leader deals the items; 0 if
// they do not wait. It deals in its next fire, so the time counts from the first tick since then. When it has
// dealt, it reads its cache, which is behind, as do those that have waited for the deal: so they also wait
// until what JVM members run of what is not theirs any more must show.
func (w *World) HeldForJVM() time.Duration {
	switch {
	case !w.IsMixed():
		return 0
	case w.IsBeingDealtByJVM():
	case !w.JVMLeads() || w.Mixed.To.IsZero():
		return 0
	default:
		return max(gateTime-w.Moment.Sub(w.Mixed.To), 0)
	}
	from := w.shownAt(w.Mixed.From)
	if w.Rules.Ticks != nil {
		from = w.Ticks().Next(from.Add(-w.Rules.Tolerance)) // or it came with the tick, and is seen after it
		if from.IsZero() || from.After(w.Now) {
			return yieldTime
		}
	}
	return max(yieldTime-w.Now.Sub(from), 0)
}

// heldAfter returns for how long fires were held after a tick was to begin: by so much it may be later
// than usual and still be on time. What stands may have come with the tick, and be seen after it.
func (w *World) heldAfter(start time.Time) time.Duration {
	m := w.Mixed
	if m == nil || m.From.IsZero() || start.Before(w.shownAt(m.From).Add(-w.Rules.Tolerance)) {
		return 0
	}
	end := w.Now
	if !m.To.IsZero() {
		end = w.shownAt(m.To)
		if w.JVMLeads() {
			end = end.Add(min(gateTime, w.Moment.Sub(m.To)))
		}
	}
	return min(max(end.Sub(start), 0), yieldTime)
}

// takenByJVM reports whether a JVM member has taken an item over, and is about to run it. If its owner went
// on to run it at each tick, the JVM would never come to do so, and would run nothing else.
func (w *World) takenByJVM(item *jobtree.Item) bool {
	return item.Failover != nil && w.isJVM(item.Failover.ID)
}
