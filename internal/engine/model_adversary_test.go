package engine

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// act does one thing at random.
func (m *model) act() {
	actions := []func(){m.doPass, m.doPass, m.doPass, m.doPass, m.doPass, m.doReturn, m.doReturn, m.doTime, m.doTime,
		m.doStart, m.doCrash, m.doLose, m.doExpire, m.doExpire, m.doShutdown, m.doDeadline, m.doRemove, m.doTrigger,
		m.doLand, m.doLand, m.doDisableItem, m.doDisableServer, m.doCatchUp}
	if m.how.quiet {
		actions = []func(){m.doPass, m.doPass, m.doPass, m.doPass, m.doReturn, m.doTime, m.doCatchUp}
	}
	if m.how.ahead {
		actions = append(actions, m.doTick, m.doTick, m.doEndSoon, m.doEndSoon, m.doEndSoon)
	}
	if m.how.config {
		actions = append(actions, m.doConfigure, m.doConfigure)
	}
	if m.how.once {
		actions = append(actions, m.doCallReturn, m.doCallReturn)
	}
	if m.how.steers {
		actions = append(actions, m.doKill, m.doKill, m.doPause, m.doRequest, m.doRequest, m.doCancel)
	}
	if m.how.calendars {
		actions = append(actions, m.doCalendar, m.doCalendar)
	}
	if m.how.expires && m.how.config {
		actions = append(actions, m.doEnd)
	}
	rapid.SampledFrom(actions).Draw(m.t, "action")()
}

// choose returns a member that is alive.
func (m *model) choose(idle bool) *member {
	var list []*member
	for _, p := range m.members {
		if !p.crashed && !p.isGone && (!idle || !p.busy) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return rapid.SampledFrom(list).Draw(m.t, "member")
}

func (m *model) doPass() {
	if p := m.choose(true); p != nil {
		p.pass()
	}
}

func (m *model) doCatchUp() {
	if p := m.choose(true); p != nil {
		p.view.Sync(m.ctx)
	}
}

func (m *model) doReturn() {
	p := m.choose(false)
	if p == nil || len(p.handler) == 0 {
		return
	}
	r := rapid.SampledFrom(p.running()).Draw(m.t, "run")
	var err error
	if rapid.Bool().Draw(m.t, "fails") {
		err = errors.New("failed")
	}
	p.returns(r, err)
}

// running returns the runs of a member that have not returned, in the order of their claims and items.
func (p *member) running() []*run {
	return slices.SortedFunc(maps.Keys(p.handler), func(a, b *run) int {
		return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.Item, b.Item))
	})
}

func (m *model) doTime() {
	m.now = m.now.Add(rapid.SampledFrom([]time.Duration{
		10 * time.Millisecond, 300 * time.Millisecond, 900 * time.Millisecond, 4 * time.Second, 30 * time.Second, time.Minute,
	}).Draw(m.t, "time"))
}

// aheadLead is the lead of members that claim ahead. In the end runs end two seconds after a tick, and the next one is
// 28 s away at least: then they claim nothing.
const aheadLead = 27 * time.Second

// doTick has a member see the next tick.
func (m *model) doTick() {
	m.now = m.now.Truncate(30 * time.Second).Add(30 * time.Second)
	m.doPass()
}

// doEndSoon has all runs of a member end less than aheadLead before the next tick.
func (m *model) doEndSoon() {
	p := m.choose(true)
	if p == nil {
		return
	}
	m.now = m.now.Add(20 * time.Second).Truncate(30 * time.Second).Add(10 * time.Second)
	for _, r := range p.running() {
		p.returns(r, nil)
	}
	p.pass()
}

func (m *model) doStart() {
	live := 0
	for _, p := range m.members {
		if !p.crashed && !p.isGone {
			live++
		}
	}
	if live < 3 {
		p := m.start()
		m.logf("%s: starts", p.name)
	}
}

// doCrash kills a process. Its session ends later.
func (m *model) doCrash() {
	if p := m.choose(false); p != nil && rapid.Bool().Draw(m.t, "really") {
		m.crash(p)
	}
}

func (m *model) crash(p *member) {
	m.logf("%s: crashes", p.name)
	for _, r := range p.running() {
		m.mustRunAgain(p, r)
	}
	p.crashed = true
	clear(p.handler)
	m.doomed = append(m.doomed, p.reg.session)
}

