package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Stalled is an item that should have begun and did not, as far as the tree tells.
type Stalled struct {
	Item     int
	Reason   Reason
	Instance string    // that has it, or has had it
	Tick     time.Time // of the execution that is not through
}

// Reason is why an item does not begin.
type Reason int

// The reasons. Those after HasNoOwner name an instance.
const (
	NotStalled        Reason = iota
	NobodyHasLabel           // no instance has the label that the configuration asks for
	NobodyMay                // all instances refuse the configuration, or have clocks that are off
	NobodyHasThread          // it waits to be run again
	WaitsForEarlier          // it waits to be run again, and an earlier execution is not through
	HasNoOwner               //
	OwnerIsGone              // and it is not dealt again
	OwnerMayNot              // have it now, and it is not dealt again
	OwnerIsStatic            // gone, and static sharding keeps it there for a while
	OwnerDoesNotBegin        // although it is there
	RunnerIsDead             // and it is not recovered
	RunnerGoesOn             // its execution of Tick is not through
)

// StalledElsewhere finds the items that others should have begun, of those that this instance
// watches.
func (w *World) StalledElsewhere(k *Work) []Stalled {
	nobody, isMeant := w.whyNobody()
	if isMeant {
		return nil
	}
	tick := w.LastTick()
	isSlow := w.JVMLeads() // who deals and recovers when the next tick comes
	var list []Stalled
	for _, i := range w.watched() {
		item := w.Item(i)
		var l Stalled
		switch {
		case item.Disabled, isSlow && item.Owner == nil:
		case isSlow:
			l = w.whyNotBegun(&item, tick)
		case item.Running != nil:
			l = w.whyNotThrough(&item, tick)
		case nobody != NotStalled:
			l.Reason = nobody
		default:
			if l = w.whyUnowned(&item); l.Reason == NotStalled && item.Owner != nil {
				l = w.whyNotBegun(&item, tick)
			}
		}
		if l.Item = i; l.Reason != NotStalled {
			list = append(list, l)
		}
	}
	if w.Leads() {
		list = append(list, w.stalledFailovers(k)...)
	}
	return list
}

func (w *World) stalledFailovers(k *Work) []Stalled {
	var list []Stalled
	for _, f := range w.FailoverItems {
		item := w.Item(f.Item)
		if f.Item >= w.Rules.Total || item.Disabled {
			continue
		}
		l := Stalled{Item: f.Item, Reason: WaitsForEarlier}
		if isIdle(k, f.Item, &item) && item.Failovering == nil {
			l.Reason = NobodyHasThread
		}
		list = append(list, l)
	}
	return list
}

// watched are the items that this instance looks after beside its own: as leader all of
// them, else the one after each of its own. So there is somebody who looks after the items
// of a leader that does nothing. An instance without items looks after the first one.
func (w *World) watched() []int {
	total := w.Rules.Total
	var list []int
	if w.Leads() {
		for i := range total {
			list = append(list, i)
		}
		return list
	}
	ownsAny := false
	for i := range w.items() {
		if !w.owns(&w.Items[i]) {
			continue
		}
		ownsAny = true
		next := (i + 1) % total
		if item := w.Item(next); !w.owns(&item) {
			list = append(list, next)
		}
	}
	if !ownsAny {
		list = append(list, 0)
	}
	return list
}

// whyNobody says why no instance may have items. It is meant to be so where no server is
// enabled.
func (w *World) whyNobody() (why Reason, isMeant bool) {
	anyEnabled, anyLabelled := false, false
	for _, in := range w.Instances {
		if w.isEligible(in) {
			return NotStalled, false
		}
		if in.Owner != 0 && w.ServerEnabled(in.IP) {
			anyEnabled = true
			anyLabelled = anyLabelled || w.hasLabel(in)
		}
	}
	switch {
	case !anyEnabled:
		return NotStalled, true
	case !anyLabelled:
		return NobodyHasLabel, false
	}
	return NobodyMay, false
}

// whyUnowned says why an item has no owner that may run it.
func (w *World) whyUnowned(item *jobtree.Item) Stalled {
	if item.Owner == nil {
		return Stalled{Reason: HasNoOwner}
	}
	id := item.Owner.ID
	in, ok := w.Instances[id]
	switch {
	case !ok && w.Rules.StaticSharding && !w.isAbandoned(id):
		return Stalled{} // it is to stay where it is
	case !ok:
		return Stalled{Reason: OwnerIsGone, Instance: id}
	case !w.isEligible(in):
		return Stalled{Reason: OwnerMayNot, Instance: id}
	}
	return Stalled{}
}

// whyNotBegun says that somebody else does not begin an item although its tick has come. An
// instance without a session's node is a JVM's, which records no ticks.
func (w *World) whyNotBegun(item *jobtree.Item, tick time.Time) Stalled {
	id := item.Owner.ID
	switch {
	case id == w.Self.ID: // which it knows better by itself
		return Stalled{}
	case !w.Rules.Monitor || tick.IsZero() || item.Running != nil || item.Fired == nil || !tick.After(item.Fired.Tick):
		return Stalled{}
	}
	_, isThere := w.Instances[id]
	switch {
	case !isThere && w.Rules.StaticSharding:
		return Stalled{Reason: OwnerIsStatic, Instance: id}
	case !isThere:
		return Stalled{Reason: OwnerIsGone, Instance: id}
	case w.Sessions[id].Owner == 0:
		return Stalled{}
	}
	return Stalled{Reason: OwnerDoesNotBegin, Instance: id}
}

// whyNotThrough says why an item cannot begin whose last execution still has a record.
func (w *World) whyNotThrough(item *jobtree.Item, tick time.Time) Stalled {
	id := w.runner(item)
	switch {
	case w.IsDead(id):
		return Stalled{Reason: RunnerIsDead, Instance: id}
	case id == w.Self.ID, w.Sessions[id].Owner == 0:
		return Stalled{}
	case item.Fired == nil || tick.IsZero() || !tick.After(item.Fired.Tick):
		return Stalled{}
	}
	return Stalled{Reason: RunnerGoesOn, Instance: id, Tick: item.Fired.Tick}
}
