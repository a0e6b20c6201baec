package doctor

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// namespace is what all jobs of a namespace share, at one look.
type namespace struct {
	now   time.Time // the local time, corrected by what it is certainly ahead of the store's
	clock coord.Clock
	Thresholds
	// runners are the processes that offer to serve jobs, and calendars those of the namespace, by name.
	runners   []runner
	calendars map[string]sheet
	removed   map[string]removed
	// moving are the jobs that are on their way to another namespace, or from one, with their notes; and marks
	// are their marks.
	moving map[string]jobtree.RemovalDocument
	marks  []coord.Node
	// applied are the notes of the jobs that belong to sets of files.
	applied map[string]coord.Node
}

// runner is a process that offers to serve jobs, and when it has said so.
type runner struct {
	jobtree.NodeDocument
	written int64
}

// sheet is a calendar as its node says.
type sheet struct {
	node     coord.Node
	calendar *calendar.Calendar
	err      error
}

// readNamespace reads what all jobs share, and notes what is wrong with that.
func readNamespace(ctx context.Context, reg coord.Registry, clock coord.Clock, c *collector) (*namespace, error) {
	local := clocks.Wall()
	ns := &namespace{now: local.Add(-clock.Ahead(local)), clock: clock, calendars: map[string]sheet{}, removed: map[string]removed{}, moving: map[string]jobtree.RemovalDocument{}, applied: map[string]coord.Node{}}
	for _, part := range []struct {
		root string
		read func(name string, n coord.Node)
	}{
		{jobtree.Nodes, func(_ string, n coord.Node) { ns.readProcess(n, c) }},
		{jobtree.Calendars, func(name string, n coord.Node) { ns.readCalendar(name, n, c) }},
		{jobtree.Removals, func(name string, n coord.Node) { ns.readRemoval(name, n, c) }},
		{jobtree.Migrations, func(name string, n coord.Node) { ns.readMark(name, n) }},
		{jobtree.AppliedJobs, func(name string, n coord.Node) { ns.applied[name] = n }},
	} {
		for n, err := range reg.Walk(ctx, part.root) {
			if errors.Is(err, coord.ErrDenied) {
				c.add(denied(part.root, err))
				break
			}
			if err != nil {
				return nil, err
			}
			if name, isBelow := strings.CutPrefix(n.Path, part.root+"/"); isBelow {
				part.read(name, n)
			}
		}
	}
	ns.checkMigrations(c)
	return ns, nil
}

func (ns *namespace) readProcess(n coord.Node, c *collector) {
	switch d, err := jobtree.DecodeNode(n.Value); {
	case err != nil:
		c.add(unreadable("", n, err))
	case n.Owner == 0:
		c.add(stale("", "", n))
	case len(d.Offers) > 0 || d.MoreOffers > 0:
		ns.runners = append(ns.runners, runner{d, n.Modified})
	}
}

// removed is a job that was removed.
type removed struct {
	written int64  // the version of what says so
	movedTo string // where a migration has moved it; empty if none has
}

func (ns *namespace) readRemoval(name string, n coord.Node, c *collector) {
	d, err := jobtree.DecodeRemoval(n.Value)
	if err != nil {
		c.add(unreadable("", n, err))
	}
	ns.removed[name] = removed{n.Modified, d.MovedTo}
	if d.Migration != "" {
		ns.moving[name] = d
	}
}

func (ns *namespace) readCalendar(name string, n coord.Node, c *collector) {
	read, err := calendar.Parse(n.Value)
	ns.calendars[name] = sheet{n, read, err}
	if err != nil {
		c.add(unreadable("", n, err))
	}
}

// world is one job, at one look.
type world struct {
	*decide.World
	ns   *namespace
	name string
	// config is that of the store; configErr is why it cannot be read. Then there are no rules.
	config    jobtype.Config
	configErr error
	ids       []string // of the instances that live, ascending
	jvm       []string // those of them that are JVM members
	// knowsZone is whether ticks are the same here as where the job runs.
	knowsZone bool
	// stalled returns the items that should have begun and have not: each once, or a second time
	// because it waits to be run again.
	stalled func() []decide.Stalled
}

