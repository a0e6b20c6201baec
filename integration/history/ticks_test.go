package history_test

import (
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/history"
)

// tells has a once-listener called; to is when it has returned, 0 if it does not.
func (t *tape) tells(from, to int, name, process string, tick int, again bool, items []int, outcomes ...string) {
	e := history.Event{
		Kind: history.Called, Process: process, Job: "j", Item: -1, Name: name, Tick: epoch.Add(time.Duration(tick) * time.Second),
		Items: items, Again: again, Instance: "i-" + process,
	}
	for n, outcome := range outcomes {
		e.Results = append(e.Results, history.Result{Item: items[n], Outcome: outcome})
	}
	t.at(from, e)
	if e.Kind = history.Returned; to > 0 {
		t.at(to, e)
	}
}

var both = []int{0, 1}

// toldOf is a job of ten ticks, whose once-listener is told of all of them but those for which
// mine returns true.
func toldOf(mine func(tick int) bool, skip func(item, tick int) bool) *tape {
	h := calm(skip)
	h.events[2].Rules.Once = true
	for tick := 1; tick <= 10; tick++ {
		if mine == nil || !mine(tick) {
			h.tells(tick*1000+2, tick*1000+5, "Started", "w1", tick, false, both)
			h.tells(tick*1000+220, tick*1000+230, "Completed", "w1", tick, false, both, "OK", "OK")
		}
	}
	return h
}

func fourth(tick int) bool { return tick == 4 }

// spread has each item run ten times, item 1 on w1 and from a tick on on w2; it starts as much later there.
func spread(later, from int) *tape {
	h := calm(func(item, tick int) bool { return item == 1 })
	h.events[2].Rules.Jitter = time.Second
	for tick := 1; tick <= 10; tick++ {
		r := run{process: "w1", item: 1, tick: tick, token: int64(10*tick + 1), from: tick*1000 + 100, to: tick*1000 + 110}
		if tick >= from {
			r.process, r.from, r.to = "w2", r.from+later, r.to+later
		}
		h.run(r)
	}
	return h
}

// tooEarly has a tick of item 0 begun before the first one, and again after the tenth.
func tooEarly(tick int) *tape {
	h := calm(nil)
	h.run(run{process: "w1", item: 0, tick: tick, token: 5, from: 500, to: 510})
	h.run(run{process: "w2", item: 0, tick: tick, token: 105, from: 10300, to: 10310})
	return h
}

// dated leaves ticks 4 to 6 out, from the commit with a number on, and since a time.
func dated(number int64, since time.Duration, skip func(item, tick int) bool) *tape {
	h := calm(skip)
	out := []history.Window{{From: epoch.Add(4 * time.Second), To: epoch.Add(7 * time.Second)}}
	h.events[2].Rules.Out = out
	h.at(100, history.Event{Kind: history.Scheduled, Job: "j", Item: -1, Tick: epoch, Token: 1})
	h.at(3800, history.Event{Kind: history.Scheduled, Job: "j", Item: -1, Tick: epoch.Add(since), Token: number, Out: out})
	return h
}

// shares is a broadcast job of w1, which has item 0, and of w2, which has item 1.
func shares(skip func(item, tick int) bool) *tape {
	h := calm(skip)
	h.events[2].Rules.Broadcast, h.events[2].Rules.Failover = true, false
	return h
}

