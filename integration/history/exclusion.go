package history

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// CheckExclusion checks exclusion a second time, with porcupine and without the rules of
// Check. Porcupine looks for an order of events in which every item is a lock with a fencing
// token: one execution at a time takes it, with a larger token than all before, and lets it go
// when it ends. It also looks for an order in which the fenced resource is a register that
// takes a write exactly if no larger token was there before.
//
// A search that takes longer than limit proves nothing.
func CheckExclusion(events []Event, limit time.Duration) []Violation {
	var violations []Violation
	t := newTimeline(events)
	for s, list := range executions(events) {
		for _, e := range t.epochs(t.breaks(s.job), list) {
			if v := refute(locks(t, e.runs), limit); len(v) > 0 {
				violations = append(violations, Violation{
					Promise: 2,
					What:    fmt.Sprintf("%s/%d: no order of events explains this as a lock with growing tokens", s.job, s.item),
					Events:  v,
				})
			}
		}
	}
	writes := map[subject][]porcupine.Operation{}
	for i := range events {
		if e := &events[i]; e.Kind == Write && e.Err == "" {
			s := subject{e.Job, e.Item}
			writes[s] = append(writes[s], porcupine.Operation{Input: e, Call: e.Call, Return: e.Mono, Metadata: e})
		}
	}
	for s, ops := range writes {
		if porcupine.CheckOperationsTimeout(fenceModel(), ops, limit) == porcupine.Illegal {
			var all []*Event
			for _, op := range ops {
				all = append(all, op.Metadata.(*Event))
			}
			violations = append(violations, Violation{
				Promise: 2,
				What:    fmt.Sprintf("%s/%d: no order of events explains this as a fenced register", s.job, s.item),
				Events:  all,
			})
		}
	}
	return violations
}

// lockInput is to take an item, or to let it go.
type lockInput struct {
	token int64
	take  bool
}

type lockState struct {
	token int64
	held  bool
}

func lockModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return lockState{} },
		Step: func(state, input, _ any) (bool, any) {
			s, in := state.(lockState), input.(lockInput)
			if in.take {
				return !s.held && in.token > s.token, lockState{token: in.token, held: true}
			}
			return s.held && in.token == s.token, lockState{token: s.token}
		},
	}
}

// locks turns executions into operations. One is taken at some time after its process
// had last let the item go and before its handler starts, and let go at some time after
// it had ceased to use it.
func locks(t *timeline, list []*execution) [][]porcupine.Operation {
	var all [][]porcupine.Operation
	free := map[string]int64{} // by process
	inOrder := slices.Clone(list)
	slices.SortStableFunc(inOrder, func(a, b *execution) int { return cmp.Compare(a.began(), b.began()) })
	for _, x := range inOrder {
		if x.start == nil {
			continue
		}
		until := x.until()
		for _, p := range t.pauses {
			// It could do nothing while it was stopped, and then needs a moment to wake up.
			if p.process == x.process && p.from < until && (p.to == never || until <= p.to+int64(wakeTime)) {
				until = max(p.from, x.start.Mono)
			}
		}
		if next := following(inOrder, x); next != nil && t.wronglyDropped(x, next.start.Mono) {
			until = max(min(until, next.start.Mono-1), x.start.Mono)
		}
		claimed := max(free[x.process], t.begin)
		if x.claim != nil {
			claimed = max(claimed, x.claim.Call)
		}
		free[x.process] = x.returned()
		ops := []porcupine.Operation{{Input: lockInput{x.token, true}, Call: min(claimed, x.start.Mono), Return: x.start.Mono, Metadata: x.start}}
		if until != never {
			last := x.start
			for _, e := range []*Event{x.end, x.cut} {
				if e != nil {
					last = e
				}
			}
			ops = append(ops, porcupine.Operation{Input: lockInput{x.token, false}, Call: until, Return: never, Metadata: last})
		}
		all = append(all, ops)
	}
	return all
}

// following is the first execution that starts after another one.
func following(inOrder []*execution, x *execution) *execution {
	for _, other := range inOrder {
		if other != x && other.start != nil && other.start.Mono > x.start.Mono {
			return other
		}
	}
	return nil
}

func fenceModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return int64(0) },
		Step: func(state, input, _ any) (bool, any) {
			fence, write := state.(int64), input.(*Event)
			if write.Token < fence {
				return !write.Accepted, fence
			}
			return write.Accepted, write.Token
		},
	}
}

// refute returns the events of a few executions for which there is no such order, or none if
// there is one for all executions. The few are as few as possible: if one of them is left out,
// there is an order for the others.
func refute(executions [][]porcupine.Operation, limit time.Duration) []*Event {
	illegal := func(some [][]porcupine.Operation) bool {
		return porcupine.CheckOperationsTimeout(lockModel(), slices.Concat(some...), limit) == porcupine.Illegal
	}
	if !illegal(executions) {
		return nil
	}
	// First find the shortest beginning that has no order, then drop what it does not need.
	n := sort.Search(len(executions), func(n int) bool { return illegal(executions[:n]) })
	least := executions[:n]
	for size := len(least) / 2; size > 0; size /= 2 {
		for at := 0; at < len(least); {
			without := slices.Delete(slices.Clone(least), at, min(at+size, len(least)))
			if illegal(without) {
				least = without
			} else {
				at += size
			}
		}
	}
	var events []*Event
	for _, op := range slices.Concat(least...) {
		events = append(events, op.Metadata.(*Event))
	}
	return events
}
