package simulation

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// audit checks, at the end of a calm that began at a time, that everything has healed.
func (s *simulation) audit(calm time.Time) {
	snapshot := s.store.Snapshot(namespace)
	sessions, views := 1, 0 // those of the operator
	for _, g := range s.groups {
		for _, h := range g.gone() {
			g.violated("%s is not gone", h)
		}
		for _, h := range g.slots {
			if h != nil {
				sessions++
				views += len(g.jobs)
			}
		}
		for _, j := range g.jobs {
			a := auditor{group: g, job: j, calm: calm, now: time.Now(), state: jobtree.Read(snapshot, j.tree)}
			a.auditInstances()
			a.auditJob()
			a.auditRequests()
			j.history.mu.Lock()
			for i := range j.config.ShardingTotalCount {
				a.auditItem(i)
			}
			j.history.mu.Unlock()
		}
		g.auditAsked()
	}
	if n := s.store.Sessions(); n != sessions {
		s.groups[0].violated("the store has %d sessions, %d are wanted", n, sessions)
	}
	if n := s.store.Watches(); n != views+int(s.waiters.Load()) {
		s.groups[0].violated("the store has %d watches, %d are wanted", n, views)
	}
	s.counts.audits.Add(1)
}

// auditor checks one job.
type auditor struct {
	group     *group
	job       *jobModel
	calm, now time.Time
	state     *jobtree.State
	instances map[string]*host // live ones, by their ids
	running   map[string][]int // the items that each of them reports as running
	tick      time.Time        // the last one due; zero if there is none
	dealt     []string         // the owners that the strategy chooses, given the present ones
}

func (a *auditor) violated(format string, args ...any) {
	a.group.sim.violated(a.job.config.Name, -1, nil, fmt.Sprintf(format, args...))
}

func (a *auditor) violatedItem(i int, format string, args ...any) {
	it := a.job.history.item(i)
	a.group.sim.violated(a.job.config.Name, i, it.slice(len(it.executions)-1), fmt.Sprintf(format, args...))
}

// auditInstances checks that the schedulers are up.
func (a *auditor) auditInstances() {
	a.instances, a.running = map[string]*host{}, map[string][]int{}
	for slot, h := range a.group.slots {
		if h == nil {
			if slot < a.group.shape.hosts {
				a.violated("nobody is in slot %d", slot)
			}
			continue
		}
		s := h.scheduler(a.job)
		if s == nil {
			a.violated("it has not started on %s", h)
			continue
		}
		select {
		case <-s.Done():
			a.violated("it has stopped on %s: %v", h, s.Err())
			continue
		default:
		}
		status := s.Status()
		for _, f := range status.Faults {
			if f.Kind != jobtype.FaultStarvation || !a.overlong() && !a.behind(status.Waiting) {
				a.violated("on %s: %v", h, f)
			}
		}
		a.instances[status.InstanceID], a.running[status.InstanceID] = h, status.Running
	}
}

// overlong reports whether an item is still running at its next tick. That is a fault.
func (a *auditor) overlong() bool {
	a.job.history.mu.Lock()
	defer a.job.history.mu.Unlock()
	tick := a.lastTick()
	for i := range a.job.config.ShardingTotalCount {
		if e := a.job.history.item(i).executing(); e != nil && e.begin.Before(tick) {
			return true
		}
	}
	return false
}

// behind reports whether every item that waits does so because it is being executed, as an
// item does that was triggered meanwhile.
func (a *auditor) behind(waiting []job.Waiting) bool {
	a.job.history.mu.Lock()
	defer a.job.history.mu.Unlock()
	return !slices.ContainsFunc(waiting, func(w job.Waiting) bool { return a.job.history.item(w.Item).executing() == nil })
}

