package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Mixed is what this process has seen of a job that it shares with JVM members, which keep no sessions, no
// fired nodes and no conditions. The rules for such a job are in effect while one of them is there;
// [World.MixedRules] names those that are:
//
//   - record JVM runs: the coordinator writes for JVM members what they do not: schedule, fired ([World.RecordJVMRuns])
//   - failover latch: one process at a time claims what awaits failover, as JVM members do it; an owner leaves alone
//     what a JVM member has taken for failover
//   - late resignation: instances/{id} goes when nothing of the instance runs any more ([World.Resign])
//   - JVM order: strategies get instances in ElasticJob's order ([World.Eligible])
//   - gated moves: a leader of ours moves an item from or to a JVM member only while that begins nothing (gate.go)
//   - reshard on handover: who gives leadership up leaves a mark that the items are to be assigned
//   - pause while a JVM reshards: while a JVM leader assigns items we begin nothing; ticks that come meanwhile are on time
//     ([World.JVMReshardWait])
//   - complete what a JVM leaves: the coordinator does what a JVM leader leaves undone ([World.MarkForFailover],
//     [World.RequestReshard])
//
// Gated moves and reshard on handover are for a leader of ours, the last two for a JVM leader.
type Mixed struct {
	// HasJVM is set if a JVM member is there.
	HasJVM bool
	// MarkedSince is since when necessary or processing has stood, so that JVM members begin nothing, and
	// UnmarkedSince is when that ended; zero while it stands. Both are zero if it was never seen.
	MarkedSince, UnmarkedSince clocks.Moment
	// ProcessingSince is since when processing has stood; zero if it does not stand.
	ProcessingSince clocks.Moment
	// OwnersSince is since when owners and servers are as they are. JVM members read them in caches, which are behind.
	// OwnersCommit is the number of the last commit that has written one.
	OwnersSince  clocks.Moment
	OwnersCommit int64
	// Runs has the runs of JVM members by item.
	Runs map[int]JVMRun
	// OutSince has, for JVM members that own items, since when they have been gone or their servers
	// disabled: they begin nothing since then.
	OutSince map[string]clocks.Moment
}

// JVMRun is a run of a JVM member, as one process has seen it.
type JVMRun struct {
	ID       string
	Modified int64 // of its record
	// OverSince is since when another run of that member has had no record any more that began in the same
	// fire or later; zero if there is none.
	OverSince clocks.Moment
}

// runsOfJVM returns the runs of JVM members. A JVM member runs one fire at a time, waits for all of its
// items, and then removes their records. So if it has removed one, those that stood before that are of no
// run any more (OverSince).
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
			if r.OverSince = b.OverSince; r.OverSince.IsZero() && ended[r.ID] {
				r.OverSince = now
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
			m.HasJVM = true
			break
		}
	}
	if before == nil {
		before = &Mixed{}
	}
	m.Runs = runsOfJVM(s, before.Runs, now)
	m.OwnersCommit = lastOwnersCommit(s)
	m.OwnersSince = now
	if m.OwnersCommit == before.OwnersCommit {
		m.OwnersSince = before.OwnersSince
	}
	for i := range s.Items {
		owner := s.Items[i].Owner
		if owner == nil || !isJVMOut(s, owner.ID) {
			continue
		}
		if m.OutSince == nil {
			m.OutSince = map[string]clocks.Moment{}
		}
		m.OutSince[owner.ID] = firstSeen(before.OutSince[owner.ID], now)
	}
	if !m.HasJVM && m.OutSince == nil && !s.Processing {
		return nil
	}
	switch stands := s.Necessary || s.Processing; {
	case stands && before.UnmarkedSince.IsZero():
		m.MarkedSince = firstSeen(before.MarkedSince, now)
	case stands:
		m.MarkedSince = now
	case before.MarkedSince.IsZero():
	default:
		m.MarkedSince, m.UnmarkedSince = firstSeen(before.MarkedSince, now), firstSeen(before.UnmarkedSince, now)
	}
	if s.Processing {
		m.ProcessingSince = firstSeen(before.ProcessingSince, now)
	}
	return &m
}