func newWorld(ns *namespace, name string, s *jobtree.State) *world {
	w := &world{ns: ns, name: name, World: &decide.World{State: s, Job: jobtree.Job(name), Now: ns.now, Rules: &decide.Rules{}}}
	if ns.clock.Known() {
		w.Clock = decide.Clock{Known: true, Store: ns.clock.Now()} // Now is corrected already
	}
	for _, id := range slices.Sorted(maps.Keys(s.Instances)) {
		if s.Instances[id].Owner == 0 {
			continue
		}
		w.ids = append(w.ids, id)
		if s.Sessions[id] == nil {
			w.jvm = append(w.jvm, id)
		}
	}
	if len(w.jvm) > 0 {
		w.Mixed = &decide.Mixed{HasJVM: true}
	}
	if w.config, w.configErr = jobtype.DecodeConfig(s.Config.Value); w.configErr == nil {
		w.configErr = w.rule()
	}
	if w.configErr == nil && w.Rules.Ticks != nil && w.IsScheduleEffective() {
		w.knowsZone = w.hasSameZone()
	}
	w.stalled = sync.OnceValue(func() []decide.Stalled { return w.StalledElsewhere(&decide.Work{}) })
	return w
}

// rule sets the rules of the configuration.
func (w *world) rule() error {
	c := w.config
	w.Rules = &decide.Rules{
		Name: c.Name, Total: c.ShardingTotalCount, Cron: strings.Join(append([]string{c.Cron}, c.MoreCrons...), "\n"), TimeZone: c.TimeZone,
		Monitor: c.MonitorExecution == jobtype.On, Failover: c.Failover, Misfire: c.Misfire == jobtype.On, Tolerance: c.MisfireTolerance, Window: c.MisfireWindow,
		Jitter: c.Jitter, MaxTimeDiff: c.MaxTimeDiff, StaticSharding: c.StaticSharding, Label: c.Label, MaxItems: c.MaxItems,
		SkipOverlap: c.Overlap == jobtype.OverlapSkip, Broadcast: c.Broadcast, Streams: c.Props["streaming.process"] == "true",
		ExpiresAt: c.Expiry.At, ExpiryTicks: c.Expiry.Ticks, RemoveExpired: c.Expiry.Remove, Revision: c.Revision,
	}
	ticks, err := c.Ticks()
	if err != nil || ticks == nil {
		return err
	}
	var good []*calendar.Calendar
	for _, name := range slices.Sorted(slices.Values(c.Calendars)) {
		named := decide.Calendar{Name: name}
		if sheet := w.ns.calendars[name]; sheet.calendar != nil {
			good = append(good, sheet.calendar)
			named.Sum, named.Current, named.Version = sheet.calendar.Sum(), true, sheet.node.Version
		}
		w.Rules.Calendars = append(w.Rules.Calendars, named)
	}
	w.Rules.Ticks = calendar.Without(ticks, good...)
	return nil
}

// set returns the name of the set of files that the job belongs to; "" if it belongs to none. A note that is older than
// the job is that of an earlier one.
func (w *world) set() string {
	n := w.ns.applied[w.name]
	if d, err := jobtree.DecodeApplied(n.Value); err == nil && n.Modified >= w.Config.Created {
		return d.Set
	}
	return ""
}

// isJVM reports whether an instance is a JVM member.
func (w *world) isJVM(id string) bool {
	_, is := slices.BinarySearch(w.jvm, id)
	return is
}

// hasGo reports whether an instance of ours lives.
func (w *world) hasGo() bool { return len(w.ids) > len(w.jvm) }

// missedSince returns when an item was to begin first of all the ticks that it has not begun; ok is
// false if none has come, or if that cannot be told.
func (w *world) missedSince(i int) (since time.Time, ok bool) {
	fired := w.Item(i).Fired
	if !w.knowsZone || fired == nil {
		return time.Time{}, false
	}
	begun := fired.Tick
	if begun.Before(w.Schedule.Since) {
		begun = w.Schedule.Since
	}
	since = w.Ticks().Next(begun)
	if last := w.Schedule.LastBefore; last.After(fired.Tick) {
		since = last
	}
	if since.IsZero() {
		return since, false
	}
	if since = since.Add(w.Rules.Jitter); since.Before(w.Schedule.MakeUpTo) {
		since = w.Schedule.MakeUpTo // it was to begin at the end of the pause
	}
	return since, since.Before(w.ns.now)
}

// notBefore is the end of a pause whose ticks were to be made up then.
func (w *world) notBefore() time.Time {
	if w.Schedule == nil {
		return time.Time{}
	}
	return w.Schedule.MakeUpTo
}

// hasSameZone reports whether ticks are the same here as where the job runs. Without a time zone in
// the configuration each process has its own: then one that was begun has to be a tick here, too.
func (w *world) hasSameZone() bool {
	if w.Rules.TimeZone != "" {
		return true
	}
	for i := range w.Items {
		if fired := w.Items[i].Fired; fired != nil && fired.Tick.After(w.Schedule.Since) {
			return w.Rules.Ticks.Prev(fired.Tick).Equal(fired.Tick)
		}
	}
	return false
}