func (a *auditor) auditJob() {
	st := a.state
	want := slices.Sorted(maps.Keys(a.instances))
	if got := slices.Sorted(maps.Keys(st.Instances)); !slices.Equal(got, want) {
		a.violated("instances are %q, want %q", got, want)
	}
	owners := map[coord.SessionID]bool{}
	for _, in := range st.Instances {
		owners[in.Owner] = true
		if _, ok := st.Sessions[in.ID]; !ok {
			a.violated("instance %s has no session", in.ID)
		}
	}
	for id, session := range st.Sessions {
		// A session node without an instance blocks an id that its process has given up.
		if !owners[session.Owner] {
			a.violated("session %s is left", id)
		}
	}
	if st.Leader == nil || a.instances[st.Leader.ID] == nil {
		a.violated("there is no leader: %+v", st.Leader)
	}
	total := a.job.config.ShardingTotalCount
	if len(st.Items) < total {
		a.violated("there are %d items, want %d", len(st.Items), total)
	}
	for i := total; i < len(st.Items); i++ {
		if st.Items[i].Exists && st.Items[i].Running == nil { // what runs comes to its end
			a.violated("item %d is left, and there are %d", i, total)
		}
	}
	for id := range st.Triggers {
		a.violated("the trigger of %s is left", id)
	}
	if st.Necessary || st.Processing {
		a.violated("a flag for dealing is left")
	}
	ips := map[string]bool{}
	for _, h := range a.instances {
		ips[h.ip] = true
	}
	for ip, server := range st.Servers {
		if !ips[ip] {
			a.violated("server %s is left", ip)
		}
		if !server.Enabled {
			a.violated("server %s is disabled", ip)
		}
	}
	for _, waiting := range st.FailoverItems {
		if st.Item(waiting.Item).Running == nil {
			a.violated("item %d waits to be taken over", waiting.Item)
		}
	}
	a.tick = a.lastTick()
	a.dealt = a.deal()
}

// lastTick is the last tick that is due.
func (a *auditor) lastTick() time.Time {
	c := a.job.config
	if c.Cron == "" {
		return time.Time{}
	}
	zone, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		a.violated("%v", err)
		return time.Time{}
	}
	schedule, err := cronexpr.Parse(c.Cron, zone)
	if err != nil {
		a.violated("%v", err)
		return time.Time{}
	}
	if a.state.Schedule == nil || a.state.Schedule.Cron != c.Cron {
		a.violated("the schedule in force is %+v, want %s", a.state.Schedule, c.Cron)
		return time.Time{}
	}
	tick := schedule.Prev(a.now)
	if !tick.After(a.state.Schedule.Since) {
		return time.Time{}
	}
	return tick
}

// deal asks the strategy.
func (a *auditor) deal() []string {
	c := a.job.config.WithDefaults()
	s, err := strategy.Lookup(c.Strategy, nil)
	if err != nil {
		a.violated("%v", err)
		return nil
	}
	request := strategy.Request{Job: c.Name, Total: c.ShardingTotalCount}
	for id, in := range a.state.Instances {
		request.Instances = append(request.Instances, strategy.Instance{ID: id, IP: in.IP, Weight: in.Weight()})
	}
	strategy.Sort(request.Instances)
	for i := range c.ShardingTotalCount {
		owner := ""
		if mark := a.state.Item(i).Owner; mark != nil {
			owner = mark.ID
		}
		request.Previous = append(request.Previous, owner)
	}
	return s.Assign(request)
}

func (a *auditor) auditItem(i int) {
	item, it := a.state.Item(i), a.job.history.item(i)
	executing := it.executing()
	if item.Owner == nil || item.Running == nil && a.instances[item.Owner.ID] == nil {
		a.violatedItem(i, "it is idle and has no live owner: %s", name(item.Owner))
		return
	}
	if !a.job.config.StaticSharding && item.Running == nil && i < len(a.dealt) && a.dealt[i] != item.Owner.ID {
		a.violatedItem(i, "it is idle on %s, and the strategy wants it on %s", item.Owner.ID, a.dealt[i])
	}
	if item.Disabled {
		a.violatedItem(i, "it is disabled")
	}
	if item.Fired == nil {
		a.violatedItem(i, "it has no fired record")
		return
	}
	switch {
	case item.Running != nil && executing == nil:
		// The item may wait for a thread there, or its run may have ended just now.
		if last := it.last(); !slices.Contains(a.running[item.Running.ID], i) && (last == nil || a.now.Sub(last.end) > time.Second) {
			a.violatedItem(i, "the record of a run on %s is left", item.Running.ID)
		}
	case item.Running == nil && executing != nil:
		a.violatedItem(i, "it runs on %s without a record", executing.instance)
	case executing != nil && item.Running.ID != executing.instance:
		a.violatedItem(i, "it runs on %s, and the record says %s", executing.instance, item.Running.ID)
	}
	if taken := item.Failover != nil || item.Failovering != nil; taken && (executing == nil || executing.source != job.SourceFailover) {
		a.violatedItem(i, "the record of a failover is left: %s %s", name(item.Failover), name(item.Failovering))
	}
	if item.Misfire && item.Running == nil {
		a.violatedItem(i, "a misfire flag is left")
	}
	if item.Running == nil {
		a.auditTick(i, item, it)
		a.auditOwed(i, it)
	}
}

// last returns the execution that began last.
func (it *itemHistory) last() *execution {
	if len(it.executions) == 0 {
		return nil
	}
	return &it.executions[len(it.executions)-1]
}

