package health

import (
	"maps"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// maxUnreported bounds the commands that wait for a leader.
const maxUnreported = 100

// commands are what operators have asked for, as observers know it. All instances follow them, although only the
// leader tells: the next leader then knows what is new. It stays when this process becomes another instance.
type commands struct {
	isFilled   bool // the other fields are those of the last call
	disabled   []int
	servers    map[string]*jobtree.Server
	pins       map[int]*jobtree.Pin
	open       map[string]bool // requests that have not ended
	reshards   bool            // the items are to be resharded
	unreported []jobtype.Event // seen while nobody has led
}

// follow finds what operators have asked for since the last call, and reports it if this instance leads.
func (k *commands) follow(w *decide.World, tell func(jobtype.Event)) {
	before := *k
	k.isFilled = true
	k.servers, k.pins, k.reshards = maps.Clone(w.Servers), maps.Clone(w.Pins), w.ReshardsFromScratch()
	k.disabled = disabledItems(w.State)
	k.open = openRequests(w.State)
	if !before.isFilled {
		return
	}
	k.unreported = slices.Concat(k.unreported, before.aboutItems(k), before.aboutServers(k), before.aboutPins(k), before.aboutRequests(w.State))
	if k.reshards && !before.reshards {
		k.unreported = append(k.unreported, jobtype.Event{Command: jobtype.CommandReshard})
	}
	if len(k.unreported) == 0 {
		return
	}
	switch {
	case w.Leads():
		for _, e := range k.unreported {
			tell(e)
		}
		k.unreported = nil
	case w.LeaderIsAlive():
		k.unreported = nil
	default:
		k.unreported = k.unreported[max(len(k.unreported)-maxUnreported, 0):]
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
	open := map[string]bool{}
	for _, r := range s.Requests {
		if r.Err == nil && r.Ended.IsZero() {
			open[r.ID] = true
		}
	}
	return open
}

func (k *commands) aboutItems(now *commands) (list []jobtype.Event) {
	gained, lost := Difference(k.disabled, now.disabled)
	if len(gained) > 0 {
		list = append(list, jobtype.Event{Command: jobtype.CommandDisableItems, Items: gained})
	}
	if len(lost) > 0 {
		list = append(list, jobtype.Event{Command: jobtype.CommandDisableItems, Over: true, Items: lost})
	}
	return list
}

// aboutServers returns events for servers that operators have disabled or enabled. Servers that come are
// left out, because their first instance disables them if the configuration says so, and so are servers
// that go, because the leader removes those that nobody uses.
func (k *commands) aboutServers(now *commands) (list []jobtype.Event) {
	for _, ip := range slices.Sorted(maps.Keys(k.servers)) {
		if is := now.servers[ip]; is != nil && is.Enabled != k.servers[ip].Enabled {
			list = append(list, jobtype.Event{Command: jobtype.CommandDisableServer, Over: is.Enabled, Target: jobtype.Target{Server: brief.Text(ip)}})
		}
	}
	return list
}

// aboutPins returns events for items that were pinned or are not any more: one for all items that are
// pinned to the same.
func (k *commands) aboutPins(now *commands) (list []jobtype.Event) {
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
		list = append(list, jobtype.Event{Command: jobtype.CommandPin, Items: items, Target: jobtype.Target{Server: brief.Text(d.Address), Instance: brief.Text(d.Instance), Label: brief.Text(d.Label)}, By: brief.Text(d.By)})
	}
	slices.SortFunc(list, func(a, b jobtype.Event) int { return a.Items[0] - b.Items[0] })
	if len(none) > 0 {
		slices.Sort(none)
		list = append(list, jobtype.Event{Command: jobtype.CommandPin, Over: true, Items: none})
	}
	return list
}

// aboutRequests returns events for new requests, and for those that were cancelled.
func (k *commands) aboutRequests(now *jobtree.State) (list []jobtype.Event) {
	for _, r := range now.Requests {
		if r.Err != nil {
			continue
		}
		e := jobtype.Event{Command: commandOf(r), Items: slices.Clone(r.Items), Execution: jobtype.Execution{RequestID: r.ID}, By: brief.Text(r.By)}
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
	case jobtype.SourceRetry.String():
		return jobtype.CommandRetry
	case jobtype.SourceBackfill.String():
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
