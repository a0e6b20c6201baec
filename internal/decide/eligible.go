package decide

import (
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// Eligible lists the instances that may have items, in the order that strategies expect. In a job that has
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

// isEligible reports whether an instance may have items. An instance that has refused the
// configuration may not, unless all have. An instance whose clock is far off may not, unless
// all clocks are.
func (w *World) isEligible(in jobtree.Instance) bool {
	return w.follows(in) && (!w.isFar(in.ID) || !w.anyClockRight())
}

// follows is isEligible without regard to clocks that are far off.
func (w *World) follows(in jobtree.Instance) bool {
	return w.isAble(in) && (w.accepts(in.ID) || !w.anyAccepts())
}

// isAble is follows without regard to who has refused the configuration: the instance is
// there and is not leaving, its server is enabled, its clock is within MaxTimeDiff, and it has the
// label.
func (w *World) isAble(in jobtree.Instance) bool {
	return in.Owner != 0 && w.ServerEnabled(in.IP) && !w.isLeaving(in.ID) && !w.Session(in.ID).ClockOff && w.hasLabel(in)
}

// isLeaving reports whether an instance that is there is on its way out.
func (w *World) isLeaving(id string) bool {
	return w.Session(id).Leaving || id == w.Self.ID && w.Leaving && w.IsMixed()
}

// hasLabel reports whether an instance has the label that the configuration asks for.
func (w *World) hasLabel(in jobtree.Instance) bool {
	return w.Rules.Label == "" || slices.Contains(in.Labels, w.Rules.Label)
}

// accepts reports whether an instance has not refused the configuration of the snapshot. A
// JVM member never says that it has.
func (w *World) accepts(id string) bool {
	if w.Config == nil {
		return true
	}
	if id == w.Self.ID {
		return w.Refused != w.Config.Modified
	}
	return w.Session(id).Refused != w.Config.Modified
}

// anyAccepts reports whether an instance that is able to have items has not refused the
// configuration. If all have, each goes on by the last one that it could follow, and one of
// them has to lead.
func (w *World) anyAccepts() bool {
	for id, in := range w.Instances {
		if w.accepts(id) && w.isAble(in) {
			return true
		}
	}
	return false
}
