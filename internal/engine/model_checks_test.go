package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// begins checks an execution that begins.
func (m *model) begins(p *member, r *run) {
	m.logf("%s: begins item %d, %v of %v, token %d", p.name, r.Item, r.Source, r.Tick.Format("04:05.000"), r.Token)
	if p.crashed || p.handler[r].Err() != nil {
		return // its context ends before it has begun
	}
	m.checkRoom(p)
	for _, other := range m.members {
		for o, ctx := range other.handler {
			if o != r && o.Item == r.Item && !other.crashed && ctx.Err() == nil {
				m.fatalf("item %d begins on %s while it runs on %s", r.Item, p.name, other.name)
			}
		}
	}
	if r.Token <= m.token[r.Item] {
		m.fatalf("item %d begins with the token %d after %d", r.Item, r.Token, m.token[r.Item])
	}
	m.token[r.Item] = r.Token
	m.checkOriginal(r)
	m.checkSteered(p, r)
	m.checkOnce(p, r)
	m.checkStarted(r)
	m.checkSkipped(r)
	switch r.Source {
	case decide.Normal, decide.Misfire:
		if r.Tick.Nanosecond() != 0 {
			return // a triggered run that was begun in the same millisecond as its item's last
		}
		key := fmt.Sprintf("%d at %s", r.Item, r.Tick.Format("04:05.000"))
		if by, twice := m.begun[key]; twice {
			m.fatalf("item %s begins on %s, and has begun on %s", key, p.name, by)
		}
		m.begun[key] = p.name
	case decide.Failover:
		if m.cut[r.Item] == "" && !m.isKilled(r.Item, r.Token) { // the kill came after its claim, and it cannot know yet
			m.fatalf("item %d is taken over although nothing of it was cut short", r.Item)
		}
		delete(m.cut, r.Item)
		if at, ok := m.owed[r.Item]; ok && !at.Equal(r.Tick) {
			m.fatalf("item %d is taken over for %s, and not for %s", r.Item, r.Tick, at)
		}
		delete(m.owed, r.Item)
	}
}

// checkOriginal checks what an execution says that it repeats.
func (m *model) checkOriginal(r *run) {
	if m.tasks[r.TaskID] != nil {
		m.fatalf("item %d begins as %s, which has begun", r.Item, r.TaskID)
	}
	m.tasks[r.TaskID] = r
	if r.Original == "" {
		if r.Source == decide.Failover && !m.how.torn {
			m.fatalf("item %d is run again, and nobody knows after what", r.Item)
		}
		return
	}
	const tick = 13              // digits of an id say its tick
	first := m.tasks[r.Original] // nil if its process has ended before it began
	switch {
	case r.Source != decide.Failover, r.Original == r.TaskID, r.Original[:tick] != r.TaskID[:tick]:
		m.fatalf("item %d begins as %s for %v, and repeats %s", r.Item, r.TaskID, r.Source, r.Original)
	case first != nil && (first.Request != r.Request || first.Parameter != r.Parameter):
		m.fatalf("item %d begins for %q, %q, and repeats a run for %q, %q", r.Item, r.Request, r.Parameter, first.Request, first.Parameter)
	case first != nil && (first.Item != r.Item || first.Original != ""):
		m.fatalf("item %d repeats %s, which is of item %d and repeats %q", r.Item, r.Original, first.Item, first.Original)
	}
}

// mustRunAgain notes that a run was cut short, and has to be run again.
func (m *model) mustRunAgain(p *member, r *run) {
	if m.isKilled(r.Item, r.Token) {
		return
	}
	m.mustRunAgainAs(r)
}

// mustRunAgainAs is mustRunAgain whatever operators want.
func (m *model) mustRunAgainAs(r *run) {
	s := m.state()
	item := s.Item(r.Item)
	if item.Running == nil || item.Running.Owner != 0 || item.Running.ID != r.Instance || item.Fired == nil || item.Fired.Modified != r.Token {
		return // it was begun with failover off
	}
	if !m.config.Failover || r.Item >= m.config.ShardingTotalCount {
		return
	}
	if of := m.requestOf(s, r.Item); of != nil && (!of.Ended.IsZero() || m.waits(s, r.Item)) {
		return // it was cancelled, or the request has its turn again
	}
	m.owed[r.Item] = r.Tick
}

// waits reports whether an item waits to be run again.
func (m *model) waits(s *jobtree.State, i int) bool {
	return slices.ContainsFunc(s.FailoverItems, func(f jobtree.FailoverItem) bool { return f.Item == i })
}

