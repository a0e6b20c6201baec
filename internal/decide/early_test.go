package decide_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func TestEarly(t *testing.T) {
	base := func(f *fixture) {
		f.members("A", "B").leader("A").deal("A", "A", "B")
		for i := range 3 {
			f.put(fmt.Sprintf("sharding/%d/fired", i), "2026-01-05T10:00:05.000Z")
		}
		f.now = tick(2).Add(-time.Second)
	}
	const tick2 = "2026-01-05T10:00:10.000Z"
	begins := func(items ...int) (lines []string) {
		for _, i := range items {
			lines = append(lines, fmt.Sprintf("+ sharding/%d/fired = %s", i, tick2), fmt.Sprintf("+ sharding/%d/running = A", i))
		}
		return lines
	}
	lead := 2 * time.Second
	early := func(p pass) []decide.Change {
		p.Lead = lead
		return p.Fire(p.Early(p.work), p.free)
	}
	for _, r := range []row{
		{name: "its idle items", want: begins(0, 1)},
		{name: "too early", tree: func(f *fixture) { f.now = tick(2).Add(-lead - 1) }},
		{name: "in the first half of the time", tree: func(f *fixture) { f.now, lead = tick(2).Add(-3*time.Second), 4*time.Second }},
		{name: "what has another tick to begin first", tree: func(f *fixture) { f.put("sharding/0/fired", "2026-01-05T10:00:00.000Z") }, want: begins(1)},
		{name: "what has missed one", tree: func(f *fixture) { f.put("sharding/0/misfire", "") }, want: begins(1)},
		{name: "what runs", tree: func(f *fixture) { f.put("sharding/1/running", "B") }, want: begins(0)},
		{name: "what is disabled", tree: func(f *fixture) { f.put("sharding/1/disabled", "") }, want: begins(0)},
		{name: "what is claimed already", tree: func(f *fixture) { f.put("sharding/1/fired", tick2) }, want: begins(0)},
		{name: "what a request waits for", tree: func(f *fixture) { f.submit(jobtree.RequestDocument{Items: []int{1}}) }, want: begins(0)},
		{name: "while its server is disabled", tree: func(f *fixture) { f.put("servers/host-A", "DISABLED") }},
		{name: "without records", rules: unrecorded},
		{name: "while it leaves", tree: func(f *fixture) { f.leaving = true }},
		{name: "while there is one thread", tree: func(f *fixture) { f.free = 1 }, want: begins(0)},
	} {
		lead = 2 * time.Second
		r.run(t, base, early)
	}
}

func TestMayHold(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*fixture)
		want   bool
	}{
		{name: "nothing has changed", want: true},
		{name: "the item is disabled", change: func(f *fixture) { f.put("sharding/0/disabled", "") }},
		{name: "the item is another's", change: func(f *fixture) { f.put("sharding/0/instance", "B") }},
		{name: "the server is disabled", change: func(f *fixture) { f.put("servers/host-A", "DISABLED") }},
		{name: "the schedule is another", change: func(f *fixture) { f.rules.Ticks = nil }},
		{name: "the clock was set back", change: func(f *fixture) { f.now = tick(0) }},
		{name: "its tick has come", change: func(f *fixture) { f.now = tick(2) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t).members("A", "B").leader("A").deal("A", "A", "B")
			f.now = tick(2).Add(-time.Second)
			r := f.claim("A", 0, tick(2))
			if c.change != nil {
				c.change(f)
			}
			if got := f.pass("A").MayKeepEarlyClaim(r); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
