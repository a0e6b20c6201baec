package simulation

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// How often the simulation looks for silent items, and how long an item may be silent: the
// longest session time-out, and the time that the next owner needs.
const (
	listenEvery = 30 * time.Second
	mostSilence = 4 * time.Minute
	// How long a job with static sharding waits for the owner of an item to come back.
	staticGrace = 10 * time.Minute
)

// listener looks for items of one job that stay without a run that is due while no scheduler
// reports a fault. What was done to the processes and the store is no excuse.
type listener struct {
	j       *jobModel
	version int64 // of the configuration that was read last
	config  job.Config
	cron    *cronexpr.Schedule
	changed time.Time         // when that was, or when its schedule came into force
	pending bool              // the schedule is not in force yet
	force   int64             // revision at which one came into force last
	since   map[int]time.Time // since when an item is silent
	excused func() bool       // whether no process runs the job, or one reports a fault
}

// listen looks at all jobs until it is told to stop.
func (s *simulation) listen(stop <-chan struct{}) {
	var listeners []*listener
	for _, g := range s.groups {
		for _, j := range g.jobs {
			listeners = append(listeners, &listener{j: j, since: map[int]time.Time{}, excused: j.explained})
		}
	}
	tick := time.NewTicker(listenEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-stop:
			return
		}
		snapshot := s.store.Snapshot(namespace)
		for _, l := range listeners {
			l.listen(s, snapshot)
		}
	}
}

func (l *listener) listen(s *simulation, snapshot coord.Snapshot) {
	now := time.Now()
	l.read(snapshot, now)
	if l.cron == nil || l.config.Misfire == job.Off || l.config.MisfireWindow > 0 || l.config.Overlap == job.OverlapSkip {
		clear(l.since) // ticks that are missed are not made up, so they prove nothing
		return
	}
	due, most := l.cron.Prev(now), mostSilence
	if l.config.StaticSharding {
		most += staticGrace
	}
	explained := !due.After(l.changed) || l.j.disabled.since(due) || l.j.steering.suspended.since(due) || l.excused()
	h := l.j.history
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range l.config.ShardingTotalCount {
		it := h.item(i)
		switch {
		case it.executing() != nil || it.covers(due) || l.isNew(snapshot, i, due) || l.isLost(snapshot, i, due):
			delete(l.since, i)
		case explained || l.since[i].IsZero() || l.j.shrunkSince(i, due):
			l.since[i] = now
		case now.Sub(l.since[i]) > most:
			s.violated(h.job, i, it.slice(len(it.executions)-1), fmt.Sprintf(
				"it had no run for tick %s or a later one, and nobody said why, for %v", clock(due), now.Sub(l.since[i]).Round(time.Second)))
			l.since[i] = now
		}
	}
}

// isNew reports whether an item was created after a tick and has not begun since.
func (l *listener) isNew(snapshot coord.Snapshot, item int, tick time.Time) bool {
	fired, ok := snapshot.Get(l.j.tree.Fired(item))
	if !ok || fired.Modified != fired.Created {
		return false
	}
	since, err := jobtree.DecodeFired(fired.Value)
	return err == nil && since.After(tick)
}

// isLost reports whether a tick was claimed in a job without failover: if the instance ends
// before its handler begins, nobody runs the tick any more.
func (l *listener) isLost(snapshot coord.Snapshot, item int, tick time.Time) bool {
	fired, ok := snapshot.Get(l.j.tree.Fired(item))
	if !ok || !l.j.failoverOff.since(tick) {
		return false
	}
	begun, err := jobtree.DecodeFired(fired.Value)
	return err == nil && begun.Equal(tick)
}

// read takes over a configuration that is new and valid.
func (l *listener) read(snapshot coord.Snapshot, now time.Time) {
	if node, ok := snapshot.Get(l.j.tree.Schedule()); ok && node.Modified != l.force {
		if l.force = node.Modified; l.pending {
			l.pending, l.changed = false, now
		}
	}
	node, ok := snapshot.Get(l.j.tree.Config())
	if !ok || node.Version == l.version && l.cron != nil {
		return
	}
	c, err := jobtype.DecodeConfig(node.Value)
	if err != nil {
		return
	}
	l.version, l.config, l.changed, l.cron, l.pending = node.Version, c, now, nil, true
	if c.Cron == "" {
		return
	}
	zone, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		return
	}
	if schedule, err := cronexpr.Parse(c.Cron, zone); err == nil {
		l.cron = schedule
	}
}

