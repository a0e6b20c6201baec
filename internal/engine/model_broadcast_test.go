package engine

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// spreading is what the model knows of the members of a broadcast job.
type spreading struct {
	ticked map[memberTick]int   // the item with which a process has begun a tick
	lapsed map[string]bool      // instances that could not have an item for a while
	joined map[string]time.Time // when processes took the ids of instances
}

type memberTick struct {
	name string
	tick int64
}

func newSpreading() spreading {
	return spreading{ticked: map[memberTick]int{}, lapsed: map[string]bool{}, joined: map[string]time.Time{}}
}

// isBroadcast reports whether a configuration in the tree is that of a broadcast job.
func isBroadcast(s *jobtree.State) bool {
	if s.Config == nil {
		return false
	}
	config, err := jobtype.DecodeConfig(s.Config.Value)
	return err == nil && config.Broadcast
}

// checkOnce checks that a process begins a tick of a broadcast job only once, in whatever session
// and with whatever item.
func (m *model) checkOnce(p *member, r *run) {
	if r.Source != decide.Normal && r.Source != decide.Misfire || r.Tick.Nanosecond() != 0 {
		return
	}
	if !isBroadcast(jobtree.Read(m.history[r.Token-m.first-1], m.job)) {
		return
	}
	key := memberTick{p.name, r.Tick.UnixMilli()}
	if item, twice := m.ticked[key]; twice {
		m.fatalf("%s: begins %s with item %d, and has begun it with item %d", p.name, r.Tick, r.Item, item)
	}
	m.ticked[key] = r.Item
	if joined := m.joined[r.Instance]; !r.Tick.After(joined) {
		m.fatalf("%s: begins %s, and has joined at %s", p.name, r.Tick, joined)
	}
}

// lookForLapses notes the instances that cannot have an item now.
func (m *model) lookForLapses(s *jobtree.State) {
	available := m.available(s)
	for i := range s.Items {
		if owner := s.Items[i].Owner; owner != nil && !slices.Contains(available, owner.ID) {
			m.lapsed[owner.ID] = true
		}
	}
	for id := range s.Instances {
		if !slices.Contains(available, id) {
			m.lapsed[id] = true
		}
	}
}

// checkMoves checks that an instance keeps its item as long as it may have one, and so runs each
// tick: an item is taken from it only if it has another one.
func (m *model) checkMoves(before *jobtree.State) {
	after := m.state()
	if !isBroadcast(before) || !isBroadcast(after) {
		return
	}
	for i := range m.config.ShardingTotalCount {
		was, is := before.Item(i).Owner, after.Item(i).Owner
		if was == nil || is.Is(was.ID) || m.lapsed[was.ID] {
			continue
		}
		if !slices.ContainsFunc(after.Items, func(item jobtree.Item) bool { return item.Owner.Is(was.ID) }) {
			m.fatalf("item %d is taken from %s, which has no other one", i, was.ID)
		}
	}
}

// begunAnew reports whether a commit has given an item of a broadcast job another owner.
func (m *model) begunAnew(before *jobtree.State, i int) bool {
	owner := m.state().Item(i).Owner
	return isBroadcast(before) && owner != nil && !before.Item(i).Owner.Is(owner.ID)
}

// passedElse reports whether the process of an instance has begun a tick of a broadcast job.
func (m *model) passedElse(by string, tick time.Time) bool {
	_, has := m.ticked[memberTick{by, tick.UnixMilli()}]
	return m.config.Broadcast && has
}

// checkSpread checks who owns the items of a broadcast job that has settled down: each instance
// one, as long as there are free ones.
func (m *model) checkSpread(s *jobtree.State, available []string) {
	if !m.config.Broadcast {
		return
	}
	has, free := map[string]int{}, 0
	for i := range m.config.ShardingTotalCount {
		item := s.Item(i)
		switch {
		case item.Owner != nil:
			if has[item.Owner.ID]++; has[item.Owner.ID] > 1 && item.Running == nil {
				m.fatalf("%s has %d items", item.Owner.ID, has[item.Owner.ID])
			}
		case item.Running == nil && !item.Disabled:
			free++
		}
	}
	for _, id := range available {
		if has[id] == 0 && free > 0 {
			m.fatalf("%s has no item, and %d are free", id, free)
		}
	}
}
