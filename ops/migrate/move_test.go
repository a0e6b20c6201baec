package migrate_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
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
			want["settle/cursor/0"] = "position: 42\nmoved: 2026-01-31T03:00:01.000Z\n"
			got := tree(t, to)
			for path := range got {
				if strings.HasPrefix(path, "settle/sharding/2/original") && got[path] != "" {
					delete(got, path)
				}
			}
			compare(t, got, want)
			if list, err := ops.New(to).Audit(t.Context(), ops.AuditQuery{}); err != nil || len(list) != 2 || list[0].Action != ops.ActionMigrate {
				t.Errorf("the migration is not the newest of the audit: %+v, %v", list, err)
			}

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

// A job of ElasticJob 3.x whose JVM has died goes as its tree was; one of 2.1 gets a configuration of
// 3.x, and its class as the implementation.
func TestJobsOfElasticJob(t *testing.T) {
	_, a := inMemory(t)
	_, b := inMemory(t)
	from, to := open(t, a), open(t, b)
	const yaml = "cron: 28 14/1 * * * ?\ndescription: ''\ndisabled: false\nfailover: true\njobName: demoJob\njobParameter: ''\nmaxTimeDiffSeconds: -1\nmisfire: true\nmonitorExecution: true\noverwrite: true\nreconcileIntervalMinutes: 10\nshardingItemParameters: 0=Beijing,1=Shanghai,2=Guangzhou\nshardingTotalCount: 3\nstaticSharding: false\n"
	put(t, from, map[string]string{
		"demoJob":                           "Drv$J",
		"demoJob/config":                    yaml,
		"demoJob/instances":                 "",
		"demoJob/leader/failover/items/1":   "",
		"demoJob/leader/sharding/necessary": "",
		"demoJob/leader/election/latch":     "",
		"demoJob/servers/192.0.2.2":         "ENABLED",
		"demoJob/servers/192.0.2.3":         "DISABLED",
		"demoJob/sharding/0/instance":       "192.0.2.2@-@14058",
		"demoJob/sharding/0/running":        "192.0.2.2@-@14058",
		"demoJob/sharding/1/instance":       "192.0.2.2@-@13981",
		"demoJob/sharding/1/misfire":        "",
		"demoJob/sharding/2/instance":       "192.0.2.2@-@14058",
		"demoJob/sharding/2/failovering":    "192.0.2.2@-@14058",
		"demoJob/systemTime/current":        "",
		"old/config":                        `{"jobName":"old","jobClass":"com.example.Old","jobType":"DATAFLOW","streamingProcess":true,"cron":"0/5 * * * * ?","shardingTotalCount":2,"shardingItemParameters":"0=a,1=b","jobParameter":"","failover":true,"misfire":true,"description":"","jobProperties":{"job_exception_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler","executor_service_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"},"monitorExecution":true,"maxTimeDiffSeconds":-1,"monitorPort":-1,"jobShardingStrategyClass":"com.dangdang.ddframe.job.lite.api.strategy.impl.OdevitySortByNameJobShardingStrategy","reconcileIntervalMinutes":10,"disabled":false,"overwrite":false}`,
		"old/servers/192.0.2.2":             "",
		"old/sharding/0/instance":           "192.0.2.2@-@14058",
		"old/sharding/1/disabled":           "",
		"script/config":                     `{"jobName":"script","jobClass":"com.dangdang.ddframe.job.api.script.ScriptJob","jobType":"SCRIPT","scriptCommandLine":"echo","cron":"0/5 * * * * ?","shardingTotalCount":1}`,
		"keepsItsName":                      "com.example.Named",
		"keepsItsName/config":               `{"jobName":"keepsItsName","jobClass":"com.example.Other","jobType":"SIMPLE","cron":"0/5 * * * * ?","shardingTotalCount":1}`,
	})
	before := tree(t, from)
	m := between(from, to)
	m.From.ZooKeeper = true
	plan, err := m.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var converted []string
	for _, j := range plan.Jobs {
		if j.IsConverted {
			converted = append(converted, j.Name)
		}
	}
	if !slices.Equal(converted, []string{"keepsItsName", "old", "script"}) {
		t.Errorf("converted are %v", converted)
	}
	causes := ""
	for _, f := range plan.Findings {
		causes += string(f.Severity) + " " + f.Job + ": " + f.Cause + "\n"
	}
	for _, want := range []string{
		"differs demoJob: JVM programs have run it", "JVM programs cannot follow to this store", "noted demoJob: items whose run was cut short: 2. They are run again",
		`noted old: its configuration is that of elastic-job 2.1: it becomes one of 3.x, with the implementation "com.example.Old"`, "differs : rights (ACLs, roles) do not go",
	} {
		if !strings.Contains(causes, want) {
			t.Errorf("the plan does not say %q:\n%s", want, causes)
		}
	}
	if _, err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := tree(t, to)
	for _, name := range converted {
		path := name + "/config"
		want, err := jobtype.DecodeConfig([]byte(before[path]))
		if err != nil {
			t.Fatal(err)
		}
		if c, err := jobtype.DecodeConfig([]byte(got[path])); err != nil || !c.Equal(want) || strings.Contains(got[path], "jobClass") || strings.HasPrefix(got[path], "{") {
			t.Errorf("%s is %s, %v", path, got[path], err)
		}
		delete(got, path)
	}
	compare(t, got, map[string]string{
		"demoJob":                         "Drv$J",
		"demoJob/config":                  yaml,
		"demoJob/leader/failover/items/0": "",
		"demoJob/leader/failover/items/1": "",
		"demoJob/leader/failover/items/2": "",
		"demoJob/servers/192.0.2.3":       "DISABLED",
		"demoJob/sharding/1/misfire":      "",
		"old":                             "com.example.Old",
		"old/sharding/1/disabled":         "",
		"script":                          "SCRIPT",
		"keepsItsName":                    "com.example.Named",
	})
}
