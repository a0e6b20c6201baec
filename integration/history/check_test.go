package history_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/history"
)

// tape is a history that is written by hand: times are milliseconds, and tick n is at
// n seconds.
type tape struct {
	events []history.Event
}

var epoch = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func (t *tape) at(ms int, e history.Event) *history.Event {
	e.Mono = int64(time.Hour) + int64(ms)*int64(time.Millisecond)
	e.Wall = epoch.Add(time.Duration(ms) * time.Millisecond)
	if e.Call != 0 {
		e.Call = int64(time.Hour) + e.Call*int64(time.Millisecond)
	}
	t.events = append(t.events, e)
	return &t.events[len(t.events)-1]
}

func (t *tape) about(ms int, kind history.Kind, process string) {
	t.at(ms, history.Event{Kind: kind, Process: process, Item: -1, Job: jobOf(kind)})
}

func jobOf(kind history.Kind) string {
	switch kind {
	case history.Joined, history.Left, history.Remove, history.Tamper:
		return "j"
	}
	return ""
}

// run is one execution with its claim and, if it is finished, the commit of that.
type run struct {
	process       string
	instance      string // "i-" and the process, if empty
	item, tick    int
	token         int64
	source        string
	from, to      int // to 0: it never returns
	cut           int
	cause         string
	unrecorded    bool // its end does not reach the registry
	handedOver    bool
	claimUnlogged bool
	request       string
	told          string // the outcome that the registry is told
	fails         bool
	successful    bool // although its context has ended
	leaves        bool // it returns because it was asked to
}

func (t *tape) run(r run) {
	if r.source == "" {
		r.source = "NORMAL_TRIGGER"
	}
	if r.instance == "" {
		r.instance = "i-" + r.process
	}
	task := fmt.Sprintf("%s-%d-%d", r.process, r.item, r.token)
	tick := epoch.Add(time.Duration(r.tick) * time.Second)
	e := history.Event{
		Process: r.process, Job: "j", Item: r.item, Task: task, Tick: tick, Token: r.token, Source: r.source,
		Instance: r.instance,
	}
	if !r.claimUnlogged {
		t.at(r.from-1, history.Event{
			Kind: history.Commit, Process: r.process, Job: "j", Item: -1, Call: int64(r.from - 5), Token: r.token, Instance: r.instance,
			Claims: []history.Claim{{Item: r.item, Tick: tick, Request: r.request}},
		})
	}
	e.Kind = history.Start
	t.at(r.from, e)
	outcome := history.Done
	if r.cut > 0 {
		e.Kind, e.Cause = history.Cut, r.cause
		t.at(r.cut, e)
		outcome = history.Stopped
	}
	switch {
	case r.fails:
		outcome = history.Failed
	case r.successful:
		outcome = history.Done
	case r.leaves:
		outcome = history.Stopped
	}
	if r.to == 0 {
		return
	}
	e.Kind, e.Outcome = history.End, outcome
	t.at(r.to, e)
	if r.unrecorded {
		return
	}
	finish := history.Event{
		Kind: history.Commit, Process: r.process, Job: "j", Item: -1, Call: int64(r.to + 1), Ends: []int{r.item}, Instance: r.instance,
	}
	if r.told != "" {
		finish.Told = []history.Told{{Item: r.item, Token: r.token, Outcome: r.told}}
	}
	if r.handedOver {
		finish.Waits = finish.Ends
	}
	t.at(r.to+5, finish)
}

// calm is a job of two items that run for ten seconds: item 0 on w1, item 1 on w2. Ticks
// for which skip returns true do not run.
func calm(skip func(item, tick int) bool) *tape {
	t := &tape{}
	t.about(0, history.Up, "w1")
	t.about(0, history.Up, "w2")
	t.at(1, history.Event{Kind: history.Configure, Job: "j", Item: -1, Rules: &history.Rules{
		Every: time.Second, Total: 2, Failover: true, Misfire: true,
	}})
	t.about(10, history.Joined, "w1")
	t.about(20, history.Joined, "w2")
	for tick := 1; tick <= 10; tick++ {
		for item, process := range []string{"w1", "w2"} {
			if skip == nil || !skip(item, tick) {
				t.run(run{process: process, item: item, tick: tick, token: int64(10*tick + item), from: tick*1000 + 10, to: tick*1000 + 200})
			}
		}
	}
	t.about(10900, history.Quiet, "")
	return t
}

var limits = history.Limits{Session: 2 * time.Second, Margin: time.Second, Silence: 4 * time.Second}

// says is a fault that the scheduler of a process reports for some time, for ever if to is 0.
func (t *tape) says(process string, from, to int) {
	e := history.Event{Kind: history.Faulty, Process: process, Job: "j", Item: -1, Name: "store", Err: "it is away"}
	t.at(from, e)
	if e.Kind = history.Sound; to > 0 {
		t.at(to, e)
	}
}

