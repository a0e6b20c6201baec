package history_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/history"
)

// hold pauses the job from a time to another one, with the numbers of the commits.
func (t *tape) hold(from, to int, first, last int64, makeUp bool) {
	t.at(from, history.Event{Kind: history.Hold, Job: "j", Item: -1, Call: int64(from - 10), Token: first, Again: makeUp})
	if to > 0 {
		t.at(to, history.Event{Kind: history.Release, Job: "j", Item: -1, Call: int64(to - 10), Token: last})
	}
}

// halted is calm but for a pause from tick 4 to tick 7.
func halted(makeUp bool) *tape {
	h := calm(func(_, tick int) bool { return tick > 3 && tick < 8 })
	h.hold(3500, 7500, 35, 75, makeUp)
	return h
}

// caughtUp has the items made up after halted.
func caughtUp(h *tape) *tape {
	h.run(run{process: "w1", item: 0, tick: 7, token: 77, source: "MISFIRE", from: 7600, to: 7650})
	h.run(run{process: "w2", item: 1, tick: 7, token: 78, source: "MISFIRE", from: 7600, to: 7650})
	return h
}

const killedCause = "job: execution killed"

func (t *tape) kill(ms int, item int, token int64, again bool) {
	t.at(ms, history.Event{Kind: history.Killing, Job: "j", Item: item, Token: token, Again: again, Call: int64(ms - 10)})
}

// shot is calm, and item 1 is killed in tick 3; end is its end.
func shot(again bool, end run) *tape {
	h := calm(func(item, tick int) bool { return item == 1 && tick == 3 })
	h.kill(3100, 1, 31, again)
	end.process, end.item, end.tick, end.token, end.from, end.cause = "w2", 1, 3, 31, 3010, killedCause
	h.run(end)
	return h
}

// allKilled is calm, and an operator kills all after tick 3, without an answer; last is what item 1 did
// then. Its process, in another session, says that it was killed.
func allKilled(last run) *tape {
	h := calm(func(item, tick int) bool { return item == 1 && tick == 3 })
	last.process, last.item, last.tick, last.token = "w2", 1, 3, 31
	h.run(last)
	h.at(3310, history.Event{Kind: history.Killing, Job: "j", Item: -1, Call: 3300, Err: "outcome unknown"})
	h.at(3350, history.Event{
		Kind: history.Commit, Process: "w2", Job: "j", Item: -1, Call: 3340, Ends: []int{1},
		Told: []history.Told{{Item: 1, Token: 31, Outcome: "KILLED"}},
	})
	return h
}

var dead = run{cut: 3120, to: 3130, told: "KILLED"}

func (t *tape) ask(ms int, id string, ticks []int, items ...int) {
	e := history.Event{Kind: history.Asked, Job: "j", Item: -1, Call: int64(ms - 10), Request: id, Items: items}
	for _, tick := range ticks {
		e.Ticks = append(e.Ticks, epoch.Add(time.Duration(tick)*time.Second))
	}
	t.at(ms, e)
}

func (t *tape) answer(ms int, id string, results ...history.Result) {
	t.at(ms, history.Event{Kind: history.Answered, Job: "j", Item: -1, Call: int64(ms - 10), Request: id, Results: results})
}

// requested is calm, and item 1 runs for request r1 after tick 3.
func requested(result history.Result, more ...run) *tape {
	h := calm(nil)
	h.ask(3000, "r1", nil, 1)
	for _, r := range more {
		r.process, r.item, r.request = "w2", 1, "r1"
		h.run(r)
	}
	h.answer(9900, "r1", result)
	return h
}

var served = run{tick: 2, token: 35, source: "MANUAL", from: 3400, to: 3450, told: "OK"}

// filled is calm, and item 1 runs twice for a backfill, after tick 3 and after tick 4.
func filled(first, second run) *tape {
	h := calm(nil)
	h.ask(3000, "r1", []int{-9, -8}, 1)
	for _, r := range []run{first, second} {
		r.process, r.item, r.request, r.source = "w2", 1, "r1", "BACKFILL"
		h.run(r)
	}
	h.answer(9900, "r1", history.Result{Item: 1, Outcome: "OK", Runs: 2})
	return h
}

func (t *tape) pin(ms int, item int, address string) {
	t.at(ms, history.Event{Kind: history.Pin, Job: "j", Item: item, Address: address, Call: int64(ms - 10)})
}

