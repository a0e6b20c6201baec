package doctor

import (
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// checkMembers looks at what each instance says of itself.
func (w *world) checkMembers(c *collector) {
	refused := 0
	for _, id := range w.ids {
		s := w.Session(id)
		if s.Refused == w.Config.Modified {
			refused++
		}
	}
	for _, id := range w.ids {
		if w.isJVM(id) {
			continue
		}
		s := w.Session(id)
		add := func(kind Kind, severity Severity, mark int64, cause, advice string) {
			found := w.about(kind, severity, cause, advice, "")
			found.Instance, found.mark = id, mark
			c.add(found)
		}
		switch {
		case s.Protocol > jobtree.Protocol:
			add(ProtocolNewer, Critical, s.Created, fmt.Sprintf("it shares the tree by protocol %d, and this binary knows %d at most: what it says of such a job may be wrong", s.Protocol, jobtree.Protocol),
				"update this binary, and the programs of the other instances")
		case s.Protocol < jobtree.Protocol:
			add(ProtocolOlder, Warning, s.Created, fmt.Sprintf("it shares the tree by protocol %d, and %d is the newest: it knows no kills, pauses, requests and pins", s.Protocol, jobtree.Protocol),
				"update its program")
		}
		switch {
		case s.ClockOff:
			add(ClockOff, Critical, s.Created, fmt.Sprintf("its clock is farther from the store's than the %v that the job allows, so it runs nothing", w.config.MaxTimeDiff), "set the clock of its host")
		case s.ClockFar:
			add(ClockOff, Warning, s.Created, "its clock is more than 10 s from the store's, so its items go to others", "set the clock of its host")
		}
		if s.Protocol == 0 {
			continue // it does not say what it works by
		}
		accepted := s.Accepted
		if accepted == 0 && s.Created == w.Config.Modified {
			accepted = s.Created // the commit that wrote its node wrote the configuration, too
		}
		switch {
		case s.Refused == w.Config.Modified:
			severity := Warning
			if refused == len(w.ids) {
				severity = Critical
			}
			add(ConfigRefused, severity, s.Refused, "it refuses the configuration in the store, and goes by an earlier one; its faults say why",
				"correct the configuration, or give the process what the configuration names")
		case accepted != w.Config.Modified:
			add(ConfigBehind, Warning, w.Config.Modified, "it still works by an earlier configuration", "look at its faults and its log; restart it if it does not follow")
		}
		if w.configErr == nil && s.Revision != 0 && s.Revision != w.config.Revision {
			severity, advice := Warning, "find out why the newer one of the program is not in the store: its user may have no right to write there"
			if s.Revision < w.config.Revision {
				severity, advice = Info, "nothing, if its program is to be replaced; otherwise give it the configuration of the store"
			}
			add(ConfigRevision, severity, s.Created, fmt.Sprintf("its program brings revision %d of the configuration, and that of the store is %d", s.Revision, w.config.Revision), advice)
		}
	}
	w.checkMixed(c)
}

// checkServers looks for servers that are disabled and have no instance.
func (w *world) checkServers(c *collector) {
	for _, ip := range sortedKeys(w.Servers) {
		server := w.Servers[ip]
		has := slices.ContainsFunc(w.ids, func(id string) bool { return w.Instances[id].IP == ip })
		if server.Enabled || has {
			continue
		}
		s := w.about(ServerIdle, Info, fmt.Sprintf("server %s is disabled, and has no instance: the next one there will have no items", brief.Quote(ip)),
			"enable it, or remove it", fmt.Sprintf("elasticjob enable %s --server %s", w.name, brief.Text(ip)))
		s.Path, s.mark = server.Path, server.Modified
		c.add(s)
	}
}