// silent is item 1 without a run from tick 3 to tick 9.
func silent() *tape {
	return calm(func(item, tick int) bool { return item == 1 && tick >= 3 && tick < 9 })
}

// Item 1's worker dies in the middle of tick 3, and w1 takes its item over.
func crashed() (t *tape, rerun run) {
	t = calm(func(item, tick int) bool { return item == 1 && tick >= 3 })
	t.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010})
	t.about(3100, history.Kill, "w2")
	for tick := 6; tick <= 10; tick++ {
		t.run(run{process: "w1", item: 1, tick: tick, token: int64(10*tick + 1), from: tick*1000 + 10, to: tick*1000 + 200})
	}
	return t, run{process: "w1", item: 1, tick: 3, token: 50, source: "FAILOVER", from: 5200, to: 5300}
}

const lost = "coord: session lost"

func TestKeptPromises(t *testing.T) {
	for name, plant := range map[string]func() *tape{
		"calm": func() *tape { return calm(nil) },
		"failover": func() *tape {
			h, rerun := crashed()
			h.run(rerun)
			return h
		},
		"a finished run whose end could not be recorded is run again": func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick >= 3 })
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, to: 3090, unrecorded: true})
			h.about(3100, history.Kill, "w2")
			h.run(run{process: "w1", item: 1, tick: 3, token: 50, source: "FAILOVER", from: 5200, to: 5300})
			for tick := 6; tick <= 10; tick++ {
				h.run(run{process: "w1", item: 1, tick: tick, token: int64(10*tick + 1), from: tick*1000 + 10, to: tick*1000 + 200})
			}
			return h
		},
		"a process runs again what it could not record before its session ended, by a claim whose first answer was lost": func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick >= 3 })
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, to: 3090, unrecorded: true})
			h.at(3095, history.Event{Kind: history.Fault, Process: "w2", Name: "cut", Item: -1})
			h.at(4000, history.Event{Kind: history.Heal, Process: "w2", Name: "cut", Item: -1})
			claims := []history.Claim{{Item: 1, Tick: epoch.Add(3 * time.Second)}}
			h.at(5150, history.Event{Kind: history.Commit, Process: "w2", Job: "j", Item: -1, Call: 5100, Instance: "later", Claims: claims, Err: "no answer"})
			h.at(5199, history.Event{Kind: history.Commit, Process: "w2", Job: "j", Item: -1, Call: 5160, Instance: "later", Token: 50, Claims: claims, Ends: []int{1}})
			h.run(run{process: "w2", instance: "later", item: 1, tick: 3, token: 50, source: "FAILOVER", from: 5200, to: 5300, claimUnlogged: true})
			for tick := 6; tick <= 10; tick++ {
				h.run(run{process: "w2", instance: "later", item: 1, tick: tick, token: int64(10*tick + 1), from: tick*1000 + 10, to: tick*1000 + 200})
			}
			return h
		},
		"a claim is given back, the next one's answer is lost with the process, and that is run again": func() *tape {
			h, rerun := crashed()
			h.events = slices.DeleteFunc(h.events, func(e history.Event) bool { return e.Process == "w2" && e.Token == 31 })
			claims := []history.Claim{{Item: 1, Tick: epoch.Add(3 * time.Second)}}
			h.at(2900, history.Event{Kind: history.Commit, Process: "w2", Job: "j", Item: -1, Call: 2890, Instance: "i-w2", Token: 29, Claims: claims})
			h.at(2950, history.Event{Kind: history.Commit, Process: "w2", Job: "j", Item: -1, Call: 2940, Instance: "i-w2", Token: 30, Ends: []int{1}})
			h.at(3090, history.Event{Kind: history.Commit, Process: "w2", Job: "j", Item: -1, Call: 3010, Instance: "i-w2", Claims: claims, Err: "no answer"})
			h.run(rerun)
			return h
		},
		"a failover of a failover": func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick >= 3 })
			h.about(30, history.Joined, "w3")
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010})
			h.about(3100, history.Kill, "w2")
			h.run(run{process: "w3", item: 1, tick: 3, token: 50, source: "FAILOVER", from: 5200})
			h.about(5300, history.Kill, "w3")
			h.run(run{process: "w1", item: 1, tick: 3, token: 75, source: "FAILOVER", from: 7500, to: 7600})
			for tick := 8; tick <= 10; tick++ {
				h.run(run{process: "w1", item: 1, tick: tick, token: int64(10*tick + 1), from: tick*1000 + 10, to: tick*1000 + 200})
			}
			return h
		},
		"a sleeper that wakes": func() *tape {
			h, rerun := crashed()
			h.events = slices.DeleteFunc(h.events, func(e history.Event) bool {
				return e.Kind == history.Kill || e.Process == "w2" && e.Token == 31
			})
			h.about(3100, history.Pause, "w2")
			h.about(5250, history.Resume, "w2")
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, cut: 5270, cause: lost, to: 5280, unrecorded: true})
			h.run(rerun)
			return h
		},
		"a sleeper that goes on, and gets no time yet": func() *tape {
			h, rerun := crashed()
			h.events = slices.DeleteFunc(h.events, func(e history.Event) bool {
				return e.Kind == history.Kill || e.Process == "w2" && e.Token == 31
			})
			h.about(3100, history.Pause, "w2")
			h.about(5250, history.Resume, "w2")
			h.at(7250, history.Event{Kind: history.Stall, Process: "w2", Item: -1, Call: 3110})
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, cut: 7270, cause: lost, to: 7280, unrecorded: true})
			h.run(rerun)
			return h
		},
		"a sleeper that fell asleep before it wrote down what it began": func() *tape {
			h, rerun := crashed()
			h.events = slices.DeleteFunc(h.events, func(e history.Event) bool {
				return e.Kind == history.Kill || e.Process == "w2" && e.Token == 31
			})
			h.about(3010, history.Pause, "w2")
			h.about(5250, history.Resume, "w2")
			h.run(rerun)
			return h
		},
		"a stopped member of the store drops a session that lives when it goes on": func() *tape {
			h, rerun := crashed()
			h.events = slices.DeleteFunc(h.events, func(e history.Event) bool {
				return e.Kind == history.Kill || e.Process == "w2" && e.Token == 31
			})
			h.at(3050, history.Event{Kind: history.Fault, Name: "leader " + history.StoppedMember, Item: -1})
			h.at(5100, history.Event{Kind: history.Heal, Name: "leader " + history.StoppedMember, Item: -1})
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, cut: 5210, cause: lost, to: 5220, unrecorded: true})
			h.run(rerun)
			return h
		},
		"what was cut short in a process is not what it ends as leader": func() *tape {
			h, rerun := crashed()
			h.events = slices.DeleteFunc(h.events, func(e history.Event) bool {
				return e.Kind == history.Kill || e.Process == "w2" && e.Token == 31
			})
			h.at(3050, history.Event{Kind: history.Fault, Name: "leader " + history.StoppedMember, Item: -1})
			h.at(5100, history.Event{Kind: history.Heal, Name: "leader " + history.StoppedMember, Item: -1})
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, cut: 5210, cause: lost, to: 5220, unrecorded: true})
			h.run(rerun)
			h.at(9800, history.Event{
				Kind: history.Commit, Process: "w2", Job: "j", Item: -1, Call: 9790, Ends: []int{1},
				Told: []history.Told{{Item: 1, Token: 95, Outcome: "KILLED"}}, // a claim that nobody has begun
			})
			return h
		},
		"a worker that was cut off": func() *tape {
			h, rerun := crashed()
			h.events = slices.DeleteFunc(h.events, func(e history.Event) bool {
				return e.Kind == history.Kill || e.Process == "w2" && e.Token == 31
			})
			h.at(3100, history.Event{Kind: history.Fault, Process: "w2", Name: "cut", Item: -1})
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, cut: 4900, cause: lost, to: 4910, unrecorded: true})
			h.run(rerun)
			return h
		},
		"an item that runs for longer than its ticks": func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick >= 3 && tick < 9 })
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, to: 8900})
			h.run(run{process: "w2", item: 1, tick: 8, token: 81, source: "MISFIRE", from: 8920, to: 8950})
			return h
		},
		"a machine that is busy": func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick > 4 && tick < 9 })
			h.at(8900, history.Event{Kind: history.Stall, Process: "w2", Item: -1, Call: 5000})
			h.run(run{process: "w2", item: 1, tick: 8, token: 81, source: "MISFIRE", from: 8950, to: 8960})
			return h
		},
		"a machine that stands still until sessions are lost, which the others know a session later": func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick > 4 && tick < 9 })
			h.at(6100, history.Event{Kind: history.Stall, Process: "w2", Item: -1, Call: 5000})
			h.run(run{process: "w1", item: 1, tick: 8, token: 81, source: "MISFIRE", from: 8950, to: 8960})
			return h
		},
		"a store that is slow": func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick > 4 && tick < 9 })
			h.at(8900, history.Event{Kind: history.Slow, Process: "w2", Item: -1, Call: 5000})
			h.run(run{process: "w2", item: 1, tick: 8, token: 81, source: "MISFIRE", from: 8950, to: 8960})
			return h
		},
		"the store is away": func() *tape {
			h := calm(func(item, tick int) bool { return tick >= 3 && tick < 9 })
			h.at(2500, history.Event{Kind: history.Fault, Name: "majority lost", Item: -1})
			h.at(6500, history.Event{Kind: history.Heal, Name: "majority lost", Item: -1})
			h.says("w1", 5000, 6600)
			h.run(run{process: "w1", item: 0, tick: 8, token: 80, source: "MISFIRE", from: 8300, to: 8400})
			h.run(run{process: "w2", item: 1, tick: 8, token: 81, source: "MISFIRE", from: 8300, to: 8400})
			return h
		},
		"a store that was put back: ticks come again, tokens go down, what had begun is run again": func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick > 5 })
			h.at(6500, history.Event{Kind: history.Fault, Name: "put back", Item: -1})
			h.at(7000, history.Event{Kind: history.Restore, Item: -1, Call: 6500})
			h.at(7010, history.Event{Kind: history.Heal, Name: "put back", Item: -1})
			h.run(run{process: "w2", item: 1, tick: 6, token: 61, from: 6010, cut: 6600, cause: lost, to: 6610, unrecorded: true})
			h.run(run{process: "w1", item: 1, tick: 4, token: 13, source: "FAILOVER", from: 7300, to: 7350})
			h.run(run{process: "w1", item: 1, tick: 6, token: 14, source: "MISFIRE", from: 7400, to: 7450})
			for tick := 8; tick <= 10; tick++ {
				h.run(run{process: "w1", item: 1, tick: tick, token: int64(10 + tick), from: tick*1000 + 10, to: tick*1000 + 200})
			}
			return h
		},
		"a record that somebody removed": func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick == 4 })
			h.at(4100, history.Event{Kind: history.Tamper, Job: "j", Item: 1, Name: "running removed"})
			h.run(run{process: "w2", item: 1, tick: 4, token: 41, from: 4010, cut: 4200, cause: "job: item lost", to: 4210, unrecorded: true})
			h.at(4100, history.Event{Kind: history.Fault, Name: "tampered", Item: -1})
			h.run(run{process: "w1", item: 1, tick: 4, token: 45, source: "MISFIRE", from: 4150, to: 4250})
			return h
		},
		"an item that somebody has put up while it ran": func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick == 5 })
			h.at(4100, history.Event{Kind: history.Tamper, Job: "j", Item: 1, Name: history.WaitingItem})
			h.run(run{process: "w2", item: 1, tick: 5, token: 51, from: 5010, to: 5200})
			h.run(run{process: "w1", item: 1, tick: 5, token: 55, source: "FAILOVER", from: 5300, to: 5400})
			return h
		},
		"a silent item, and somebody says why": func() *tape {
			h := silent()
			h.at(2500, history.Event{Kind: history.Fault, Name: "cut", Item: -1})
			h.says("w1", 6000, 0)
			return h
		},
		"a silent item, and nobody is there": func() *tape {
			h := calm(func(item, tick int) bool { return tick >= 3 && tick < 9 })
			h.about(2500, history.Kill, "w1")
			h.about(2500, history.Kill, "w2")
			h.about(8500, history.Joined, "w3")
			h.run(run{process: "w3", item: 0, tick: 8, token: 80, source: "MISFIRE", from: 8600, to: 8700})
			h.run(run{process: "w3", item: 1, tick: 8, token: 81, source: "MISFIRE", from: 8600, to: 8700})
			return h
		},
		"few threads for many items": func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick >= 4 && tick < 8 })
			h.events[2].Rules.Narrow = true
			h.run(run{process: "w1", item: 1, tick: 7, token: 71, source: "MISFIRE", from: 7500, to: 7600})
			return h
		},
		"what is disabled misses nothing": func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick >= 3 && tick < 9 })
			h.at(2500, history.Event{Kind: history.Disable, Job: "j", Item: 1})
			h.at(8500, history.Event{Kind: history.Enable, Job: "j", Item: 1})
			return h
		},
		"a handler that a shutdown cuts short": func() *tape {
			h, rerun := crashed()
			h.events = slices.DeleteFunc(h.events, func(e history.Event) bool {
				return e.Kind == history.Kill || e.Process == "w2" && e.Token == 31
			})
			h.about(3050, history.Leave, "w2")
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, cut: 3100, cause: "job: scheduler shut down", to: 3110, handedOver: true})
			h.run(rerun)
			return h
		},
		"a job that is created again has forgotten what it began": func() *tape {
			h := calm(func(item, tick int) bool { return tick >= 4 })
			h.run(run{process: "w2", item: 1, tick: 4, token: 41, from: 3950, to: 3960})
			h.at(3975, history.Event{Kind: history.Remove, Job: "j", Item: -1, Call: 3970})
			h.run(run{process: "w1", item: 1, tick: 4, token: 45, from: 4010, to: 4020})
			h.at(4035, history.Event{Kind: history.Remove, Job: "j", Item: -1, Call: 4030})
			return h
		},
		"a job that is removed owes nothing": func() *tape {
			h := calm(func(item, tick int) bool { return tick >= 3 })
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, cut: 3100, cause: "job: job removed from the registry", to: 3110, unrecorded: true})
			h.at(3105, history.Event{Kind: history.Remove, Job: "j", Item: -1, Call: 3000})
			return h
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := plant()
			history.Sort(h.events)
			for _, v := range history.Check(h.events, limits).Violations {
				t.Error(v)
			}
			for _, v := range history.CheckExclusion(h.events, time.Minute) {
				t.Error(v)
			}
		})
	}
}