// pinnedTo is calm, and item 1, which runs on w2, is pinned to an address.
func pinnedTo(address string) *tape {
	h := calm(nil)
	h.events[0].Address, h.events[1].Address = "a1", "a2"
	h.pin(1500, 1, address)
	return h
}

// deserted is calm, but w2 does not run item 1 any more, which is pinned to its address.
func deserted(strict, dies bool) *tape {
	h := calm(func(item, tick int) bool { return item == 1 && tick > 3 })
	h.events[0].Address, h.events[1].Address = "a1", "a2"
	h.pin(1500, 1, "a2")
	for i := range h.events {
		if h.events[i].Kind == history.Pin {
			h.events[i].Strict = strict
		}
	}
	if dies {
		h.about(3500, history.Kill, "w2")
	}
	h.says("w1", 5000, 0)
	return h
}

// unheard is a history with a pause, and a tick that was claimed before it without an answer, and begins in it with
// a token. The pause has the number 35.
func unheard(token int64) *tape {
	h := calm(func(item, tick int) bool { return tick > 3 && tick < 8 || tick == 3 && item == 0 })
	h.hold(3500, 7500, 35, 75, false)
	h.at(3450, history.Event{
		Kind: history.Commit, Process: "w1", Job: "j", Item: -1, Call: 3010, Err: "outcome unknown",
		Claims: []history.Claim{{Item: 0, Tick: epoch.Add(3 * time.Second)}},
	})
	h.run(run{process: "w1", item: 0, tick: 3, token: token, from: 3600, to: 3700})
	return h
}