// doLose makes a process lose its session. The store drops the session later.
func (m *model) doLose() {
	p := m.choose(false)
	if p == nil || rapid.Bool().Draw(m.t, "not") {
		return
	}
	m.logf("%s: loses session %d", p.name, p.reg.session.id)
	for _, r := range p.running() {
		if r.Instance == p.c.self.ID && p.handler[r].Err() == nil {
			m.mustRunAgain(p, r)
		}
	}
	p.reg.session.cancel(coord.ErrSessionLost)
	m.doomed = append(m.doomed, p.reg.session)
}

func (m *model) doExpire() {
	if len(m.doomed) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.doomed)-1).Draw(m.t, "session")
	m.logf("store: session %d expires", m.doomed[i].id)
	m.store.Expire(m.doomed[i].id)
	m.happened()
	m.doomed = slices.Delete(m.doomed, i, i+1)
}

func (m *model) doShutdown() {
	if p := m.choose(false); p != nil && rapid.Bool().Draw(m.t, "really") {
		m.logf("%s: is told to shut down", p.name)
		p.leave()
	}
}

// doDeadline ends the context of the Shutdown of a process.
func (m *model) doDeadline() {
	if p := m.choose(true); p != nil && p.c.isShutdown() && p.c.drainTime.Err() == nil {
		m.logf("%s: its time to drain is over", p.name)
		p.stop()
	}
}

// doRemove removes an instance as an operator does.
func (m *model) doRemove() {
	if p := m.choose(false); p != nil && p.c.self.ID != "" && rapid.Bool().Draw(m.t, "really") {
		m.logf("operator: removes %s", p.c.self.ID)
		m.operate(coord.Exists(m.job.Instance(p.c.self.ID)), coord.Delete(m.job.Instance(p.c.self.ID)))
	}
}

func (m *model) doTrigger() {
	p := m.choose(false)
	if p == nil || p.c.self.ID == "" {
		return
	}
	m.logf("operator: triggers %s", p.c.self.ID)
	m.operate(coord.Exists(m.job.Instance(p.c.self.ID)), coord.Create(m.job.Trigger(p.c.self.ID), nil))
}

func (m *model) doLand() {
	if len(m.late) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.late)-1).Draw(m.t, "late")
	l := m.late[i]
	m.late = slices.Delete(m.late, i, i+1)
	m.before = m.state()
	_, err := m.store.Commit(l.session, l.ops...)
	m.logf("%s: a commit lands late, %v: %s", l.by, err, describe(l.ops))
	if err == nil {
		m.applied(l.by, l.seen, l.ops)
	}
}

func (m *model) doDisableItem() {
	i := rapid.IntRange(0, m.config.ShardingTotalCount-1).Draw(m.t, "item")
	if !m.store.Snapshot().Exists(m.job.Item(i)) {
		return
	}
	if rapid.IntRange(0, 2).Draw(m.t, "on") > 0 {
		m.logf("operator: enables item %d", i)
		m.operate(coord.DeleteTree(m.job.ItemDisabled(i)))
	} else {
		m.logf("operator: disables item %d", i)
		m.operate(coord.Put(m.job.ItemDisabled(i), nil))
	}
}

func (m *model) doDisableServer() {
	if len(m.members) == 0 {
		return
	}
	p := rapid.SampledFrom(m.members).Draw(m.t, "server")
	state := rapid.SampledFrom([]string{jobtree.Enabled, jobtree.Enabled, jobtree.Disabled}).Draw(m.t, "state")
	m.logf("operator: %s is %s", p.c.self.IP, state)
	m.operate(coord.Put(m.job.Server(p.c.self.IP), []byte(state)))
}

func (m *model) doConfigure() {
	switch rapid.IntRange(0, 3).Draw(m.t, "field") {
	case 0:
		m.config.ShardingTotalCount = rapid.IntRange(1, 3).Draw(m.t, "total")
	case 1:
		m.config.Failover = rapid.SampledFrom(m.how.switches).Draw(m.t, "failover")
		m.config.Broadcast = m.how.broadcast && !m.config.Failover
	case 2:
		m.config.Misfire = jobtype.ToggleOf(rapid.SampledFrom(m.how.switches).Draw(m.t, "misfire"))
	case 3:
		m.config.Cron = rapid.SampledFrom([]string{"0 * * * * ?", "30 * * * * ?"}).Draw(m.t, "cron")
	}
	m.configure()
}