func TestBrokenPromises(t *testing.T) {
	for name, test := range map[string]struct {
		promise int
		events  int // that the violation may show at most
		plant   func() *tape
	}{
		"a tick starts twice": {1, 8, func() *tape {
			h := calm(nil)
			h.run(run{process: "w2", item: 0, tick: 4, token: 45, from: 4300, to: 4400})
			return h
		}},
		"a failover of what nobody had begun": {1, 4, func() *tape {
			h := calm(func(item, tick int) bool { return item == 0 && tick == 4 })
			h.run(run{process: "w2", item: 0, tick: 4, token: 45, source: "FAILOVER", from: 4300, to: 4400})
			return h
		}},
		"a failover of what was given back, and nobody has begun since": {1, 8, func() *tape {
			h := calm(func(item, tick int) bool { return item == 0 && tick == 4 })
			claims := []history.Claim{{Item: 0, Tick: epoch.Add(4 * time.Second)}}
			h.at(3900, history.Event{Kind: history.Commit, Process: "w1", Job: "j", Item: -1, Call: 3890, Instance: "i-w1", Token: 38, Claims: claims})
			h.at(3950, history.Event{Kind: history.Commit, Process: "w1", Job: "j", Item: -1, Call: 3940, Instance: "i-w1", Token: 39, Ends: []int{0}})
			h.run(run{process: "w2", item: 0, tick: 4, token: 45, source: "FAILOVER", from: 4300, to: 4400})
			return h
		}},
		"two executions have a token": {2, 2, func() *tape {
			h := calm(func(item, tick int) bool { return item == 0 && tick == 4 })
			h.run(run{process: "w2", item: 0, tick: 4, token: 30, from: 4300, to: 4400, claimUnlogged: true})
			return h
		}},
		"tokens go down": {2, 8, func() *tape {
			h := calm(func(item, tick int) bool { return item == 0 && tick == 4 })
			h.run(run{process: "w1", item: 0, tick: 4, token: 3, from: 4300, to: 4400})
			return h
		}},
		"two owners": {2, 8, func() *tape {
			h := calm(func(item, tick int) bool { return item == 0 && tick == 4 })
			h.run(run{process: "w2", item: 0, tick: 4, token: 45, from: 3100, to: 3150})
			return h
		}},
		"an old token is taken": {2, 2, func() *tape {
			h := calm(nil)
			h.at(5000, history.Event{Kind: history.Write, Process: "w1", Job: "j", Token: 50, Call: 4990, Accepted: true})
			h.at(5100, history.Event{Kind: history.Write, Process: "w2", Job: "j", Token: 40, Call: 5090, Accepted: true})
			return h
		}},
		"an item is forgotten": {3, 5, func() *tape {
			return calm(func(item, tick int) bool { return item == 1 && tick > 4 })
		}},
		"an item starts late without a reason": {3, 10, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick > 4 && tick < 9 })
			h.run(run{process: "w2", item: 1, tick: 8, token: 81, source: "MISFIRE", from: 8950, to: 8960})
			return h
		}},
		"an item starts late although the machine has stood still for a moment only": {3, 10, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick > 4 && tick < 9 })
			h.at(5900, history.Event{Kind: history.Stall, Process: "w2", Item: -1, Call: 5000})
			h.run(run{process: "w1", item: 1, tick: 8, token: 81, source: "MISFIRE", from: 8950, to: 8960})
			return h
		}},
		"an item starts late because another worker sleeps": {3, 10, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick > 4 && tick < 9 })
			h.about(4900, history.Pause, "w1")
			h.about(5300, history.Resume, "w1")
			h.at(8900, history.Event{Kind: history.Stall, Process: "w1", Item: -1, Call: 5000})
			h.run(run{process: "w2", item: 1, tick: 8, token: 81, source: "MISFIRE", from: 8950, to: 8960})
			return h
		}},
		"an item starts late because another is cut off": {3, 10, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick > 4 && tick < 9 })
			h.at(4900, history.Event{Kind: history.Fault, Process: "w1", Name: "cut", Item: -1})
			h.at(8900, history.Event{Kind: history.Slow, Process: "w1", Item: -1, Call: 5000})
			h.run(run{process: "w2", item: 1, tick: 8, token: 81, source: "MISFIRE", from: 8950, to: 8960})
			return h
		}},
		"an item starts long after the store has healed": {3, 10, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick >= 3 && tick < 9 })
			h.at(2500, history.Event{Kind: history.Fault, Name: "majority lost", Item: -1})
			h.at(4500, history.Event{Kind: history.Heal, Name: "majority lost", Item: -1})
			h.run(run{process: "w2", item: 1, tick: 8, token: 81, source: "MISFIRE", from: 8950, to: 8960})
			return h
		}},
		"a session is lost long after a stopped member of the store goes on": {8, 10, func() *tape {
			h, rerun := crashed()
			h.events = slices.DeleteFunc(h.events, func(e history.Event) bool {
				return e.Kind == history.Kill || e.Process == "w2" && e.Token == 31
			})
			h.at(3050, history.Event{Kind: history.Fault, Name: "leader " + history.StoppedMember, Item: -1})
			h.at(4000, history.Event{Kind: history.Heal, Name: "leader " + history.StoppedMember, Item: -1})
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, cut: 5210, cause: lost, to: 5220, unrecorded: true})
			h.run(rerun)
			return h
		}},
		"a scheduler stops by itself": {3, 1, func() *tape {
			h := calm(nil)
			h.at(5000, history.Event{Kind: history.Left, Process: "w1", Job: "j", Item: -1, Err: "it was tired"})
			return h
		}},
		"a run that was cut short is lost": {4, 5, func() *tape {
			h, _ := crashed()
			return h
		}},
		"a run that was cut short is run twice again": {4, 8, func() *tape {
			h, rerun := crashed()
			h.run(rerun)
			rerun.token, rerun.from, rerun.to = 52, 5500, 5600
			h.run(rerun)
			return h
		}},
		"a run that was cut short is run again late": {4, 8, func() *tape {
			h, rerun := crashed()
			rerun.from, rerun.to, rerun.token = 9800, 9900, 95
			h.run(rerun)
			return h
		}},
		"a finished run is run again after a stop": {5, 8, func() *tape {
			h := calm(nil)
			h.about(4300, history.Leave, "w2")
			h.run(run{process: "w1", item: 1, tick: 4, token: 45, source: "FAILOVER", from: 4500, to: 4600})
			return h
		}},
		"a disabled item runs": {6, 5, func() *tape {
			h := calm(nil)
			h.at(2500, history.Event{Kind: history.Disable, Job: "j", Item: 1})
			return h
		}},
		"a handler is cut short for no reason": {7, 5, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick == 4 })
			h.run(run{process: "w2", item: 1, tick: 4, token: 41, from: 4010, cut: 4100, cause: lost, to: 4110})
			return h
		}},
		"an item starts elsewhere before the context ended": {8, 10, func() *tape {
			h, rerun := crashed()
			h.events = slices.DeleteFunc(h.events, func(e history.Event) bool {
				return e.Kind == history.Kill || e.Process == "w2" && e.Token == 31
			})
			h.at(3100, history.Event{Kind: history.Fault, Process: "w2", Name: "black hole", Item: -1})
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, cut: 5210, cause: lost, to: 5220, unrecorded: true})
			h.run(rerun)
			return h
		}},
		"a sleeper works on": {8, 10, func() *tape {
			h, rerun := crashed()
			h.events = slices.DeleteFunc(h.events, func(e history.Event) bool {
				return e.Kind == history.Kill || e.Process == "w2" && e.Token == 31
			})
			h.about(3100, history.Pause, "w2")
			h.about(5250, history.Resume, "w2")
			h.run(run{process: "w2", item: 1, tick: 3, token: 31, from: 3010, cut: 8270, cause: lost, to: 8280, unrecorded: true})
			h.run(rerun)
			return h
		}},
		"an item is forgotten, and nobody says why": {12, 5, silent},
		"an item is forgotten when the store has healed": {12, 10, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick >= 3 })
			h.at(2500, history.Event{Kind: history.Fault, Name: "majority lost", Item: -1})
			h.at(4500, history.Event{Kind: history.Heal, Name: "majority lost", Item: -1})
			h.says("w1", 4000, 4600)
			return h
		}},
		"an item is forgotten after the store was put back": {12, 10, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick >= 3 })
			h.at(2600, history.Event{Kind: history.Restore, Item: -1, Call: 2500})
			return h
		}},
		"an item is forgotten because it was tampered with": {12, 10, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick >= 3 })
			h.at(2600, history.Event{Kind: history.Tamper, Job: "j", Item: 1})
			return h
		}},
		"an outage is no excuse for saying nothing": {12, 10, func() *tape {
			h := silent()
			h.at(2500, history.Event{Kind: history.Fault, Name: "majority lost", Item: -1})
			return h
		}},
		"whoever says why dies": {12, 10, func() *tape {
			h := calm(func(item, tick int) bool { return tick >= 3 || item == 1 })
			h.says("w1", 1500, 0)
			h.about(2500, history.Kill, "w1")
			h.at(2500, history.Event{Kind: history.Fault, Name: "majority lost", Item: -1})
			return h
		}},
		"it is said too late": {12, 10, func() *tape {
			h := silent()
			h.says("w1", 8000, 0)
			return h
		}},
		"somebody says what is wrong with another job": {12, 10, func() *tape {
			h := silent()
			h.at(3000, history.Event{Kind: history.Faulty, Process: "w1", Job: "j10", Item: -1, Name: "store"})
			return h
		}},
		"an item was claimed and waits for a thread for ever": {12, 10, func() *tape {
			h := silent()
			h.events[2].Rules.Narrow = true
			h.at(3010, history.Event{
				Kind: history.Commit, Process: "w2", Job: "j", Item: -1, Call: 3005, Token: 31,
				Claims: []history.Claim{{Item: 1, Tick: epoch.Add(3 * time.Second)}},
			})
			return h
		}},
		"a clock that was far ahead has taken all ticks": {12, 10, func() *tape {
			h := silent()
			h.run(run{process: "w2", item: 1, tick: 365 * 24 * 3600, token: 31, from: 3010, to: 3020})
			return h
		}},
		"one tick may be skipped without misfire, and not all": {12, 10, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick >= 3 })
			h.events[2].Rules.Misfire = false
			return h
		}},
		"a schedule that begins far ahead": {12, 10, func() *tape {
			h := calm(func(item, tick int) bool { return true })
			h.at(100, history.Event{Kind: history.Scheduled, Job: "j", Item: -1, Tick: epoch.AddDate(1, 0, 0)})
			return h
		}},
		"a tick starts twice long after the store was put back": {1, 8, func() *tape {
			h := calm(nil)
			h.at(2600, history.Event{Kind: history.Restore, Item: -1, Call: 2500})
			h.run(run{process: "w2", item: 0, tick: 4, token: 45, from: 4300, to: 4400})
			return h
		}},
		"two owners after somebody has tampered with another item": {2, 8, func() *tape {
			h := calm(func(item, tick int) bool { return item == 0 && tick == 4 })
			h.at(2600, history.Event{Kind: history.Tamper, Job: "j", Item: 1})
			h.run(run{process: "w2", item: 0, tick: 4, token: 45, from: 3100, to: 3150})
			return h
		}},
		"run again twice after somebody has put it up": {4, 8, func() *tape {
			h := calm(func(item, tick int) bool { return item == 1 && tick == 5 })
			h.at(4100, history.Event{Kind: history.Tamper, Job: "j", Item: 1, Name: history.WaitingItem})
			h.run(run{process: "w2", item: 1, tick: 5, token: 51, from: 5010, to: 5200})
			h.run(run{process: "w1", item: 1, tick: 5, token: 55, source: "FAILOVER", from: 5300, to: 5400})
			h.run(run{process: "w1", item: 1, tick: 5, token: 56, source: "FAILOVER", from: 5500, to: 5600})
			return h
		}},
		"a goroutine is left": {11, 1, func() *tape {
			h := calm(nil)
			h.at(11000, history.Event{Kind: history.Down, Process: "w1", Item: -1, Err: "goroutine 7"})
			return h
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := test.plant()
			history.Sort(h.events)
			violations := history.Check(h.events, limits).Violations
			if len(violations) == 0 {
				t.Fatal("nothing was found")
			}
			for _, v := range violations {
				if v.Promise == test.promise && len(v.Events) <= test.events {
					return
				}
			}
			t.Errorf("promise %d, in %d events at most, is not among:", test.promise, test.events)
			for _, v := range violations {
				t.Error(v)
			}
		})
	}
}