// covers reports whether a run has begun for a tick or a later one. A run that a clock far
// ahead has begun does not count.
func (it *itemHistory) covers(tick time.Time) bool {
	const far = time.Hour
	for at := len(it.executions) - 1; at >= 0; at-- {
		e := &it.executions[at]
		if !isAsked(e.source) && e.outcome != unborn && e.tick >= tick.UnixMilli() && e.tick <= e.begin.Add(far).UnixMilli() {
			return true
		}
		if e.begin.Before(tick.Add(-far)) {
			return false
		}
	}
	return false
}

// explained reports whether no process runs a scheduler of the job, or one of them reports a
// fault.
func (j *jobModel) explained() bool {
	somebody := false
	for _, h := range j.group.alive() {
		s := h.scheduler(j)
		if s == nil {
			continue
		}
		select {
		case <-s.Done():
			continue
		default:
		}
		if faulty(s) {
			return true
		}
		somebody = true
	}
	return !somebody
}

// faulty reports whether a scheduler reports a fault.
func faulty(s *job.Scheduler) bool { return s.Status().Fault() != nil }

// alive returns the live processes of the group that were not told to go.
func (g *group) alive() []*host {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []*host
	for _, h := range g.hosts {
		if h.ctx.Err() == nil {
			list = append(list, h)
		}
	}
	g.hosts = list
	return list
}

// The check finds silent items, and lets those be that have an excuse.
func TestListener(t *testing.T) {
	for _, c := range []struct {
		name   string
		silent bool
		play   func(*script, *listener)
	}{
		{"nothing runs", true, func(*script, *listener) {}},
		{"somebody says why, or nobody is there", false, func(_ *script, l *listener) { l.excused = func() bool { return true } }},
		{"the tick has begun", false, func(s *script, _ *listener) { s.begin(s.on("a"), job.SourceNormal, 10, 10).end(nil) }},
		{"a later tick has begun", false, func(s *script, _ *listener) { s.begin(s.on("a"), job.SourceMisfire, 20, 10).end(nil) }},
		{"an earlier tick runs on", false, func(s *script, _ *listener) { s.begin(s.on("a"), job.SourceNormal, 0, 10) }},
		{"an earlier tick was run", true, func(s *script, _ *listener) { s.begin(s.on("a"), job.SourceNormal, 0, 10).end(nil) }},
		{"it was triggered", true, func(s *script, _ *listener) { s.begin(s.on("a"), job.SourceManual, 10, 10).end(nil) }},
		{"a clock was a year ahead", true, func(s *script, _ *listener) { s.begin(s.on("a"), job.SourceNormal, 365*24*60, 10).end(nil) }},
		{"its context had ended before it began", true, func(s *script, _ *listener) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			s.j.history.begin(ctx, s.on("a"), job.ShardingContext{ScheduledTime: time.Date(2000, 1, 1, 0, 10, 0, 0, time.UTC), Token: 10})
		}},
		{"it is disabled", false, func(s *script, _ *listener) { s.j.disabled.begin() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScript(t)
				l := &listener{j: s.j, since: map[int]time.Time{}, excused: func() bool { return false }}
				s.j.config.Cron = every(10, 0)
				document, err := s.j.config.Encode(nil)
				if err != nil {
					t.Fatal(err)
				}
				tree := coord.NewTree()
				tree.Put(coord.Node{Path: s.j.tree.Config(), Value: document})
				pass(9 * time.Minute)
				l.listen(s.g.sim, tree.Snapshot())
				pass(time.Minute)
				c.play(s, l)
				for range 15 * time.Minute / (2 * listenEvery) {
					pass(listenEvery)
					l.listen(s.g.sim, tree.Snapshot())
				}
				if silent := len(s.found) > 0; silent != c.silent {
					t.Errorf("found %q", s.found)
				}
			})
		})
	}
}
