package decide

import (
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// Eligible lists the instances that may have items, in the order in which strategies are
// given them.
func (w *World) Eligible() []strategy.Instance {
	var list []strategy.Instance
	for id, in := range w.Instances {
		if w.isEligible(in) {
			list = append(list, strategy.Instance{ID: id, IP: in.IP, Weight: in.Weight()})
		}
	}
	strategy.Sort(list)
	return list
}

// isEligible reports whether an instance may have items. One that has refused the
// configuration in force may not, as long as somebody has not; nor one whose clock is far
// off, as long as somebody's is right.
func (w *World) isEligible(in jobtree.Instance) bool {
	return w.follows(in) && (!w.isFar(in.ID) || !w.anyClockRight())
}

// follows reports whether an instance may have items, whatever its clock shows.
func (w *World) follows(in jobtree.Instance) bool {
	return w.isAble(in) && (w.accepts(in.ID) || !w.anyAccepts())
}

// isAble reports whether an instance may have items, whatever it says to the configuration
// and its clock shows.
func (w *World) isAble(in jobtree.Instance) bool {
	return in.Owner != 0 && w.ServerEnabled(in.IP) && !w.Sessions[in.ID].ClockOff && w.hasLabel(in)
}

// hasLabel reports whether an instance has the label that the configuration asks for.
func (w *World) hasLabel(in jobtree.Instance) bool {
	return w.Rules.Label == "" || slices.Contains(in.Labels, w.Rules.Label)
}

// accepts reports whether an instance has not refused the configuration in force. A JVM
// member says nothing.
func (w *World) accepts(id string) bool {
	if w.Config == nil {
		return true
	}
	if id == w.Self.ID {
		return w.Refused != w.Config.Modified
	}
	return w.Sessions[id].Refused != w.Config.Modified
}

// anyAccepts reports whether somebody who may have items follows the configuration. Where
// nobody does, the last good one of each stays in force, and somebody has to lead.
func (w *World) anyAccepts() bool {
	for id, in := range w.Instances {
		if w.accepts(id) && w.isAble(in) {
			return true
		}
	}
	return false
}