// row is a fetch or a batch of an execution of item 0 that token and process name.
func (t *tape) row(ms int, kind history.Kind, process string, token, row int64) {
	t.at(ms, history.Event{Kind: kind, Process: process, Job: "j", Task: fmt.Sprintf("%s-0-%d", process, token), Token: token, Row: row})
}

// streamed is item 0 as a stream: in each of its executions it processes ten rows, in two batches.
func streamed() *tape {
	h := calm(nil)
	for tick := int64(1); tick <= 10; tick++ {
		for i := range int64(2) {
			at := 10*(tick-1) + 5*i
			h.row(int(tick*1000+20+60*i), history.Fetch, "w1", 10*tick, at)
			h.row(int(tick*1000+50+60*i), history.Batch, "w1", 10*tick, at+5)
		}
	}
	return h
}

// What happens to a stream, and which of it breaks the promise.
func TestStreams(t *testing.T) {
	for name, test := range map[string]struct {
		plant func(*tape)
		what  string
	}{
		"calm": {plant: func(*tape) {}},
		"a batch whose cursor was not moved comes again": {plant: func(h *tape) {
			h.row(10150, history.Fetch, "w1", 100, 100)
			h.row(10160, history.Batch, "w1", 100, 105)
			h.run(run{process: "w2", item: 0, tick: 11, token: 110, from: 10300, to: 10400})
			h.row(10310, history.Fetch, "w2", 110, 100)
		}},
		"a stranger who has lost the item processes its batch again": {plant: func(h *tape) {
			h.row(3300, history.Batch, "w1", 30, 35)
		}},
		"a stranger who has lost the item moves the cursor": {func(h *tape) {
			h.row(3310, history.Batch, "w1", 20, 21)
			h.row(3320, history.Fetch, "w1", 20, 21)
		}, "moved the cursor after it had lost the item"},
		"rows are lost": {func(h *tape) { h.row(10150, history.Fetch, "w1", 100, 103) }, "rows that nobody has processed"},
		"the cursor goes back": {func(h *tape) {
			h.run(run{process: "w2", item: 0, tick: 11, token: 110, from: 10300, to: 10400})
			h.row(10310, history.Fetch, "w2", 110, 90)
		}, "the cursor has gone back"},
		"an execution goes back": {func(h *tape) { h.row(10150, history.Fetch, "w1", 100, 95) }, "goes back behind its own batch"},
		"the store was put back": {plant: func(h *tape) {
			h.about(10250, history.Restore, "")
			h.run(run{process: "w2", item: 0, tick: 11, token: 110, from: 10300, to: 10400})
			h.row(10310, history.Fetch, "w2", 110, 50)
		}},
		"the job was removed": {plant: func(h *tape) {
			h.about(10250, history.Remove, "")
			h.run(run{process: "w2", item: 0, tick: 11, token: 110, from: 10300, to: 10400})
			h.row(10310, history.Fetch, "w2", 110, 0)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := streamed()
			test.plant(h)
			history.Sort(h.events)
			var found []string
			for _, v := range history.Check(h.events, limits).Violations {
				if v.Promise == 13 {
					found = append(found, v.String())
				}
			}
			if (len(found) > 0) != (test.what != "") || test.what != "" && !strings.Contains(found[0], test.what) {
				t.Errorf("found %q", found)
			}
		})
	}
}