// lastOwnersCommit returns the number of the last commit that has written an owner or a server.
func lastOwnersCommit(s *jobtree.State) (n int64) {
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

// firstSeen returns since when something has been seen that is seen now.
func firstSeen(since, now clocks.Moment) clocks.Moment {
	if since.IsZero() {
		return now
	}
	return since
}

// isJVMOut reports whether an id is that of a JVM member that is gone or may not have items.
func isJVMOut(s *jobtree.State, id string) bool {
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

// isRunByJVM reports whether the record of a run is that of a JVM member, whether that is there or not.
// One of ours always writes its id.
func (w *World) isRunByJVM(item *jobtree.Item) bool {
	id := item.Running.ID
	return id == "" || jobtree.IsJVMID(id) || w.isJVM(id)
}

// IsMixed reports whether a JVM member is there, so that the rules of [Mixed] are in effect.
func (w *World) IsMixed() bool { return w.Mixed != nil && w.Mixed.HasJVM }

// MixedRules names the rules of [Mixed] that are in effect; nil if none are.
func (w *World) MixedRules() []string {
	switch {
	case !w.IsMixed():
		return nil
	case w.JVMLeads():
		return []string{"record JVM runs", "failover latch", "late resignation", "JVM order", "pause while a JVM reshards", "complete what a JVM leaves"}
	}
	return []string{"record JVM runs", "failover latch", "late resignation", "JVM order", "gated moves", "reshard on handover"}
}

// maxReshardWait is how long our fires wait, at most, for a JVM leader that assigns the items.
const maxReshardWait = 30 * time.Second

// JVMReshardWait returns for how much longer our fires wait because a JVM leader assigns the items; 0 if
// they do not wait. It assigns in its next fire, so the time counts from the first tick after the mark was
// seen. JVM members then read caches, which are behind: so our fires also wait for gateTime after the mark
// has gone, until what JVM members run that is not theirs any more must show.
func (w *World) JVMReshardWait() time.Duration {
	switch {
	case !w.IsMixed():
		return 0
	case w.IsJVMResharding():
	case !w.JVMLeads() || w.Mixed.UnmarkedSince.IsZero():
		return 0
	default:
		return max(gateTime-w.Moment.Sub(w.Mixed.UnmarkedSince), 0)
	}
	from := w.wallAt(w.Mixed.MarkedSince)
	if w.Rules.Ticks != nil {
		from = w.Ticks().Next(from.Add(-w.Rules.Tolerance)) // or it came with the tick, and is seen after it
		if from.IsZero() || from.After(w.Now) {
			return maxReshardWait
		}
	}
	return max(maxReshardWait-w.Now.Sub(from), 0)
}

// delayByJVMReshard returns for how long fires were held by JVMReshardWait after a tick was to begin at
// start: by so much it may be later than usual and still be on time. The mark may have come with the tick,
// and be seen after it.
func (w *World) delayByJVMReshard(start time.Time) time.Duration {
	m := w.Mixed
	if m == nil || m.MarkedSince.IsZero() || start.Before(w.wallAt(m.MarkedSince).Add(-w.Rules.Tolerance)) {
		return 0
	}
	end := w.Now
	if !m.UnmarkedSince.IsZero() {
		end = w.wallAt(m.UnmarkedSince)
		if w.JVMLeads() {
			end = end.Add(min(gateTime, w.Moment.Sub(m.UnmarkedSince)))
		}
	}
	return min(max(end.Sub(start), 0), maxReshardWait)
}

// isTakenByJVM reports whether a JVM member has taken an item for failover, and is about to run it. If its
// owner went on to run it at each tick, the JVM would never come to do so, and would run nothing else.
func (w *World) isTakenByJVM(item *jobtree.Item) bool {
	return item.Failover != nil && w.isJVM(item.Failover.ID)
}