func name(m *jobtree.Mark) string {
	if m == nil {
		return "-"
	}
	return m.ID
}

// auditTick checks that the last tick that is due was not missed by an idle item.
func (a *auditor) auditTick(i int, item jobtree.Item, it *itemHistory) {
	if a.tick.IsZero() || item.Fired.Tick.After(a.tick) {
		return // no tick has come due since the item or the schedule is there
	}
	c := a.job.config
	// A tick that came in the calm has to run on time; one of the storm has to be made up.
	inCalm := a.tick.After(a.calm.Add(2 * time.Minute))
	madeUp := c.Misfire != job.Off && c.MisfireWindow == 0 && c.MaxTimeDiff == 0 && !a.job.disabled.since(a.tick) && !a.job.steering.suspended.since(a.tick) && !a.job.shrunkSince(i, a.tick)
	passed := (c.Misfire == job.Off || c.Overlap == job.OverlapSkip) && it.busy(a.tick)
	switch {
	case passed:
	case item.Fired.Tick.Before(a.tick) && (inCalm || madeUp):
		a.violatedItem(i, "tick %s was missed: the last one begun is %s", clock(a.tick), clock(item.Fired.Tick))
	case item.Fired.Tick.Equal(a.tick) && !it.began(a.tick) && (inCalm || madeUp && c.Failover && !a.job.failoverOff.since(a.tick)):
		a.violatedItem(i, "tick %s has no run", clock(a.tick))
	}
}

// busy reports whether an execution was at work at a time.
func (it *itemHistory) busy(at time.Time) bool {
	return slices.ContainsFunc(it.executions, func(e execution) bool {
		return !e.begin.After(at.Add(time.Second)) && (e.end.IsZero() || !e.end.Before(at.Add(-time.Second)))
	})
}

// auditOwed checks that what was cut short has been run again.
func (a *auditor) auditOwed(i int, it *itemHistory) {
	owed := a.job.history.owed(i)
	if owed == nil || a.job.failoverOff.since(owed.begin) || a.job.shrunkSince(i, owed.begin) {
		return
	}
	at := slices.IndexFunc(it.executions, func(e execution) bool { return e.token == owed.token })
	a.group.sim.violated(a.job.config.Name, i, it.slice(at), fmt.Sprintf("token %d was cut short and not run again", owed.token))
}

// auditAsked checks that what was triggered in calm has run.
func (g *group) auditAsked() {
	for _, asked := range g.asked {
		h := asked.job.history
		h.mu.Lock()
		for _, i := range asked.items {
			it := h.item(i)
			ran := slices.ContainsFunc(it.executions, func(e execution) bool { return e.source == job.SourceManual && !e.begin.Before(asked.at) })
			if !ran && it.executing() == nil {
				g.sim.violated(h.job, i, it.slice(len(it.executions)-1), "it was triggered at "+clock(asked.at)+" and has not run")
			}
		}
		h.mu.Unlock()
	}
}

// auditEnd checks what is left in the tree when all processes have left.
func (s *simulation) auditEnd() {
	snapshot := s.store.Snapshot(namespace)
	for _, g := range s.groups {
		for _, j := range g.jobs {
			state := jobtree.Read(snapshot, j.tree)
			if n := len(state.Instances) + len(state.Sessions) + len(state.Triggers); n > 0 || state.Leader != nil {
				g.violated("%s: %d records of instances are left, leader %+v", j.config.Name, n, state.Leader)
			}
			waiting := map[int]bool{}
			for _, f := range state.FailoverItems {
				waiting[f.Item] = true
			}
			j.history.mu.Lock()
			for i := range j.config.ShardingTotalCount {
				item, it := state.Item(i), j.history.item(i)
				if item.Running != nil || item.Failover != nil || item.Failovering != nil {
					s.violated(j.config.Name, i, it.slice(len(it.executions)-1), "a record of a run is left when everybody has left")
				}
				if owed := j.history.owed(i); owed != nil && !waiting[i] && !j.failoverOff.since(owed.begin) && !j.shrunkSince(i, owed.begin) {
					s.violated(j.config.Name, i, it.slice(len(it.executions)-1), "it was cut short when everybody left, and waits for nobody")
				}
			}
			j.history.mu.Unlock()
		}
	}
	ephemeral := 0
	for n := range snapshot.All("") {
		if n.Owner != coord.SessionID(0) {
			ephemeral++
		}
	}
	if ephemeral > 0 {
		s.groups[0].violated("%d ephemeral nodes are left when everybody has left", ephemeral)
	}
}
