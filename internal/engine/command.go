package engine

import (
	"maps"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// maxUntold bounds the commands that wait for a leader.
const maxUntold = 100

// commands are what operators have asked for, as observers know it. All instances follow them,
// although only the leader tells: the next leader then knows what is new. It stays when this
// process becomes another instance.
type commands struct {
	follows  bool // the rest is filled
	disabled []int
	servers  map[string]*jobtree.Server
	pins     map[int]*jobtree.Pin
	open     map[string]bool // requests that have not ended
	anew     bool            // the items are to be resharded
	untold   []Event         // seen while nobody has led
}

// reportCommand tells of a command that this instance obeys itself.
func (c *controller) reportCommand(e Event) {
	e.Kind, e.Time, e.JobName, e.InstanceID = jobtype.EventCommanded, c.now(), string(c.job), c.self.ID
	c.reporter.Tell(e)
}

// reportCommands finds what operators have asked for since the last pass, and tells it if this
// instance leads.
func (c *controller) reportCommands(w *decide.World) {
	k := &c.commands
	before := *k
	k.follows = true
	k.servers, k.pins, k.anew = w.Servers, w.Pins, w.DealsAnew()
	k.disabled = disabledItems(w.State)
	k.open = openRequests(w.State)
	if !before.follows {
		return
	}
	k.untold = slices.Concat(k.untold, before.aboutItems(k), before.aboutServers(k), before.aboutPins(k), before.aboutRequests(w.State))
	if k.anew && !before.anew {
		k.untold = append(k.untold, Event{Command: jobtype.CommandReshard})
	}
	if len(k.untold) == 0 {
		return
	}
	switch {
	case w.Leads():
		for _, e := range k.untold {
			c.reportCommand(e)
		}
		k.untold = nil
	case w.LeaderStands():
		k.untold = nil
	default:
		k.untold = k.untold[max(len(k.untold)-maxUntold, 0):]
	}
}

func disabledItems(s *jobtree.State) (items []int) {
	for i := range s.Items {
		if s.Items[i].Disabled {
			items = append(items, i)
		}
	}
	return items
}

func openRequests(s *jobtree.State) map[string]bool {
	var open map[string]bool
	for _, r := range s.Requests {
		if r.Err == nil && r.Ended.IsZero() {
			put(&open, r.ID, true)
		}
	}
	return open
}

func (k *commands) aboutItems(now *commands) (list []Event) {
	gained, lost := health.Difference(k.disabled, now.disabled)
	if len(gained) > 0 {
		list = append(list, Event{Command: jobtype.CommandDisableItems, Items: gained})
	}
	if len(lost) > 0 {
		list = append(list, Event{Command: jobtype.CommandDisableItems, Over: true, Items: lost})
	}
	return list
}

// aboutServers leaves out servers that come, because their first instance disables them if the
// configuration says so, and servers that go, because the leader removes those that nobody uses.
func (k *commands) aboutServers(now *commands) (list []Event) {
	for _, ip := range slices.Sorted(maps.Keys(k.servers)) {
		if is := now.servers[ip]; is != nil && is.Enabled != k.servers[ip].Enabled {
			list = append(list, Event{Command: jobtype.CommandDisableServer, Over: is.Enabled, Target: jobtype.Target{Server: short(ip)}})
		}
	}
	return list
}

// aboutPins has an event for all items that are pinned to the same.
func (k *commands) aboutPins(now *commands) (list []Event) {
	to := map[jobtree.PinDocument][]int{}
	var none []int
	for i, p := range now.pins {
		if was := k.pins[i]; p.Err == nil && (was == nil || was.PinDocument != p.PinDocument) {
			to[p.PinDocument] = append(to[p.PinDocument], i)
		}
	}
	for i := range k.pins {
		if now.pins[i] == nil {
			none = append(none, i)
		}
	}
	for d, items := range to {
		slices.Sort(items)
		list = append(list, Event{Command: jobtype.CommandPin, Items: items, Target: jobtype.Target{Server: short(d.Address), Instance: short(d.Instance), Label: short(d.Label)}, By: short(d.By)})
	}
	slices.SortFunc(list, func(a, b Event) int { return a.Items[0] - b.Items[0] })
	if len(none) > 0 {
		slices.Sort(none)
		list = append(list, Event{Command: jobtype.CommandPin, Over: true, Items: none})
	}
	return list
}

// aboutRequests tells of requests that are new, and of those that were ended before they were
// through.
func (k *commands) aboutRequests(now *jobtree.State) (list []Event) {
	for _, r := range now.Requests {
		if r.Err != nil {
			continue
		}
		e := Event{Command: commandOf(r), Items: slices.Clone(r.Items), Execution: Execution{RequestID: r.ID}, By: short(r.By)}
		switch {
		case r.Ended.IsZero() && !k.open[r.ID]:
			list = append(list, e)
		case !r.Ended.IsZero() && k.open[r.ID] && isCancelled(r):
			e.Command, e.By = jobtype.CommandCancel, ""
			list = append(list, e)
		}
	}
	return list
}

// commandOf returns what a request asks for.
func commandOf(r *jobtree.Request) jobtype.Command {
	switch r.Source {
	case SourceRetry.String():
		return jobtype.CommandRetry
	case SourceBackfill.String():
		return jobtype.CommandBackfill
	}
	return jobtype.CommandTrigger
}

// isCancelled reports whether a request has ended although an item was not through.
func isCancelled(r *jobtree.Request) bool {
	return slices.ContainsFunc(r.Items, func(i int) bool {
		p := r.Progress(i)
		return p == nil || p.Err == nil && p.Outcome == ""
	})
}
