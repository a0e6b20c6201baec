package decide

// Stop says why a handler that works for long should return between two pieces of work.
type Stop int

// The reasons.
const (
	GoOn     Stop = iota
	Moves         // the item is to get another owner
	Disabled      // an operator has disabled the item, or all servers
)

// Stop says why the handler of a run should return soon, if it should: a run that goes on keeps the item
// here. owners is the strategy's answer; nil if it is not known, or no instance may have items.
//
// A run is asked to move only when a later tick has come, because then the new owner goes on at once: it
// makes up for that tick. A run of another owner's item, by failover, is asked, too: only an idle item is
// assigned to a new owner.
func (w *World) Stop(k *Work, r *Run, owners []string) Stop {
	item := w.Item(r.Item)
	switch {
	case item.Disabled, !w.ServerEnabled(w.Self.IP) && owners == nil:
		return Disabled
	case r.Item >= w.Rules.Total, w.IsJVMResharding(): // a JVM leader assigns when nothing runs
		return Moves
	case !w.LastTickOf(r.Item).After(r.Last), !w.isToMove(r.Item, &item, owners), w.wasHeldInVain(k, r.Item, &item):
		return GoOn
	}
	return Moves
}
