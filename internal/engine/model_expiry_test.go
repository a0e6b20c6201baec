package engine

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// drawExpiry draws when the job of a model ends.
func (m *model) drawExpiry() jobtype.Expiry {
	e := jobtype.Expiry{
		At:     rapid.SampledFrom([]time.Time{{}, begin.Add(90 * time.Second), begin.Add(4 * time.Minute)}).Draw(m.t, "expires at"),
		Ticks:  rapid.SampledFrom([]int{0, 1, 3}).Draw(m.t, "expiry ticks"),
		Remove: rapid.Bool().Draw(m.t, "is removed then"),
	}
	if m.how.oneOff {
		e.Ticks, e.Remove = 0, e.Remove && !e.At.IsZero()
	}
	return e
}

// checkEnd checks that a tick that begins is not after the recorded end.
func (m *model) checkEnd(item int, tick time.Time, recorded *jobtree.Schedule) {
	if until := recorded.Until; !until.IsZero() && tick.After(until) {
		m.fatalf("item %d begins for %s, and the job ends at %s", item, tick, until)
	}
}

// lookForRemoval notes that a commit has removed the job, and checks that nothing was left to do.
// By then no process may have anything of it under way.
func (m *model) lookForRemoval(before *jobtree.State) {
	if m.state().Config != nil {
		if m.gone {
			m.fatalf("the job was removed, and is there again")
		}
		return
	}
	if m.gone {
		m.checkGone()
		return
	}
	m.gone = true
	config, err := jobtype.DecodeConfig(before.Config.Value)
	if err != nil {
		m.t.Fatal(err)
	}
	if !config.Expiry.Remove {
		m.fatalf("the job is removed, and should not be")
	}
	if before.Schedule.IsPaused() || len(before.FailoverItems)+len(before.Requests)+len(before.Guarantees) > 0 || len(m.owed) > 0 {
		m.fatalf("the job is removed, and something waits; owed is %v", m.owed)
	}
	for _, p := range m.members {
		for r, ctx := range p.handler {
			if !p.crashed && ctx.Err() == nil && r.Recorded {
				m.fatalf("the job is removed while item %d runs on %s", r.Item, p.name)
			}
		}
	}
	ticks, err := config.Ticks()
	if err != nil {
		m.t.Fatal(err)
	}
	if ticks == nil {
		if m.now.Before(config.Expiry.At) {
			m.fatalf("the job is removed before it ends")
		}
		return
	}
	bounded := decide.UpTo(before.Schedule.Until, ticks)
	if next := bounded.Next(m.now); !next.IsZero() {
		m.fatalf("the job is removed, and has a tick at %s", next)
	}
	last := bounded.Prev(m.now)
	for i := range config.ShardingTotalCount {
		item := before.Item(i)
		if item.Fired != nil && last.After(before.Schedule.Since) && item.Fired.Tick.Before(last) && !(config.Broadcast && item.Owner == nil) {
			m.fatalf("the job is removed, and item %d has not run for %s", i, last)
		}
	}
	m.checkGone()
}

// checkGone checks that nothing comes back of a job that was removed, but for what blocks
// registrations that may still come.
func (m *model) checkGone() {
	for n := range m.store.Snapshot().All(m.job.Root()) {
		if !coord.Within(n.Path, m.job.Sessions()) && n.Path != m.job.Root() {
			m.fatalf("the job was removed, and there is %s", n.Path)
		}
	}
	note, _ := m.store.Snapshot().Get(m.job.Removal())
	if d, err := jobtree.DecodeRemoval(note.Value); note.Created == 0 || err != nil || !d.Expired {
		m.fatalf("nothing says that the job was removed: %+v, %v", d, err)
	}
}

// finishGone checks that all processes of a job that was removed have stopped.
func (m *model) finishGone() {
	m.now = m.now.Add(time.Minute)
	m.settleDown()
	for _, p := range m.members {
		if !p.crashed && !p.isGone {
			m.fatalf("the job was removed, and %s goes on", p.name)
		}
	}
	m.checkGone()
}

// checkStays checks that a job that has settled down, and is there, is to be there.
func (m *model) checkStays(s *jobtree.State) {
	for _, p := range m.members {
		if p.crashed || p.isGone || !s.Leader.Is(p.c.self.ID) {
			continue
		}
		w := p.c.newWorld()
		if w.State = s; w.IsRemovable(p.c.work) {
			m.fatalf("the job has expired, and is still there")
		}
	}
}

// writesJob reports whether operations are about the job. An operator has none once it is removed.
func (m *model) writesJob(ops []coord.Op) bool {
	return slices.ContainsFunc(ops, func(op coord.Op) bool { return coord.Within(op.Path, m.job.Root()) })
}

// doEnd changes when the job ends.
func (m *model) doEnd() {
	m.config.Expiry = m.drawExpiry()
	m.configure()
}