// lookForCutRuns notes the records in the tree whose instances have ended.
func (m *model) lookForCutRuns() {
	s := m.state()
	for i := range s.Items {
		running := s.Items[i].Running
		if running == nil || s.Items[i].Fired == nil {
			continue
		}
		_, registered := s.Instances[running.ID]
		_, alive := s.Sessions[running.ID]
		key := fmt.Sprintf("%d: %d, %d", i, running.Created, s.Items[i].Fired.Modified)
		if !registered && !alive && !m.counted[key] && !m.isKilled(i, s.Items[i].Fired.Modified) {
			m.counted[key] = true
			m.cut[i] = running.ID
			if _, waits := m.owed[i]; waits && m.requestOf(s, i) == nil {
				m.owed[i] = s.Items[i].Fired.Run // an item waits once, for the later one
			}
		}
	}
}

// applied checks a commit of a member, whose view showed a revision.
func (m *model) applied(by string, seen int64, ops []coord.Op) {
	m.handedOver(by, ops)
	m.happened()
	before := m.before
	if m.how.expires {
		m.lookForRemoval(before)
	}
	m.checkMoves(before)
	var claimed, moved []int
	for _, op := range ops {
		number, leaf, _ := strings.Cut(strings.TrimPrefix(op.Path, m.job.Sharding()+"/"), "/")
		i, ok := jobtree.ParseItem(number)
		if !ok || !op.Kind.Writes() || op.Kind == coord.OpDelete || op.Kind == coord.OpDeleteTree {
			continue
		}
		item := before.Item(i)
		switch leaf {
		case "running":
			claimed = append(claimed, i)
		case "instance":
			if item.Running != nil && item.Owner != nil { // without an owner it does not move
				m.fatalf("item %d moves from %s to %s while it runs on %s", i, item.Owner.ID, op.Value, item.Running.ID)
			}
		case "fired":
			if item.Fired != nil && m.state().Item(i).Fired.Tick.After(item.Fired.Tick) {
				moved = append(moved, i)
			}
		}
	}
	for _, i := range moved {
		is := m.state().Item(i).Fired
		if !slices.Contains(claimed, i) {
			if m.begunAnew(before, i) || m.passedElse(by, is.Tick) {
				continue
			}
			due := is.Tick.After(before.Schedule.Since) && !(m.config.Overlap == jobtype.OverlapSkip && before.Item(i).Running != nil)
			if due && m.config.Misfire == jobtype.On && before.Schedule.Misfire && !m.excused[i] && !m.comesUnseen(seen) && m.excuse[i].Before(is.Tick.Add(-m.how.skew)) {
				m.fatalf("the tick %s of item %d is skipped", is.Tick, i)
			}
			continue
		}
		if before.Schedule != nil && is.Tick.Equal(before.Schedule.LastBefore) {
			continue // of the schedule before
		}
		if before.Schedule == nil || !is.Tick.After(before.Schedule.Since) || before.Schedule.Cron != m.config.Cron {
			m.fatalf("item %d begins for %s, which is not due by the schedule", i, is.Tick)
		}
		m.checkCalendar(i, is.Tick, before.Schedule.Calendars)
		m.checkEnd(i, is.Tick, before.Schedule)
	}
}

// onWrite checks each node that was written or removed.
func (m *model) onWrite(before, after *coord.Node) {
	m.checkProgress(before, after)
	if before == nil || after == nil || !strings.HasSuffix(after.Path, "/fired") {
		return
	}
	was, _, _ := strings.Cut(string(before.Value), " ")
	is, _, _ := strings.Cut(string(after.Value), " ")
	if is >= was {
		return
	}
	// A claim that was released.
	for _, p := range m.members {
		for r, ctx := range p.handler {
			if m.job.Fired(r.Item) == after.Path && !p.crashed && ctx.Err() == nil {
				m.fatalf("%s goes back from %s to %s while the item runs on %s", after.Path, before.Value, after.Value, p.name)
			}
		}
	}
}

// handedOver notes the items that a member has handed over.
func (m *model) handedOver(by string, ops []coord.Op) {
	if ops[0].Kind != coord.OpOwned || !strings.HasPrefix(ops[0].Path, "settle/sessions/") {
		return
	}
	for _, op := range ops {
		item, ok := strings.CutPrefix(op.Path, m.job.FailoverItems()+"/")
		if !ok || op.Kind != coord.OpPut {
			continue
		}
		i, _ := jobtree.ParseItem(item)
		m.cut[i] = by
		for _, p := range m.members {
			if r := p.c.runs[i]; p.name == by && r != nil && r.phase == exec.Done && r.ending.Err == nil {
				m.fatalf("item %d is handed over although it has finished", i)
			}
		}
	}
}

