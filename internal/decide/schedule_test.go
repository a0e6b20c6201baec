package decide_test

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

func puts(p pass) []decide.Change { return must(p.RecordSchedule()) }

func hourly(r *decide.Rules) { r.Cron = "0 0 * * * ?" }

func TestPutInForce(t *testing.T) {
	const since = "since: 2026-01-05T10:00:05.1Z"
	base := func(f *fixture) { f.members("A").leader("A") }
	for _, c := range []struct {
		name string
		tree func(*fixture)
		says []string // nil if nothing is to be written
	}{
		{"it is recorded", func(*fixture) {}, nil},
		{"a new job", func(f *fixture) { f.remove("schedule") }, []string{"cron: 0/5 * * * * ?", "timeZone: UTC", "misfire: true", since}},
		{"another cron", func(f *fixture) { f.reconfigure(hourly) }, []string{"cron: 0 0 * * * ?", since}},
		{"another zone", func(f *fixture) { f.reconfigure(func(r *decide.Rules) { r.TimeZone = "Asia/Tokyo" }) }, []string{"timeZone: Asia/Tokyo", since}},
		{"misfire off", func(f *fixture) { f.reconfigure(misfireOff) }, []string{"misfire: false", since}},
		{"records off", func(f *fixture) { f.reconfigure(unrecorded) }, []string{"unmonitored: true", since}},
		{"something else", func(f *fixture) { f.reconfigure(func(r *decide.Rules) { r.Total = 9 }) }, nil},
		{"a record that cannot be read", func(f *fixture) { f.put("schedule", "\t") }, []string{"cron: 0/5 * * * * ?", since}},
		{"the local clock is ahead of the store's", func(f *fixture) { f.reconfigure(hourly); f.ahead(2 * time.Second) }, []string{"since: 2026-01-05T10:00:03.1Z"}},
		{"a record from the future", func(f *fixture) { f.ahead(0).now = begin.Add(-time.Hour); f.ahead(0) }, []string{"since: 2026-01-05T09:00:00Z"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t)
			base(f)
			c.tree(f)
			got := f.changes("A", puts(f.pass("A"))...)
			if len(got) != min(len(c.says), 1) {
				t.Fatalf("got %q", got)
			}
			for _, says := range c.says {
				if !strings.Contains(got[0], says) {
					t.Errorf("got %s, want %s in it", got[0], says)
				}
			}
			if more := puts(f.pass("A")); len(more) > 0 {
				t.Errorf("there is no end to it: %v", more[0].Ops)
			}
			if !f.pass("A").IsScheduleEffective() {
				t.Error("it is not in force")
			}
		})
	}
	changed := func(f *fixture) { base(f); f.reconfigure(hourly) }
	t.Run("under a JVM leader", func(t *testing.T) {
		for _, c := range []struct {
			name string
			tree func(*fixture)
			want int
		}{
			{"by the coordinator", func(*fixture) {}, 1},
			{"not by another one", func(f *fixture) { f.members("B") }, 0},
			{"not if nobody leads", func(f *fixture) { f.remove("leader/election/instance") }, 0},
			{"not under one of ours", func(f *fixture) { f.remove("leader/election/instance").members("B").leader("B") }, 0},
		} {
			f := given(t)
			changed(f)
			underJVM(f)
			c.tree(f)
			if got := f.changes("A", puts(f.pass("A"))...); len(got) != c.want {
				t.Errorf("%s: %d changes, want %d", c.name, len(got), c.want)
			}
		}
		for _, c := range []conflict{
			{"it is changed again", func(f *fixture) { f.reconfigure(hourly) }},
			{"nobody leads by now", func(f *fixture) { f.crash(jvm) }},
			{"it is recorded, and the view is late", func(f *fixture) { f.put("schedule", "cron: 0 0 * * * ?\n") }},
			{"the session ends", func(f *fixture) { f.crash("A") }},
		} {
			c.run(t, func(f *fixture) { changed(f); underJVM(f) }, puts)
		}
	})
	for _, c := range []conflict{
		{"it is changed again", func(f *fixture) { f.reconfigure(func(r *decide.Rules) { r.Cron = "0 0 1 * * ?" }) }},
		{"somebody else leads", func(f *fixture) { f.remove("leader/election/instance") }},
		{"it is recorded, and the view is late", func(f *fixture) { f.put("schedule", "cron: 0 0 * * * ?\n") }},
	} {
		c.run(t, changed, puts)
	}
	first := conflict{"it is recorded for the first time, and the view is late", func(f *fixture) { f.put("schedule", "cron: 0 0 * * * ?\n") }}
	first.run(t, func(f *fixture) { base(f); f.remove("schedule") }, puts)
}