// Porcupine finds the same violations of exclusion, and shows two executions at most.
func TestExclusion(t *testing.T) {
	for name, plant := range map[string]func(h *tape){
		"two owners": func(h *tape) {
			h.run(run{process: "w2", item: 0, tick: 4, token: 45, from: 4100, to: 4150})
		},
		"tokens go down": func(h *tape) {
			h.run(run{process: "w2", item: 0, tick: 4, token: 3, from: 4300, to: 4350})
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := calm(nil)
			plant(h)
			history.Sort(h.events)
			violations := history.CheckExclusion(h.events, time.Minute)
			if len(violations) != 1 || len(violations[0].Events) > 4 {
				t.Errorf("want one violation in four events at most, got %v", violations)
			}
		})
	}
	h := calm(nil)
	h.at(5000, history.Event{Kind: history.Write, Process: "w1", Job: "j", Token: 50, Call: 4990, Accepted: true})
	h.at(5100, history.Event{Kind: history.Write, Process: "w2", Job: "j", Token: 40, Call: 5090, Accepted: true})
	if violations := history.CheckExclusion(h.events, time.Minute); len(violations) != 1 {
		t.Errorf("want one violation, got %v", violations)
	}
}

func TestFigures(t *testing.T) {
	h, rerun := crashed()
	h.run(rerun)
	h.at(5150, history.Event{Kind: history.Gone, Job: "j", Item: -1, Instance: "i-w2"})
	history.Sort(h.events)
	r := history.Check(h.events, limits)
	if r.Fires != 10 || r.Items != 19 || r.Failovers != 1 || r.Faults != 1 || r.MakeUps != 0 {
		t.Errorf("%+v", r)
	}
	if want := []time.Duration{50 * time.Millisecond}; !slices.Equal(r.TakeOvers, want) {
		t.Errorf("take-overs %v, want %v", r.TakeOvers, want)
	}
}

func TestViolationReads(t *testing.T) {
	h := calm(nil)
	h.run(run{process: "w2", item: 0, tick: 4, token: 45, from: 4300, to: 4400})
	history.Sort(h.events)
	text := history.Check(h.events, limits).Violations[0].String()
	for _, want := range []string{"promise 1: j/0", "+0.000s", "w2", "start", "tick 12:00:04", "token 45", "NORMAL_TRIGGER"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}
