package decide

import (
	"iter"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Stalled is an item that should have begun and has not, as far as the tree tells.
type Stalled struct {
	Item     int
	Reason   Reason
	Instance string    // its owner or its runner, for the reasons after HasNoOwner
	Tick     time.Time // of the execution that goes on, for RunnerGoesOn; zero if it is unknown
	// Request is the request that waits for the item; "" if only a tick does.
	Request string
}

// Reason is why an item does not begin.
type Reason int

// The reasons.
const (
	NotStalled        Reason = iota
	NobodyHasLabel           // no instance has the label that the configuration asks for
	NobodyMay                // all instances have refused the configuration, or have clocks that are off
	NobodyHasThread          // the item waits to be run again, and no instance takes it over
	WaitsForEarlier          // the item waits to be run again, and an earlier execution is not through
	HasNoOwner               // the leader has not assigned the item
	MatchesNobody            // it is pinned, and no instance is one of those
	HasNoRoom                // all instances have as many items as they may
	OwnerIsGone              // the owner has ended, and the item is not assigned again
	OwnerMayNot              // the owner may not have the item now, and it is not assigned again
	OwnerIsStatic            // the owner has ended, and static sharding waits for it for a while
	OwnerDoesNotBegin        // the owner is there, and does not begin the item
	RunnerIsDead             // the runner has ended, and the item is not recovered
	RunnerGoesOn             // the runner has not finished the execution of Tick
	OwnerIsOld               // the owner is of a protocol that has no requests
	AllDisabled              // no server is enabled
)

// StalledElsewhere lists the items that others should have begun, among those that this instance watches.
func (w *World) StalledElsewhere(k *Work) []Stalled {
	nobody, isMeant := w.whyNobody()
	if isMeant {
		return w.stalledRequests()
	}
	goes := w.IsRemovable(k)
	isSlow := w.JVMLeads() // a JVM leader assigns and recovers only when the next tick comes
	var list []Stalled
	for i := range w.watched() {
		item, tick := w.Item(i), w.LastTickOf(i)
		var l Stalled
		switch {
		case item.Disabled, isSlow && item.Owner == nil:
		case goes && !item.Exists: // it was removed, and the others follow
		case isSlow:
			l = w.whyNotBegun(&item, tick)
		case item.Running != nil:
			l = w.whyNotEnded(&item, tick)
		case nobody != NotStalled:
			l.Reason = nobody
		case w.Rules.Broadcast && item.Owner == nil: // as it should be
		default:
			if l = w.whyUnowned(i, &item); l.Reason == NotStalled && item.Owner != nil {
				l = w.whyNotBegun(&item, tick)
			}
		}
		if r := w.WaitingRequest(i); r != nil && !item.Disabled {
			if l.Reason == NotStalled {
				l = w.whyNotRequested(&item)
			}
			l.Request = r.ID
		}
		if l.Item = i; l.Reason != NotStalled {
			list = append(list, l)
		}
	}
	if w.watchesAll() {
		list = append(list, w.stalledFailovers(k)...)
	}
	return list
}

// stalledRequests lists the items for which requests wait while no server is enabled. Nobody
// leads then, so everybody lists all of them.
func (w *World) stalledRequests() []Stalled {
	var list []Stalled
	for i := range w.Rules.Total {
		if r := w.WaitingRequest(i); r != nil && !w.Item(i).Disabled {
			list = append(list, Stalled{Item: i, Reason: AllDisabled, Request: r.ID})
		}
	}
	return list
}

// stalledFailovers lists the items that await failover.
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

// watchesAll reports whether this process watches all items: as the leader, or because it is no
// instance at all, and only looks on.
func (w *World) watchesAll() bool { return w.Leads() || w.Self.ID == "" }

// watched goes over the items that this instance watches beside its own. A leader watches all
// items. Any other instance watches the item after each of its own, or the first item if it
// has none. So somebody notices if the leader does nothing.
func (w *World) watched() iter.Seq[int] {
	total := w.Rules.Total
	return func(yield func(int) bool) {
		if w.watchesAll() {
			for i := 0; i < total && yield(i); i++ {
			}
			return
		}
		ownsAny := false
		for i := range w.itemCount() {
			if !w.owns(&w.Items[i]) {
				continue
			}
			ownsAny = true
			next := (i + 1) % total
			if item := w.Item(next); !w.owns(&item) && !yield(next) {
				return
			}
		}
		if !ownsAny {
			yield(0)
		}
	}
}

// whyNobody returns why no instance may have items; NotStalled if one may. isMeant says that
// an operator wants it so: no server is enabled.
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

// whyUnowned returns why an item has no owner that may run it.
func (w *World) whyUnowned(i int, item *jobtree.Item) Stalled {
	if item.Owner == nil {
		switch pin := w.Pins[i]; {
		case pin != nil && pin.Strict:
			return Stalled{Reason: MatchesNobody}
		case w.IsBounded():
			return Stalled{Reason: HasNoRoom}
		}
		return Stalled{Reason: HasNoOwner}
	}
	id := item.Owner.ID
	in, ok := w.Instances[id]
	switch {
	case !ok && w.Rules.StaticSharding && !w.isStaticOver(id):
		return Stalled{} // static sharding waits for the owner
	case !ok:
		return Stalled{Reason: OwnerIsGone, Instance: id}
	case !w.isEligible(in):
		return Stalled{Reason: OwnerMayNot, Instance: id}
	}
	return Stalled{}
}

// whyNotBegun returns why an item of another owner has not begun although its tick has come. Nothing is known of
// items of a JVM instance (one without a session's node), because it records no ticks.
func (w *World) whyNotBegun(item *jobtree.Item, tick time.Time) Stalled {
	id := item.Owner.ID
	switch {
	case id == w.Self.ID: // the controller knows its own items better
		return Stalled{}
	case !w.Rules.Monitor || w.IsPaused() || tick.IsZero() || item.Running != nil || item.Fired == nil || !tick.After(item.Fired.Tick):
		return Stalled{}
	}
	_, isThere := w.Instances[id]
	switch {
	case !isThere && w.Rules.StaticSharding:
		return Stalled{Reason: OwnerIsStatic, Instance: id}
	case !isThere:
		return Stalled{Reason: OwnerIsGone, Instance: id}
	case w.Session(id).Owner == 0:
		return Stalled{}
	}
	return Stalled{Reason: OwnerDoesNotBegin, Instance: id}
}

// whyNotEnded returns why the execution of an item that keeps it from beginning does not end.
func (w *World) whyNotEnded(item *jobtree.Item, tick time.Time) Stalled {
	id := w.runnerOf(item)
	switch {
	case w.IsDead(id):
		return Stalled{Reason: RunnerIsDead, Instance: id}
	case id == w.Self.ID, w.Session(id).Owner == 0:
		return Stalled{}
	case item.Fired == nil || tick.IsZero() || !tick.After(item.Fired.Tick):
		return Stalled{}
	case w.Rules.Streams: // only its runner knows whether it gets on
		return Stalled{}
	}
	return Stalled{Reason: RunnerGoesOn, Instance: id, Tick: item.Fired.Tick}
}

// whyNotRequested returns why an item has not begun for the request that waits for it.
func (w *World) whyNotRequested(item *jobtree.Item) Stalled {
	switch {
	case item.Running != nil:
		id := w.runnerOf(item)
		if id == w.Self.ID {
			return Stalled{}
		}
		return Stalled{Reason: RunnerGoesOn, Instance: id, Tick: claimedTick(item)}
	case item.Owner == nil:
		return Stalled{Reason: HasNoOwner}
	case item.Owner.ID == w.Self.ID:
		return Stalled{}
	}
	id := item.Owner.ID
	_, isThere := w.Instances[id]
	switch {
	case !isThere && w.Rules.StaticSharding:
		return Stalled{Reason: OwnerIsStatic, Instance: id}
	case !isThere:
		return Stalled{Reason: OwnerIsGone, Instance: id}
	case w.isJVM(id): // the coordinator passes the request on to it
		return Stalled{}
	case w.IsOld(id):
		return Stalled{Reason: OwnerIsOld, Instance: id}
	}
	return Stalled{Reason: OwnerDoesNotBegin, Instance: id}
}