// What an operator does, and which histories break the promises about it. promise is 0 if none
// is broken.
func TestSteered(t *testing.T) {
	for name, test := range map[string]struct {
		promise int
		plant   func() *tape
	}{
		"paused, and skipped": {0, func() *tape { return halted(false) }},
		"paused, and made up": {0, func() *tape { return caughtUp(halted(true)) }},
		"paused, with a tick that was claimed before": {0, func() *tape {
			h := calm(func(item, tick int) bool { return tick > 3 && tick < 8 || tick == 3 && item == 0 })
			h.hold(3500, 7500, 35, 75, false)
			h.run(run{process: "w1", item: 0, tick: 3, token: 34, source: "MISFIRE", from: 3600, to: 3700})
			return h
		}},
		"paused, with a tick that was claimed before, and the answer was lost": {0, func() *tape { return unheard(34) }},
		"paused, with a tick that was claimed before, and once more":           {14, func() *tape { return unheard(36) }},
		"paused, and nobody has a number": {0, func() *tape {
			h := halted(false)
			for i := range h.events {
				if k := h.events[i].Kind; k == history.Hold || k == history.Release {
					h.events[i].Token = 0
				}
			}
			return h
		}},
		"paused, and triggered": {0, func() *tape {
			h := caughtUp(halted(true))
			h.ask(4000, "r1", nil, 1)
			h.run(run{process: "w2", item: 1, tick: 4, token: 45, source: "MANUAL", request: "r1", from: 4400, to: 4450})
			h.answer(5000, "r1", history.Result{Item: 1, Outcome: "OK", Token: 45, Runs: 1})
			return h
		}},
		"a tick begins in a pause": {14, func() *tape {
			h := halted(false)
			h.run(run{process: "w1", item: 0, tick: 5, token: 50, from: 5010, to: 5100})
			return h
		}},
		"a tick begins in a pause that has no number": {14, func() *tape {
			h := calm(func(_, tick int) bool { return tick > 3 && tick < 8 })
			h.hold(3500, 7500, 0, 0, false)
			h.run(run{process: "w1", item: 0, tick: 5, token: 50, from: 5010, to: 5100})
			return h
		}},
		"a pause that has not ended": {0, func() *tape {
			h := calm(func(_, tick int) bool { return tick > 3 })
			h.hold(3500, 0, 35, 0, true)
			return h
		}},
		"a tick begins in a pause without an end": {14, func() *tape { h := calm(nil); h.hold(3500, 0, 35, 0, true); return h }},
		"made up although the pause says not to":  {14, func() *tape { return caughtUp(halted(false)) }},
		"made up twice": {14, func() *tape {
			h := caughtUp(halted(true))
			h.run(run{process: "w1", item: 0, tick: 6, token: 79, source: "MISFIRE", from: 7700, to: 7750})
			return h
		}},
		"not made up": {14, func() *tape {
			h := calm(func(_, tick int) bool { return tick > 3 })
			h.events[2].Rules.Misfire = false // then nothing else would notice
			h.hold(3500, 5500, 35, 55, true)
			return h
		}},

		"killed":                              {0, func() *tape { return shot(false, dead) }},
		"killed, and successful all the same": {0, func() *tape { return shot(false, run{cut: 3120, to: 3130, told: "OK"}.done()) }},
		"killed to be run again": {0, func() *tape {
			end := dead
			end.handedOver = true
			h := shot(true, end)
			h.run(run{process: "w1", item: 1, tick: 3, token: 36, source: "FAILOVER", from: 3300, to: 3400})
			return h
		}},
		"killed, and then to be run again": {0, func() *tape {
			end := dead
			end.handedOver = true
			h := shot(false, end)
			h.kill(3110, 1, 31, true)
			h.run(run{process: "w1", item: 1, tick: 3, token: 36, source: "FAILOVER", from: 3300, to: 3400})
			return h
		}},
		"killed too late": {0, func() *tape { h := calm(nil); h.kill(3300, 1, 31, false); return h }},
		"killed and run again": {15, func() *tape {
			h := shot(false, dead)
			h.run(run{process: "w1", item: 1, tick: 3, token: 36, source: "FAILOVER", from: 3300, to: 3400})
			return h
		}},
		"killed, and made up": {15, func() *tape {
			h := shot(false, dead)
			h.run(run{process: "w2", item: 1, tick: 3, token: 36, source: "MISFIRE", from: 3300, to: 3400})
			return h
		}},
		"a kill that hits another run": {7, func() *tape {
			h := shot(false, dead)
			h.events = without(h, history.Killing)
			h.kill(3100, 1, 21, false)
			return h
		}},
		"a kill that nobody obeys": {15, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick > 2 })
			h.kill(3100, 1, 31, false)
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, to: 9000, told: "OK"})
			return h
		}},
		"all are killed, and one had returned, and could not say so": {0, func() *tape {
			return allKilled(run{from: 3010, to: 3200, unrecorded: true})
		}},
		"said to be killed, and all were killed after its end": {15, func() *tape {
			return allKilled(run{from: 3010, to: 3200, told: "OK"})
		}},
		"said to be killed": {15, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick == 3 })
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, to: 3200, told: "KILLED"})
			return h
		}},
		"said to be successful": {15, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick == 3 })
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, to: 3200, told: "OK", fails: true})
			return h
		}},
		"said to be cut short although it was killed": {15, func() *tape {
			end := dead
			end.told = "CUT"
			return shot(false, end)
		}},

		"a request": {0, func() *tape { return requested(history.Result{Item: 1, Outcome: "OK", Token: 35, Runs: 1}, served) }},
		"a request that fails": {0, func() *tape {
			r := served
			r.fails, r.told = true, "FAILED"
			return requested(history.Result{Item: 1, Outcome: "FAILED", Token: 35, Runs: 1}, r)
		}},
		"a request that is cut short while its runner sleeps": {0, func() *tape {
			r := served
			r.cut, r.told, r.unrecorded, r.successful = 3440, "", true, true
			h := requested(history.Result{Item: 1, Outcome: "CUT", Error: "not tried again"}, r)
			h.events[2].Rules.Failover = false
			h.about(3420, history.Pause, "w2")
			h.about(3430, history.Resume, "w2")
			return h
		}},
		"a request whose runner finishes, and is killed before it can record that": {0, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick > 3 })
			h.events[2].Rules.Failover = false
			h.ask(3000, "r1", nil, 1)
			r := served
			r.process, r.item, r.request, r.told, r.unrecorded = "w2", 1, "r1", "", true
			h.run(r)
			h.about(3460, history.Kill, "w2")
			for tick := 6; tick <= 10; tick++ {
				h.run(run{process: "w1", item: 1, tick: tick, token: int64(10*tick + 1), from: tick*1000 + 10, to: tick*1000 + 200})
			}
			h.answer(9900, "r1", history.Result{Item: 1, Outcome: "CUT", Error: "not tried again"})
			return h
		}},
		"a request whose runner is killed before it can write down that it begins": {0, func() *tape {
			h := requested(history.Result{Item: 1, Outcome: "CUT", Error: "not tried again"})
			h.events[2].Rules.Failover = false
			h.at(3460, history.Event{Kind: history.Kill, Process: "w3", Item: -1})
			return h
		}},
		"cut short, and nothing has begun": {16, func() *tape {
			h := requested(history.Result{Item: 1, Outcome: "CUT", Error: "not tried again"})
			h.events[2].Rules.Failover = false
			return h
		}},
		"cut short, and it was not": {16, func() *tape {
			h := requested(history.Result{Item: 1, Outcome: "CUT", Error: "not tried again", Token: 35}, served)
			h.events[2].Rules.Failover = false
			return h
		}},
		"a request whose job is removed": {0, func() *tape {
			h := calm(nil)
			h.ask(10100, "r1", nil, 1)
			h.at(10500, history.Event{Kind: history.Remove, Job: "j", Item: -1, Call: 10490})
			return h
		}},
		"a request that was cancelled": {0, func() *tape {
			h := requested(history.Result{Item: 1, Outcome: "SKIPPED"})
			h.at(3100, history.Event{Kind: history.Cancel, Job: "j", Item: -1, Request: "r1", Call: 3090})
			return h
		}},
		"a request whose handler makes room for another instance": {0, func() *tape {
			r := served
			r.leaves, r.told = true, "CUT"
			return requested(history.Result{Item: 1, Outcome: "CUT", Error: "the item is to move", Token: 35}, r)
		}},
		"a request that was cancelled, and begins after the store was put back": {0, func() *tape {
			h := requested(history.Result{Item: 1, Outcome: "SKIPPED"}, served)
			h.at(3100, history.Event{Kind: history.Cancel, Job: "j", Item: -1, Request: "r1", Call: 3090})
			h.at(3300, history.Event{Kind: history.Restore, Item: -1, Call: 3200})
			return h
		}},
		"cut short, and nothing says why": {16, func() *tape {
			h := requested(history.Result{Item: 1, Outcome: "CUT"})
			h.events[2].Rules.Failover = false
			h.at(3460, history.Event{Kind: history.Kill, Process: "w3", Item: -1})
			return h
		}},
		"a request that was cancelled, and begins": {16, func() *tape {
			h := requested(history.Result{Item: 1, Outcome: "SKIPPED"}, served)
			h.at(3100, history.Event{Kind: history.Cancel, Job: "j", Item: -1, Request: "r1", Call: 3090})
			return h
		}},
		"a request that was cut short, and runs again for none": {16, func() *tape {
			cut := served
			cut.tick, cut.told = -30, ""
			h := requested(history.Result{Item: 1, Outcome: "SKIPPED"}, cut)
			h.at(3600, history.Event{Kind: history.Cancel, Job: "j", Item: -1, Request: "r1", Call: 3590})
			h.run(run{process: "w1", item: 1, tick: -30, token: 37, source: "FAILOVER", from: 3700, to: 3750})
			return h
		}},
		"a request without an answer": {16, func() *tape {
			h := requested(history.Result{Item: 1, Outcome: "OK", Token: 35, Runs: 1}, served)
			h.events = without(h, history.Answered)
			return h
		}},
		"a request that is lost": {16, func() *tape {
			h := calm(nil)
			h.ask(3000, "r1", nil, 1)
			h.at(4000, history.Event{Kind: history.Answered, Job: "j", Item: -1, Request: "r1", Err: "no such request"})
			return h
		}},
		"an answer about other items":         {16, func() *tape { return requested(history.Result{Item: 0, Outcome: "OK", Token: 35}, served) }},
		"successful, and nothing has run":     {16, func() *tape { return requested(history.Result{Item: 1, Outcome: "OK"}) }},
		"successful by an unknown run":        {16, func() *tape { return requested(history.Result{Item: 1, Outcome: "OK", Token: 36}, served) }},
		"failed, and nothing has":             {16, func() *tape { return requested(history.Result{Item: 1, Outcome: "FAILED", Token: 35}, served) }},
		"killed, and nobody has":              {16, func() *tape { return requested(history.Result{Item: 1, Outcome: "KILLED"}) }},
		"cut short, and the job has failover": {16, func() *tape { return requested(history.Result{Item: 1, Outcome: "CUT", Error: "not tried again"}) }},
		"skipped without a reason":            {16, func() *tape { return requested(history.Result{Item: 1, Outcome: "SKIPPED"}) }},
		"no outcome":                          {16, func() *tape { return requested(history.Result{Item: 1}) }},
		"a later request comes first": {16, func() *tape {
			h := calm(nil)
			h.ask(3000, "r1", nil, 1)
			h.ask(3010, "r2", nil, 1)
			h.run(run{process: "w2", item: 1, tick: 4, token: 45, source: "MANUAL", request: "r2", from: 4400, to: 4450})
			h.run(run{process: "w2", item: 1, tick: 5, token: 55, source: "MANUAL", request: "r1", from: 5400, to: 5450})
			h.answer(9900, "r1", history.Result{Item: 1, Outcome: "OK", Token: 55, Runs: 1})
			h.answer(9900, "r2", history.Result{Item: 1, Outcome: "OK", Token: 45, Runs: 1})
			return h
		}},
		"a request begins twice": {1, func() *tape {
			again := served
			again.token, again.from, again.to = 36, 3500, 3550
			return requested(history.Result{Item: 1, Outcome: "OK", Token: 36, Runs: 1}, served, again)
		}},

		"a backfill": {0, func() *tape {
			return filled(run{tick: -9, token: 35, from: 3400, to: 3450}, run{tick: -8, token: 45, from: 4400, to: 4450})
		}},
		"a retry of a tick": {0, func() *tape {
			h := calm(nil)
			h.ask(3300, "r1", []int{3}, 1)
			h.run(run{process: "w2", item: 1, tick: 3, token: 35, source: "RETRY", request: "r1", from: 3400, to: 3450})
			h.answer(4000, "r1", history.Result{Item: 1, Outcome: "OK", Token: 35, Runs: 1})
			return h
		}},
		"a backfill out of order": {17, func() *tape {
			return filled(run{tick: -8, token: 35, from: 3400, to: 3450}, run{tick: -9, token: 45, from: 4400, to: 4450})
		}},
		"half of a backfill": {16, func() *tape {
			return filled(run{tick: -9, token: 35, from: 3400, to: 3450}, run{tick: -9, token: 45, source: "FAILOVER", from: 4400, to: 4450, fails: true})
		}},
		"a backfill goes before a tick": {17, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick == 7 })
			h.events[2].Rules.Misfire = false
			h.ask(6200, "r1", []int{-9, -8}, 1)
			h.run(run{process: "w2", item: 1, tick: -9, token: 65, source: "BACKFILL", request: "r1", from: 6400, to: 7500})
			h.run(run{process: "w2", item: 1, tick: -8, token: 75, source: "BACKFILL", request: "r1", from: 7510, to: 7600})
			h.answer(9900, "r1", history.Result{Item: 1, Outcome: "OK", Runs: 2})
			return h
		}},

		"overlap is skipped": {0, func() *tape { return overlapping("") }},
		"overlap is made up": {18, func() *tape { return overlapping("MISFIRE") }},

		"pinned to where it runs": {0, func() *tape { return pinnedTo("a2") }},
		"pinned to somebody else": {19, func() *tape { return pinnedTo("a1") }},
		"pinned to nobody":        {0, func() *tape { return pinnedTo("a3") }},
		"pinned to somebody who is cut off": {0, func() *tape {
			h := pinnedTo("a1")
			h.at(1600, history.Event{Kind: history.Fault, Process: "w1", Name: "cut", Item: -1})
			return h
		}},
		"pinned for a moment": {0, func() *tape {
			h := pinnedTo("a1")
			h.at(3000, history.Event{Kind: history.Unpin, Job: "j", Item: 1, Call: 2990})
			return h
		}},
		"strictly pinned to somebody who has died": {0, func() *tape { return deserted(true, true) }},
		"pinned to somebody who has died":          {3, func() *tape { return deserted(false, true) }},
		"strictly pinned to somebody who is there": {3, func() *tape { return deserted(true, false) }},
	} {
		t.Run(name, func(t *testing.T) {
			h := test.plant()
			history.Sort(h.events)
			violations := history.Check(h.events, limits).Violations
			for _, v := range violations {
				if v.Promise == test.promise {
					return
				}
			}
			if test.promise > 0 {
				t.Errorf("promise %d is not among:", test.promise)
			}
			for _, v := range violations {
				t.Error(v)
			}
		})
	}
}

// done is the run as one whose handler was successful although its context had ended.
func (r run) done() run {
	r.successful = true
	return r
}

func without(h *tape, kind history.Kind) []history.Event {
	var list []history.Event
	for _, e := range h.events {
		if e.Kind != kind {
			list = append(list, e)
		}
	}
	return list
}

// overlapping is a job that skips ticks that come while an item runs, as item 1 does from tick 3
// to tick 5. source is why it runs once more after that; "" if it does not.
func overlapping(source string) *tape {
	h := calm(func(item, tick int) bool { return item == 1 && tick >= 3 && tick <= 5 })
	h.events[2].Rules.Skip, h.events[2].Rules.Misfire = true, false
	h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, to: 5500})
	if source != "" {
		h.run(run{process: "w2", item: 1, tick: 5, token: 55, source: source, from: 5510, to: 5600})
	}
	return h
}
