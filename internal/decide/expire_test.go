package decide_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func expires(p pass) []decide.Change { return p.Expire(p.work) }

// goes ends a job with its first tick, and has it removed then.
func goes(r *decide.Rules) { r.ExpiresAt, r.RemoveExpired, r.Revision = tick(1), true, 4 }

// through is a job whose only tick all items have begun.
func through(f *fixture) {
	f.members("A", "B").leader("A").deal("A", "B", "A").configure(goes)
	for i := range f.rules.Total {
		f.fired(i, tick(1))
	}
}

func TestExpire(t *testing.T) {
	for name, tree := range map[string]func(*fixture){
		"nothing more":        func(*fixture) {},
		"its end is long ago": func(f *fixture) { f.now = tick(1).Add(1000 * time.Hour) },
		"no tick has come, and no item was assigned": func(f *fixture) {
			f.now = tick(0)
			f.configure(func(r *decide.Rules) { r.ExpiresAt = begin })
			f.remove("sharding")
		},
		"an item is disabled":      func(f *fixture) { f.put("sharding/1/disabled", "") },
		"an item beyond the total": func(f *fixture) { f.put("sharding/7/fired", "") },
		"an item is pinned, one has a past": func(f *fixture) {
			f.put("pins/1", "label: x").put("sharding/0/completed", "out: OK").put("cursor/2", "x")
		},
		"its other member is leaving":        func(f *fixture) { f.remove("instances/B") },
		"the clock is a little ahead":        func(f *fixture) { f.ahead(time.Second).now = tick(1).Add(2 * time.Second) },
		"a job without ticks, and its end":   func(f *fixture) { f.configure(func(r *decide.Rules) { r.Cron = "" }) },
		"its expression has no further tick": func(f *fixture) { f.configure(onceIn2025); f.fired(0, tick(1)) },
	} {
		t.Run(name, func(t *testing.T) {
			f := given(t)
			through(f)
			tree(f)
			changes := expires(f.pass("A"))
			if len(changes) != 1 {
				t.Fatalf("%d changes, want 1", len(changes))
			}
			f.must(sessionOf("A"), changes[0].Ops...)
			for n := range f.store.Snapshot().All("") {
				if coord.Within(n.Path, "settle") {
					t.Errorf("%s is left", n.Path)
				}
			}
			note, _ := f.store.Snapshot().Get(f.job.Removal())
			if d, err := jobtree.DecodeRemoval(note.Value); err != nil || !d.Expired || d.Revision != f.rules.Revision || d.At.IsZero() {
				t.Errorf("the note says %+v, %v", d, err)
			}
		})
	}
	for name, tree := range map[string]func(*fixture){
		"it is not to be removed":             func(f *fixture) { f.configure(func(r *decide.Rules) { r.RemoveExpired = false }) },
		"a tick is to come":                   func(f *fixture) { f.configure(func(r *decide.Rules) { r.ExpiresAt = tick(2) }) },
		"its expression has further ticks":    func(f *fixture) { f.configure(func(r *decide.Rules) { r.ExpiresAt = time.Time{} }) },
		"its end is not recorded":             func(f *fixture) { f.reconfigure(func(r *decide.Rules) { r.ExpiresAt = tick(1).Add(-1) }) },
		"an item has not begun the last tick": func(f *fixture) { f.fired(1, begin) },
		"an item was never assigned":          func(f *fixture) { f.remove("sharding/1") },
		"… and belongs to nobody":             func(f *fixture) { f.fired(1, begin).remove("sharding/1/instance") },
		"… and is to begin it later": func(f *fixture) {
			f.configure(func(r *decide.Rules) { r.Jitter = 5 * time.Second })
			f.now = tick(1)
			f.fired(1, begin)
		},
		"an item runs":                      func(f *fixture) { f.put("sharding/1/running", "B") },
		"an item was taken over":            func(f *fixture) { f.put("sharding/1/failovering", "B") },
		"an item waits to be run again":     func(f *fixture) { f.put("leader/failover/items/1", "") },
		"an item has missed a tick":         func(f *fixture) { f.put("sharding/1/misfire", "") },
		"a request waits, or is kept":       func(f *fixture) { f.put("requests/000000000001-x", "items: \"1\"\nsource: MANUAL\n") },
		"somebody was triggered":            func(f *fixture) { f.put("trigger/B", "") },
		"a once-listener is told of a tick": func(f *fixture) { f.told(1, nil, 0) },
		"it is paused": func(f *fixture) {
			f.put("schedule", "cron: 0/5 * * * * ?\ntimeZone: UTC\nmisfire: true\nsince: 2026-01-05T10:00:00Z\nexpiresAt: 2026-01-05T10:00:05Z\nuntil: 2026-01-05T10:00:05Z\npaused: 2026-01-05T10:00:05Z\n")
		},
		"a JVM member is there":                 func(f *fixture) { f.create("J", "instances/J", "") },
		"something runs here without a record":  func(f *fixture) { f.work.Runs[1] = &decide.Run{} },
		"the clock is ahead of the store's":     func(f *fixture) { f.now = tick(1).Add(2 * time.Second); f.ahead(3 * time.Second) },
		"the clock is far ahead of the store's": func(f *fixture) { f.now = tick(1).Add(time.Hour); f.ahead(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			f := given(t)
			through(f)
			tree(f)
			if changes := expires(f.pass("A")); len(changes) > 0 {
				t.Errorf("a commit that must not be: %v", changes[0].Ops)
			}
		})
	}
	for _, c := range []conflict{
		{"an item is claimed, and is through", func(f *fixture) { f.fired(1, tick(1)) }},
		{"an item is claimed, and shows only that it runs", func(f *fixture) { f.put("sharding/1/running", "B") }},
		{"an item is to be run again", func(f *fixture) { f.put("leader/failover/items/1", "") }},
		{"somebody asks for something", func(f *fixture) { f.put("requests", "1") }},
		{"it is paused", func(f *fixture) { f.put("schedule", "paused: 2026-01-05T10:00:05Z\n") }},
		{"the configuration is changed", func(f *fixture) { f.put("config", "another") }},
		{"somebody else leads", func(f *fixture) { f.remove("leader/election/instance") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, through, expires)
	}
}

func onceIn2025(r *decide.Rules) { r.Cron, r.ExpiresAt = "0 0 0 1 1 ? 2025", time.Time{} }

// The count of requests goes before the rest. A snapshot may show it without the request that it counts.
func TestExpireAfterRequests(t *testing.T) {
	f := given(t)
	through(f)
	f.put("requests", "5")
	changes := expires(f.pass("A"))
	f.put("requests/000000000005-x", "items: \"1\"\nsource: MANUAL\n")
	if _, err := f.store.Commit(sessionOf("A"), changes[0].Ops...); !errors.Is(err, coord.ErrConflict) {
		t.Errorf("a request waits: got %v", err)
	}
	f.remove("requests/000000000005-x")
	f.must(sessionOf("A"), changes[0].Ops...)
	f.must(sessionOf("A"), expires(f.pass("A"))[0].Ops...)
	for n := range f.store.Snapshot().All("") {
		if coord.Within(n.Path, f.job.Root()) {
			t.Errorf("%s is left", n.Path)
		}
	}
}

// In a broadcast job the items of instances that have ended have nothing to do.
func TestExpireBroadcast(t *testing.T) {
	f := given(t, isBroadcast)
	through(f)
	f.fired(1, begin).remove("sharding/1/instance")
	if changes := expires(f.pass("A")); len(changes) != 1 {
		t.Errorf("%d changes", len(changes))
	}
}

// Many items go in parts that a store takes, the first ones last, and whoever goes on finds less to do.
func TestExpireInParts(t *testing.T) {
	f := given(t, func(r *decide.Rules) { r.Total = 300 })
	f.job = jobtree.Job(strings.Repeat("x", jobtree.MaxNameLength))
	f.configure()
	through(f)
	for i := range 300 {
		f.put(fmt.Sprintf("pins/%d", i), "label: x").put(fmt.Sprintf("cursor/%d", i), "x").fired(i, tick(1))
	}
	commits := 0
	for {
		changes := expires(f.pass("A"))
		for i, c := range changes {
			if err := coord.ValidateCommit(c.Ops...); err != nil {
				t.Fatal(err)
			}
			if i < 5 { // then something comes in between
				f.must(sessionOf("A"), c.Ops...)
				commits++
			}
		}
		if len(changes) == 0 {
			break
		}
		if len(f.pass("A").Instances) > 0 && len(f.pass("A").Items) < 20 {
			t.Errorf("%d items are left", len(f.pass("A").Items))
		}
	}
	for n := range f.store.Snapshot().All("") {
		if coord.Within(n.Path, f.job.Root()) {
			t.Errorf("%s is left", n.Path)
		}
	}
	if commits > 30 {
		t.Errorf("%d commits", commits)
	}
	// What asks for something in between stops it.
	f = given(t, func(r *decide.Rules) { r.Total = 300 })
	through(f)
	changes := expires(f.pass("A"))
	f.must(sessionOf("A"), changes[0].Ops...)
	f.put("requests", "1")
	if _, err := f.store.Commit(sessionOf("A"), changes[1].Ops...); !errors.Is(err, coord.ErrConflict) {
		t.Errorf("got %v", err)
	}
}

// The count of ticks begins when the expression, or the number, is first recorded, and goes on
// otherwise.
func TestRecordEnd(t *testing.T) {
	three := func(r *decide.Rules) { r.ExpiryTicks = 3 }
	for _, tc := range []struct {
		name           string
		before, now    func(*decide.Rules)
		counted, until time.Time
	}{
		{"no end", nil, misfireOff, time.Time{}, time.Time{}},
		{"a time", nil, func(r *decide.Rules) { r.ExpiresAt = tick(7) }, time.Time{}, tick(7)},
		{"a number", nil, three, tick(10), tick(13)},
		{"a number, and an earlier time", nil, func(r *decide.Rules) { three(r); r.ExpiresAt = tick(11) }, tick(10), tick(11)},
		{"a number, and a later time", nil, func(r *decide.Rules) { three(r); r.ExpiresAt = tick(17) }, tick(10), tick(13)},
		{"something else changes", three, misfireOff, tick(1), tick(4)},
		{"a time is added", three, func(r *decide.Rules) { r.ExpiresAt = tick(17) }, tick(1), tick(4)},
		{"another number", three, func(r *decide.Rules) { r.ExpiryTicks = 5 }, tick(10), tick(15)},
		{"another expression", three, func(r *decide.Rules) { r.Cron = "0/10 * * * * ?" }, tick(10), tick(16)},
		{"another zone", three, func(r *decide.Rules) { r.TimeZone = "Asia/Tokyo" }, tick(10), tick(13)},
		{"fewer ticks than the number", nil, func(r *decide.Rules) { r.Cron, r.ExpiryTicks = "0 0 12 5 1 ? 2026", 3 }, tick(10), time.Time{}},
		{"no number any more", three, func(r *decide.Rules) { r.ExpiryTicks = 0 }, time.Time{}, time.Time{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := given(t).members("A").leader("A")
			if tc.before != nil {
				f.now = tick(1)
				f.reconfigure(tc.before)
				f.changes("A", puts(f.pass("A"))...)
			}
			f.now = tick(10)
			f.reconfigure(tc.now)
			f.changes("A", puts(f.pass("A"))...)
			p := f.pass("A")
			if !p.IsScheduleEffective() || !p.Schedule.Counted.Equal(tc.counted) || !p.Schedule.Until.Equal(tc.until) {
				t.Errorf("counted since %s, until %s, in force %t", p.Schedule.Counted, p.Schedule.Until, p.IsScheduleEffective())
			}
		})
	}
}

// every fires each so many seconds.
type every time.Duration

func (e every) Next(t time.Time) time.Time {
	return t.Truncate(time.Duration(e)).Add(time.Duration(e))
}
func (e every) Prev(t time.Time) time.Time { return t.Truncate(time.Duration(e)) }

// Ticks up to an end are those that are not after it.
func TestUpTo(t *testing.T) {
	if decide.UpTo(begin, nil) != nil || decide.UpTo(time.Time{}, every(1)) != decide.Ticks(every(1)) {
		t.Error("no ticks, or no end, become something else")
	}
	rapid.Check(t, func(r *rapid.T) {
		second := func(what string) time.Time {
			return begin.Add(time.Duration(rapid.IntRange(0, 60).Draw(r, what)) * time.Second)
		}
		all := every(rapid.IntRange(1, 10).Draw(r, "each")) * every(time.Second)
		end, at := second("end"), second("at")
		some := decide.UpTo(end, all)
		next := all.Next(at)
		if next.After(end) {
			next = time.Time{}
		}
		prev := all.Prev(at)
		for prev.After(end) {
			prev = all.Prev(prev.Add(-1))
		}
		if !some.Next(at).Equal(next) || !some.Prev(at).Equal(prev) {
			r.Fatalf("at %s: next %s, want %s; prev %s, want %s", at, some.Next(at), next, some.Prev(at), prev)
		}
	})
}