// Which histories break the promises about what ticks are, whom they are for, and who is told of
// them. promise is 0 if none is broken.
func TestTicks(t *testing.T) {
	const before, after = 3800 * time.Millisecond, 4001 * time.Millisecond // tick 4
	for name, test := range map[string]struct {
		promise int
		plant   func() *tape
	}{
		"begun 19 s too early, and once more": {0, func() *tape { return tooEarly(20) }},
		"begun 11 s too early, and once more": {1, func() *tape { return tooEarly(12) }},
		"told 19 s too early, and once more": {0, func() *tape {
			h := toldOf(nil, nil)
			h.tells(502, 505, "Started", "w1", 20, false, both)
			h.tells(520, 530, "Completed", "w1", 20, false, both, "SKIPPED", "SKIPPED")
			h.tells(10302, 10305, "Started", "w2", 20, false, both)
			return h
		}},

		"told": {0, func() *tape { return toldOf(nil, nil) }},
		"nobody is told of a tick": {0, func() *tape {
			h := toldOf(fourth, func(_, tick int) bool { return tick == 4 })
			h.events[2].Rules.Misfire = false
			return h
		}},
		"nobody is told of a tick that runs": {20, func() *tape { return toldOf(func(tick int) bool { return tick > 4 }, nil) }},
		"told too late": {20, func() *tape {
			h := toldOf(fourth, nil)
			h.tells(4050, 4060, "Started", "w1", 4, false, both)
			h.tells(4220, 4230, "Completed", "w1", 4, false, both, "OK", "OK")
			return h
		}},
		"a member does not wait": {20, func() *tape {
			h := toldOf(fourth, nil)
			h.tells(4002, 4050, "Started", "w1", 4, false, both)
			h.tells(4220, 4230, "Completed", "w1", 4, false, both, "OK", "OK")
			return h
		}},
		"one that is no member does not wait": {0, func() *tape {
			h := toldOf(fourth, func(item, tick int) bool { return item == 0 && tick == 4 })
			h.run(run{process: "w1", item: 0, tick: 4, token: 45, from: 4080, to: 4090})
			h.tells(4015, 4060, "Started", "w1", 4, false, []int{0})
			h.tells(4220, 4230, "Completed", "w1", 4, false, []int{0}, "OK")
			return h
		}},
		"one that is no member, of a tick that is told of after the next": {0, func() *tape {
			h := toldOf(fourth, func(item, tick int) bool { return item == 1 && tick == 4 })
			h.events[2].Rules.Misfire = false
			h.tells(5006, 5009, "Started", "w1", 4, true, []int{1}) // whoever was to do so has ended
			h.tells(5300, 5310, "Completed", "w1", 4, false, []int{1}, "SKIPPED")
			return h
		}},
		"a member, of a tick that is told of after the next": {20, func() *tape {
			h := toldOf(fourth, func(item, tick int) bool { return item == 1 && tick == 4 })
			h.events[2].Rules.Misfire = false
			h.tells(5006, 5009, "Started", "w1", 4, true, both)
			h.tells(5300, 5310, "Completed", "w1", 4, false, both, "OK", "SKIPPED")
			return h
		}},
		"told twice": {20, func() *tape {
			h := toldOf(nil, nil)
			h.tells(4006, 4008, "Started", "w2", 4, false, both)
			return h
		}},
		"told again for no reason": {20, func() *tape {
			h := toldOf(nil, nil)
			h.tells(4240, 4250, "Completed", "w2", 4, true, both, "OK", "OK")
			return h
		}},
		"told again, because the caller was killed": {0, func() *tape {
			h := toldOf(nil, nil)
			h.tells(10220, 0, "Completed", "w2", 10, false, both, "OK", "OK")
			h.events = slices.DeleteFunc(h.events, func(e history.Event) bool {
				return e.Process == "w1" && e.Name == "Completed" && e.Tick.Equal(epoch.Add(10*time.Second))
			})
			h.about(10225, history.Kill, "w2")
			h.tells(10500, 10510, "Completed", "w1", 10, true, both, "OK", "OK")
			return h
		}},
		"completed too soon": {20, func() *tape {
			h := toldOf(fourth, nil)
			h.tells(4002, 4005, "Started", "w1", 4, false, both)
			h.tells(4150, 4160, "Completed", "w1", 4, false, both, "OK", "OK")
			return h
		}},
		"completed, and never started": {20, func() *tape {
			h := toldOf(fourth, nil)
			h.tells(4220, 4230, "Completed", "w1", 4, false, both, "OK", "OK")
			return h
		}},
		"completed while Started is called": {20, func() *tape {
			h := toldOf(fourth, func(_, tick int) bool { return tick == 4 })
			h.tells(4002, 4300, "Started", "w1", 4, false, both)
			h.tells(4220, 4230, "Completed", "w1", 4, false, both, "SKIPPED", "SKIPPED")
			return h
		}},
		"completed with other members": {20, func() *tape {
			h := toldOf(fourth, nil)
			h.tells(4002, 4005, "Started", "w1", 4, false, both)
			h.tells(4220, 4230, "Completed", "w1", 4, false, []int{0}, "OK")
			return h
		}},
		"never completed": {20, func() *tape {
			h := toldOf(fourth, nil)
			h.tells(4002, 4005, "Started", "w1", 4, false, both)
			return h
		}},
		"skipped, and it has run":     {20, func() *tape { return ending("SKIPPED", nil) }},
		"cut short, and not":          {20, func() *tape { return ending("CUT", nil) }},
		"killed by nobody":            {20, func() *tape { return ending("KILLED", nil) }},
		"failed, and it has not":      {20, func() *tape { return ending("FAILED", nil) }},
		"successful, and has not run": {20, func() *tape { return ending("OK", func(item, tick int) bool { return item == 1 && tick == 4 }) }},
		"an item has no outcome":      {20, func() *tape { return ending("", nil) }},

		"everybody has his share": {0, func() *tape { return shares(nil) }},
		"an item without an owner": {0, func() *tape {
			h := shares(nil)
			h.events[2].Rules.Total = 5
			return h
		}},
		"a share is missing": {21, func() *tape { return shares(func(item, tick int) bool { return item == 1 && tick > 5 }) }},
		"a share of somebody who was killed": {0, func() *tape {
			h := shares(func(item, tick int) bool { return item == 1 && tick > 5 })
			h.about(5500, history.Kill, "w2")
			return h
		}},
		"two shares": {21, func() *tape {
			h := shares(nil)
			h.run(run{process: "w2", item: 2, tick: 4, token: 45, from: 4300, to: 4400})
			return h
		}},
		"a share of before it came": {21, func() *tape {
			h := shares(nil)
			h.about(5500, history.Up, "w3")
			h.run(run{process: "w3", item: 2, tick: 4, token: 57, source: "MISFIRE", from: 5700, to: 5800})
			return h
		}},

		"ticks that are left out":  {0, func() *tape { return dated(35, before, func(_, tick int) bool { return tick > 3 && tick < 7 }) }},
		"a tick that is left out":  {22, func() *tape { return dated(35, before, func(_, tick int) bool { return tick > 4 && tick < 7 }) }},
		"one that had come before": {0, func() *tape { return dated(35, after, func(_, tick int) bool { return tick > 4 && tick < 7 }) }},
		"one that was claimed yet": {0, func() *tape { return dated(45, before, func(_, tick int) bool { return tick > 4 && tick < 7 }) }},
		"a tick that is not left out, and missing": {3, func() *tape {
			return dated(35, before, func(item, tick int) bool { return tick > 3 && tick < 7 || item == 1 && tick > 3 && tick < 10 })
		}},

		"spread":                    {0, func() *tape { return spread(0, 6) }},
		"spread, and a little late": {0, func() *tape { return spread(100, 6) }},
		"spread otherwise":          {23, func() *tape { return spread(400, 6) }},
		"late once it has moved":    {0, func() *tape { return spread(400, 9) }},
		"before its tick":           {23, func() *tape { return spread(-200, 6) }},

		"room enough": {0, func() *tape { return crowd(2) }},
		"no room":     {24, func() *tape { return crowd(1) }},
	} {
		t.Run(name, func(t *testing.T) {
			h := test.plant()
			history.Sort(h.events)
			violations := history.Check(h.events, history.Limits{Session: time.Second, Margin: time.Second, Silence: 4 * time.Second}).Violations
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

// ending has item 1 end in tick 4 with an outcome, by what a once-listener is told.
func ending(outcome string, skip func(item, tick int) bool) *tape {
	h := toldOf(fourth, skip)
	h.tells(4002, 4005, "Started", "w1", 4, false, both)
	outcomes := []string{"OK", outcome}
	if outcome == "" {
		outcomes = outcomes[:1]
	}
	h.tells(4220, 4230, "Completed", "w1", 4, false, both, outcomes...)
	return h
}

// crowd is an instance that may have so many items, and runs two at a time in tick 4.
func crowd(most int) *tape {
	h := calm(func(item, tick int) bool { return item == 1 && tick == 4 })
	h.events[2].Rules.MaxItems = most
	h.run(run{process: "w1", item: 1, tick: 4, token: 41, from: 4010, to: 4200})
	return h
}