// checkRoom checks that an instance does not run more items than it may have.
func (m *model) checkRoom(p *member) {
	running := 0
	for _, ctx := range p.handler {
		if ctx.Err() == nil {
			running++
		}
	}
	if most := m.config.MaxItems; most > 0 && running > most {
		m.fatalf("%s runs %d items, and an instance may have %d", p.name, running, most)
	}
}

// available returns the instances that may have items.
func (m *model) available(s *jobtree.State) []string {
	var ids []string
	for id, in := range s.Instances {
		if s.ServerEnabled(in.IP) {
			ids = append(ids, id)
		}
	}
	return ids
}

// comesUnseen reports whether all instances that may have items have come after a revision: who does not see any of them yet
// passes a tick over as one before they came.
func (m *model) comesUnseen(revision int64) bool {
	s := m.state()
	return !slices.ContainsFunc(m.available(s), func(id string) bool { return s.Instances[id].Created <= revision })
}

func (m *model) checkOwners() {
	s := m.state()
	available := m.available(s)
	if len(available) == 0 {
		return
	}
	if s.Leader == nil || !slices.Contains(available, s.Leader.ID) {
		m.fatalf("nobody leads who may")
	}
	m.checkSpread(s, available)
	for i := range m.config.ShardingTotalCount {
		item := s.Item(i)
		if m.config.Broadcast && item.Owner == nil && item.Running == nil {
			continue
		}
		if item.Running != nil {
			if _, alive := s.Sessions[item.Running.ID]; !alive {
				m.fatalf("item %d has a record of %s, which has ended", i, item.Running.ID)
			}
			continue
		}
		if item.Owner == nil || !slices.Contains(available, item.Owner.ID) {
			m.fatalf("item %d has no owner that may run it", i)
		}
	}
}

// signsOff does what goes on after a member has left, and checks that nothing of it stays.
func (p *member) signsOff() {
	m, c := p.m, p.c
	if !p.isGone || p.crashed || c.session == nil || c.session.Context().Err() != nil {
		return
	}
	if c.registration != unasked && c.registration != deregistered {
		m.logf("%s: deregisters later", p.name)
		if err := c.deregisterByNewView(m.ctx); err != nil {
			m.fatalf("%s does not deregister: %v", p.name, err)
		}
	}
	s := m.state()
	if _, isThere := s.Instances[c.self.ID]; isThere {
		m.fatalf("%s has left, and its instance is still there", p.name)
	}
	if s.Leader.Is(c.self.ID) {
		m.fatalf("%s has left, and still leads", p.name)
	}
}

// checkRest checks a cluster that has settled down.
func (m *model) checkRest() {
	s := m.state()
	available := m.available(s)
	if len(available) == 0 {
		return
	}
	m.checkStays(s)
	m.checkOwners()
	for i := range s.Items {
		item := s.Items[i]
		if i >= m.config.ShardingTotalCount {
			m.fatalf("item %d is still there", i)
		}
		if item.Running != nil || item.Failovering != nil || item.Failover != nil {
			m.fatalf("item %d has records of a run, and nothing runs", i)
		}
		if item.Disabled || m.config.Broadcast && item.Owner == nil {
			continue
		}
		if _, waits := m.owed[i]; waits {
			m.fatalf("item %d was cut short, and was not run again", i)
		}
		if m.config.Misfire == jobtype.On {
			last := m.lastTick(s, i)
			if !last.IsZero() && item.Fired.Tick.Before(last) {
				m.fatalf("item %d has run for %s, and not for %s", i, item.Fired.Tick, last)
			}
		}
	}
	for _, waiting := range s.FailoverItems {
		if !s.Item(waiting.Item).Disabled {
			m.fatalf("item %d waits for failover", waiting.Item)
		}
	}
	m.checkRequests(s)
	m.checkTicks()
	if len(s.Triggers) > 0 {
		m.fatalf("triggers are left: %v", s.Triggers)
	}
	for _, p := range m.members {
		if len(p.c.runs) > 0 && !p.crashed && !p.isGone {
			m.fatalf("%s thinks that %v run", p.name, slices.Sorted(maps.Keys(p.c.runs)))
		}
	}
}

// lastTick returns the last tick of an item, as a member sees it that may run the item and knows
// the calendar; zero if there is none.
func (m *model) lastTick(s *jobtree.State, item int) time.Time {
	available := m.available(s)
	for _, p := range m.members {
		if !p.crashed && !p.isGone && slices.Contains(available, p.c.self.ID) {
			w := p.c.newWorld()
			w.State = s
			if last := w.LastTickOf(item); !last.IsZero() {
				return last
			}
		}
	}
	return time.Time{}
}
