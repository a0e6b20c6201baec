package decide

import "github.com/elasticjob-go/elasticjob/internal/jobtree"

// self returns this instance as it is, or will be, in the tree.
func (w *World) self() jobtree.Instance {
	if in, ok := w.Instances[w.Self.ID]; ok {
		return in
	}
	in := jobtree.Instance{ID: w.Self.ID, IP: w.Self.IP, Labels: w.Self.Labels}
	in.Owner = w.Self.Session
	return in
}

// Missing returns how many items have no owner that is there, and may be dealt to this instance.
func (w *World) Missing() int {
	self := w.self()
	if !w.isEligible(self) {
		return 0
	}
	missing := 0
	for i := range w.Rules.Total {
		item, pin := w.Item(i), w.Pins[i]
		if item.Owner != nil {
			if _, isThere := w.Instances[item.Owner.ID]; isThere {
				continue
			}
		}
		if pin == nil || pin.Err != nil || !pin.Strict || pin.Matches(self) {
			missing++
		}
	}
	return missing
}

// IsPinnedHere reports whether an item is pinned to this instance.
func (w *World) IsPinnedHere(i int) bool {
	pin := w.Pins[i]
	return pin != nil && pin.Err == nil && pin.Matches(w.self())
}
