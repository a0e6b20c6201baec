package migrate_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// What operators have asked for goes, and what the promises about ticks rest on; nothing that
// instances write anew does. The source has a note in the end.
func TestWhatGoes(t *testing.T) {
	for name, stores := range map[string]func(testing.TB) (dial, dial){
		"memory":            func(t testing.TB) (dial, dial) { _, a := inMemory(t); _, b := inMemory(t); return a, b },
		"zookeeper to etcd": func(t testing.TB) (dial, dial) { return onZooKeeper(t), onEtcd(t) },
		"etcd to zookeeper": func(t testing.TB) (dial, dial) { return onEtcd(t), onZooKeeper(t) },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := stores(t)
			from, to := open(t, a), open(t, b)
			goes := map[string]string{
				"settle":                           "billing.Settle",
				"settle/config":                    "cron: 0 0 3 * * ?\ndescription: ours\nfailover: true\njobName: settle\nshardingTotalCount: 3\nunknownKey: stays\nprops:\n  schedule.calendars: holidays\n",
				"settle/schedule":                  "cron: 0 0 3 * * ?\ntimeZone: \"\"\nmisfire: true\nsince: 2026-01-01T00:00:00Z\npaused: 2026-02-01T00:00:00Z\npausedBy: otto\npausedWhy: move\n",
				"settle/servers/10.0.0.2":          "DISABLED",
				"settle/sharding/0/fired":          "2026-01-31T03:00:00.000Z",
				"settle/sharding/0/completed":      "tick: 2026-01-31T03:00:00.000Z\ntoken: 4711\nout: OK\n",
				"settle/sharding/1/disabled":       "",
				"settle/sharding/1/misfire":        "",
				"settle/pins/2":                    "label: gpu\n",
				"settle/requests":                  "7",
				"settle/requests/000000000007-x":   "items: \"0\"\nsource: MANUAL\nat: 2026-01-31T03:00:00.000Z\n",
				"settle/requests/000000000007-x/0": "done: 0\n",
				"settle/guarantee":                 "2026-01-31T03:00:00.000Z",
				"~elasticjob/calendars/holidays":   "days:\n- 2026-12-25\n",
				"~elasticjob/audit/0001":           "at: 2026-01-31T03:00:00.000Z\naction: pause\n",
				"~elasticjob/applied/settle":       "set: prod\n",
				"~elasticjob/removed/gone":         "by: otto\n",
			}
			stays := map[string]string{
				"settle/servers/10.0.0.1":          "ENABLED",
				"settle/sharding/0/instance":       "10.0.0.1@-@1-a",
				"settle/sharding/2/instance":       "10.0.0.1@-@1-a",
				"settle/sharding/2/running":        "10.0.0.1@-@1-a",
				"settle/sharding/2/fired":          "2026-01-31T03:00:00.000Z",
				"settle/cursor/0":                  "position: \"42\"\ntoken: 4711\nnumber: 3\nmoved: 2026-01-31T03:00:01.000Z\n",
				"settle/kill/0":                    "token: 99\n",
				"settle/requests/000000000006-x":   "items: \"0\"\nsource: MANUAL\nat: 2026-01-31T03:00:00.000Z\nended: 2026-01-31T03:00:00.000Z\n",
				"settle/trigger/10.0.0.1@-@1-a":    "",
				"settle/leader/sharding/necessary": "",
				"settle/latch/x":                   "what is this",
				"junk/x":                           "no job",
			}
			put(t, from, goes)
			put(t, from, stays)

			m := between(from, to)
			told := 0
			m.Progress = func(done, total int) { told = total - done }
			plan, err := m.Plan(t.Context())
			if err != nil || len(plan.Refused()) > 0 {
				t.Fatalf("plan %+v, %v", plan, err)
			}
			if n := len(tree(t, to)); n > 0 {
				t.Errorf("the plan has written %d nodes", n)
			}
			result, err := m.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(result.Moved, []string{"settle"}) || told != 0 {
				t.Errorf("result %+v, %d nodes are not told of", result, told)
			}

			want := maps.Clone(goes)
			want["settle/leader/failover/items/2"] = "2026-01-31T03:00:00.000Z" // its run was cut short
			want["settle/sharding/2/fired"] = stays["settle/sharding/2/fired"]
			want["settle/cursor/0"] = "position: \"42\"\ntoken: 0\nnumber: 0\nmoved: \"2026-01-31T03:00:01.000Z\"\n"
			got := tree(t, to)
			for path := range got {
				if strings.HasPrefix(path, "settle/sharding/2/original") && got[path] != "" {
					delete(got, path)
				}
			}
			compare(t, got, want)

			left := tree(t, from)
			if note := left["~elasticjob/removed/settle"]; !strings.Contains(note, "moved to new://ns") || !strings.Contains(note, "revision: 2147483647") {
				t.Errorf("the note says %q", note)
			}
			for path := range left {
				if strings.HasPrefix(path, "settle") || strings.HasPrefix(path, "~elasticjob/migration/") {
					t.Errorf("left at the source: %s", path)
				}
			}
			if again, err := m.Run(t.Context()); err != nil || len(again.Moved) > 0 {
				t.Errorf("moved again: %+v, %v", again, err)
			}
		})
	}
}

func compare(t testing.TB, got, want map[string]string) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if value, ok := want[path]; !ok || value != got[path] {
			if !ok && got[path] == "" {
				continue // a parent, which the store keeps
			}
			t.Errorf("%s is %q, want %q", path, got[path], value)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[path]; !ok {
			t.Errorf("%s is missing", path)
		}
	}
}
