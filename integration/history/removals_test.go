package history_test

import (
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/history"
)

// removed has an operator remove the job at a time, by the commit with a number.
func (t *tape) removed(ms int, number int64) {
	t.at(ms, history.Event{Kind: history.Remove, Job: "j", Item: -1, Call: int64(ms - 10)})
	t.at(ms, history.Event{Kind: history.Removed, Job: "j", Item: -1, Token: number})
}

// created has an operator create the job anew.
func (t *tape) created(ms int, number int64) {
	t.at(ms, history.Event{Kind: history.Configure, Job: "j", Item: -1, Call: int64(ms - 10), Rules: t.events[2].Rules})
	t.at(ms, history.Event{Kind: history.Created, Job: "j", Item: -1, Token: number})
	t.about(ms+10, history.Joined, "w1")
	t.about(ms+10, history.Joined, "w2")
}

// away is calm but for the ticks 4 to 7, before which the job was removed; after them it is created
// again. Item 0 runs for tick 3 only if last does.
func away(last run) *tape {
	h := calm(func(item, tick int) bool { return tick > 3 && tick < 8 || tick == 3 && item == 0 })
	last.process, last.tick, last.source = "w1", 3, "MISFIRE"
	h.run(last)
	h.at(5, history.Event{Kind: history.Created, Job: "j", Item: -1, Token: 1})
	h.removed(3500, 35)
	h.created(7500, 75)
	return h
}

// early is the last run before the removal.
var early = run{token: 34, from: 3400, to: 3450}

const removedCause = "job: job removed from the registry"

// expiring is calm until tick 4, which is the last one if there are four; then nobody takes part any
// more. The schedule is in force before tick 1.
func expiring(ticks int, skip func(item, tick int) bool) *tape {
	h := calm(func(item, tick int) bool { return tick > 4 || skip != nil && skip(item, tick) })
	h.events[2].Rules.Ticks = ticks
	h.at(15, history.Event{Kind: history.Scheduled, Job: "j", Item: -1, Tick: epoch.Add(15 * time.Millisecond), Token: 5})
	for _, process := range []string{"w1", "w2"} {
		h.at(4900, history.Event{Kind: history.Left, Process: process, Job: "j", Item: -1, Err: removedCause})
	}
	return h
}

// goes has the leader remove the job.
func goes(h *tape) *tape {
	h.at(4880, history.Event{Kind: history.Removed, Job: "j", Item: -1, Token: 48})
	return h
}

// Jobs that are removed and that expire, and which histories break the promises about them. promise is
// 0 if none is broken.
func TestRemovals(t *testing.T) {
	for name, test := range map[string]struct {
		promise int
		plant   func() *tape
	}{
		"removed, and created again": {0, func() *tape { return away(early) }},
		"claimed before the removal, and started a moment later": {0, func() *tape {
			return away(run{token: 34, from: 3510, cut: 3520, cause: removedCause, to: 3530, unrecorded: true})
		}},
		"claimed before the removal, and started after it; the job is created again at once": {0, func() *tape {
			h := calm(func(item, tick int) bool { return item == 0 && tick == 3 })
			h.run(run{process: "w1", tick: 3, token: 34, from: 3502, cut: 3520, cause: removedCause, to: 3530, unrecorded: true})
			h.at(5, history.Event{Kind: history.Created, Job: "j", Item: -1, Token: 1})
			h.removed(3500, 35)
			h.created(3600, 36)
			return h
		}},
		"a removal that may not have happened": {0, func() *tape {
			h := calm(func(item, tick int) bool { return tick > 3 && (item == 1 || tick > 5) })
			h.at(3800, history.Event{Kind: history.Remove, Job: "j", Item: -1, Call: 3790, Err: "outcome unknown"})
			h.run(run{process: "w2", item: 1, tick: 4, token: 41, from: 4010})
			h.about(4100, history.Kill, "w2")
			h.about(4200, history.Joined, "w3")
			h.events[2].Rules.Failover = false
			return h
		}},
		"begun after the removal": {25, func() *tape {
			h := away(early)
			h.run(run{process: "w1", tick: 4, token: 41, from: 4010, to: 4020})
			return h
		}},
		"run again after the removal": {25, func() *tape {
			h := away(run{token: 34, from: 3400, cut: 3520, cause: removedCause, to: 3530, unrecorded: true})
			h.run(run{process: "w2", tick: 3, token: 36, source: "FAILOVER", from: 3600, to: 3610})
			return h
		}},
		"a run goes on after the removal": {25, func() *tape {
			return away(run{token: 34, from: 3400, cut: 7300, cause: removedCause, to: 7310, unrecorded: true})
		}},
		"a run of a worker that is cut off goes on": {0, func() *tape {
			h := away(run{token: 34, from: 3400, cut: 7300, cause: removedCause, to: 7310, unrecorded: true})
			h.at(3450, history.Event{Kind: history.Fault, Process: "w1", Name: "cut", Item: -1})
			h.at(5450, history.Event{Kind: history.Heal, Process: "w1", Name: "cut", Item: -1})
			return h
		}},
		"expired": {0, func() *tape { return goes(expiring(4, nil)) }},
		"a tick after the last one": {26, func() *tape {
			h := expiring(4, nil)
			h.run(run{process: "w1", item: 0, tick: 5, token: 51, from: 4850, to: 4860})
			return h
		}},
		"one tick too many": {26, func() *tape { return expiring(3, nil) }},
		"ticks that are missing": {3, func() *tape {
			h := expiring(9, nil)
			h.events = without(h, history.Left)
			return h
		}},
		"nothing is due after the last one": {0, func() *tape {
			h := expiring(4, nil)
			h.events = without(h, history.Left)
			return h
		}},
		"gone, and nobody has removed it": {3, func() *tape { return expiring(0, nil) }},
		"gone before its last tick":       {3, func() *tape { return expiring(9, nil) }},
		"removed before its last tick":    {26, func() *tape { return goes(expiring(5, nil)) }},
		"removed before its last tick has run": {26, func() *tape {
			return goes(expiring(4, func(item, tick int) bool { return item == 1 && tick == 4 }))
		}},
		"removed, and its last run was cut short": {26, func() *tape {
			h := expiring(4, func(item, tick int) bool { return item == 1 && tick == 4 })
			h.run(run{process: "w2", item: 1, tick: 4, token: 41, from: 4010, cut: 4200, cause: lost, to: 4210, unrecorded: true})
			return goes(h)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := test.plant()
			history.Sort(h.events)
			violations := history.Check(h.events, limits).Violations
			if test.promise > 0 && !slices.ContainsFunc(violations, func(v history.Violation) bool { return v.Promise == test.promise }) {
				t.Errorf("promise %d is not among %v", test.promise, violations)
			}
			for _, v := range violations {
				if test.promise == 0 {
					t.Error(v)
				}
			}
		})
	}
}
