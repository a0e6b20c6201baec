package decide

import (
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// An instance is available, ready, or eligible: each word includes the one before. Only eligible instances
// are assigned items.

// isAvailable reports whether an instance is there and not leaving, its server is enabled, its clock is within
// MaxTimeDiff, and it has the label.
func (w *World) isAvailable(in jobtree.Instance) bool {
	return in.Owner != 0 && w.ServerEnabled(in.IP) && !w.isLeaving(in.ID) && !w.Session(in.ID).ClockOff && w.hasLabel(in)
}

// isLeaving reports whether an instance that is there is leaving.
func (w *World) isLeaving(id string) bool {
	return w.Session(id).Leaving || id == w.Self.ID && w.Leaving && w.IsMixed()
}

// hasLabel reports whether an instance has the label that the configuration asks for.
func (w *World) hasLabel(in jobtree.Instance) bool {
	return w.Rules.Label == "" || slices.Contains(in.Labels, w.Rules.Label)
}

// isReady reports whether an instance is available and accepts the configuration. If all have refused it, each
// goes on by the last one that it could follow, and the available ones are ready.
func (w *World) isReady(in jobtree.Instance) bool {
	return w.isAvailable(in) && (w.acceptsConfig(in.ID) || !w.anyAcceptsConfig())
}

// acceptsConfig reports whether an instance has not refused the configuration of the snapshot. A
// JVM member never says that it has.
func (w *World) acceptsConfig(id string) bool {
	if w.Config == nil {
		return true
	}
	if id == w.Self.ID {
		return w.Refused != w.Config.Modified
	}
	return w.Session(id).Refused != w.Config.Modified
}

// anyAcceptsConfig reports whether an available instance accepts the configuration.
func (w *World) anyAcceptsConfig() bool {
	for id, in := range w.Instances {
		if w.acceptsConfig(id) && w.isAvailable(in) {
			return true
		}
	}
	return false
}

// isEligible reports whether an instance may have items: it is ready, and its clock is not far off, unless the
// clocks of all ready instances are.
func (w *World) isEligible(in jobtree.Instance) bool {
	return w.isReady(in) && (!w.isClockFar(in.ID) || !w.anyClockRight())
}

// Eligible lists the eligible instances in the order that strategies expect. In a job that has
// JVM members that is ElasticJob's, descending by id, so that a JVM that comes to lead moves little.
func (w *World) Eligible() []strategy.Instance {
	var list []strategy.Instance
	for id, in := range w.Instances {
		if w.isEligible(in) {
			list = append(list, strategy.Instance{ID: id, IP: in.IP, Weight: in.Weight()})
		}
	}
	if w.IsMixed() {
		slices.SortFunc(list, func(a, b strategy.Instance) int { return strings.Compare(b.ID, a.ID) })
		return list
	}
	strategy.Sort(list)
	return list
}
