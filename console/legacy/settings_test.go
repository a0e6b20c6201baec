package legacy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

func configs() *rapid.Generator[job.Config] {
	text := rapid.StringMatching(`[a-zA-Zäß 日=,:'"<>&#{}\[\]-]{0,20}`)
	return rapid.Custom(func(t *rapid.T) job.Config {
		c := job.Config{
			Name: "settle", ShardingTotalCount: rapid.IntRange(1, 9).Draw(t, "total"),
			JobParameter: text.Draw(t, "parameter"), Description: text.Draw(t, "description"),
			ShardingItemParameters: rapid.SampledFrom([]string{"", "0=a,1=b", "0=yes"}).Draw(t, "parameters"),
			MonitorExecution:       jobtype.ToggleOf(rapid.Bool().Draw(t, "monitor")), Misfire: jobtype.ToggleOf(rapid.Bool().Draw(t, "misfire")),
			MaxTimeDiff:       time.Duration(rapid.IntRange(-1, 90).Draw(t, "diff")) * time.Second,
			ReconcileInterval: time.Duration(rapid.IntRange(-1, 20).Draw(t, "reconcile")) * time.Minute,
			Strategy:          rapid.SampledFrom([]string{"", "AVG_ALLOCATION", "ODEVITY", "ROUND_ROBIN", "STICKY", "com.example.Mine"}).Draw(t, "strategy"),
			ErrorHandler:      rapid.SampledFrom([]string{"", "LOG", "IGNORE", "LOG,MAIL"}).Draw(t, "handler"),
			Threads:           rapid.IntRange(0, 3).Draw(t, "threads"),
			Timeout:           time.Duration(rapid.IntRange(0, 9).Draw(t, "timeout")) * time.Second,
			Retry:             job.Retry{Attempts: rapid.IntRange(0, 3).Draw(t, "attempts")},
			Label:             rapid.SampledFrom([]string{"", "gpu", "null", "yes"}).Draw(t, "label"),
			Listeners:         rapid.SampledFrom([][]string{nil, {"a", "b"}}).Draw(t, "listeners"),
			Disabled:          rapid.Bool().Draw(t, "disabled"), Overwrite: rapid.Bool().Draw(t, "overwrite"), StaticSharding: rapid.Bool().Draw(t, "static"),
			Props: rapid.MapOf(rapid.SampledFrom([]string{"script.command.line", "streaming.process", "x", "1", "null"}), rapid.OneOf(text, rapid.SampledFrom([]string{"true", "7"}))).Draw(t, "props"),
		}
		for _, name := range []string{"email.password", "script.command.line"} {
			if rapid.Bool().Draw(t, name) {
				c.Props[name] = rapid.SampledFrom([]string{"curl http://a:hunter2@b/", "true && wget 'https://robot?token=hunter2'"}).Draw(t, "a secret")
			}
		}
		c.Failover = c.MonitorExecution == job.On && rapid.Bool().Draw(t, "failover")
		if rapid.Bool().Draw(t, "scheduled") {
			c.Cron, c.TimeZone = "0 0 3 * * ?", rapid.SampledFrom([]string{"", "GMT+08:00", "Asia/Shanghai"}).Draw(t, "zone")
		}
		return c
	})
}

// fits reports whether all that was drawn goes together.
func fits(c job.Config) bool {
	_, err := c.Encode(nil)
	return err == nil
}

// What was read can be written back, in both ways: nothing of the document changes.
func TestWhatWasReadChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := configs().Filter(fits).Draw(t, "config")
		document, err := config.Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "a stranger's key") {
			document = append(document, "jobExtraConfigurations:\n- !!org.example.Tracing\n  password: hunter2\n"...)
		}
		stored, err := jobtype.DecodeConfig(document)
		if err != nil {
			t.Fatal(err)
		}
		want, err := stored.Encode(document)
		if err != nil {
			t.Fatal(err)
		}
		s := ops.Settings{Job: "settle", Config: stored, Document: document, Implementation: "com.example.Settle"}
		for _, d := range []dialect{console, ui} {
			c, err := settingsOf(s)
			if err != nil {
				t.Fatal(err)
			}
			var answer any = c
			put := c.put
			if d == console {
				old, err := oldSettingsOf(c, s)
				if err != nil {
					t.Fatal(err)
				}
				answer, put = old, func(body json.RawMessage) error { return old.put(body, c) }
			}
			text, err := d.marshal(answer)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "hunter2") {
				t.Fatalf("a secret in %s", text)
			}
			if err := put(text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			next, err := c.config()
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			again, err := next.Encode(document)
			if err != nil || string(again) != string(want) {
				t.Fatalf("dialect %d: %s, %v, by %s; want %s", d, again, err, text, want)
			}
		}
	})
}

// A document that 2.1.5 has written is told as it stands there, and a change makes one of 3.x of it.
func TestDocumentOfElasticJob2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := bare21(t, `{"jobName":"old","jobClass":"com.example.Old","jobType":"DATAFLOW","cron":"0/5 * * * * ?","shardingTotalCount":2,"shardingItemParameters":"0=a","jobParameter":"","failover":true,"misfire":true,"description":"","jobProperties":{"job_exception_handler":"com.example.Handler","executor_service_handler":"com.example.Threads"},"streamingProcess":true,"monitorExecution":true,"maxTimeDiffSeconds":-1,"monitorPort":9888,"jobShardingStrategyClass":"com.dangdang.ddframe.job.lite.api.strategy.impl.AverageAllocationJobShardingStrategy","reconcileIntervalMinutes":10,"disabled":true,"overwrite":false}`)
		w.ask("root", "POST", "/api/registry-center/connect", `{"name":"prod"}`)
		const is = `{"jobName":"old","jobType":"DATAFLOW","jobClass":"com.example.Old","cron":"0/5 * * * * ?","shardingTotalCount":2,"shardingItemParameters":"0\u003da","jobParameter":"","monitorExecution":true,"streamingProcess":true,"maxTimeDiffSeconds":-1,"monitorPort":9888,"failover":true,"misfire":true,"jobShardingStrategyClass":"com.dangdang.ddframe.job.lite.api.strategy.impl.AverageAllocationJobShardingStrategy","description":"","jobProperties":{"executor_service_handler":"com.example.Threads","job_exception_handler":"com.example.Handler"},"reconcileIntervalMinutes":10}`
		if got := w.ask("root", "GET", "/api/jobs/config/old", ""); got != "200 "+is {
			t.Errorf("got %s\nwant %s", got, is)
		}
		if got := w.ask("root", "PUT", "/api/jobs/config", strings.Replace(is, `"failover":true`, `"failover":false,"jobShardingStrategyClass":""`, 1)); got != "204" {
			t.Error(got)
		}
		s, err := w.prod.Job("old").Settings(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// What 2.1.5 has no field for stays; so does the handler of errors, whose class is its name here.
		if c := s.Config; c.Failover || !c.Disabled || c.ErrorHandler != "com.example.Handler" || c.Props[propStreaming] != "true" || c.Strategy != "AVG_ALLOCATION" {
			t.Errorf("%s", s.Document)
		}
	})
}

// While members of elastic-job 2.1 live their document stays: they would run nothing by another one.
func TestDocumentOfElasticJob2WhileItsMembersLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const is = `{"jobName":"old","jobClass":"com.example.Old","jobType":"SIMPLE","cron":"0/5 * * * * ?","shardingTotalCount":2,"monitorExecution":true,"monitorPort":-1}`
		w := bare21(t, is)
		jvm := w.dial("prod")
		if _, err := jvm.Commit(t.Context(), coord.CreateEphemeral("old/instances/10.0.0.5@-@1", nil)); err != nil {
			t.Fatal(err)
		}
		w.ask("root", "POST", "/api/registry-center/connect", `{"name":"prod"}`)
		const body = `{"jobName":"old","cron":"0/10 * * * * ?"}`
		if got := w.ask("root", "PUT", "/api/jobs/config", body); !strings.HasPrefix(got, "409 ") || !strings.Contains(got, "10.0.0.5@-@1") {
			t.Error(got)
		}
		s, err := w.prod.Job("old").Settings(t.Context())
		if err != nil || string(s.Document) != is {
			t.Errorf("%s, %v", s.Document, err)
		}
	})
}

// A change is refused if somebody was faster since the settings were read.
func TestSettingsThatHaveChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := bare21(t, "cron: 0/5 * * * * ?\njobName: old\nshardingTotalCount: 1\n")
		others := ops.New(w.dial("prod"))
		w.between = func([]coord.Op) error {
			w.between = nil
			s, err := others.Job("old").Settings(t.Context())
			if err != nil {
				return err
			}
			s.Config.JobParameter = "theirs"
			return others.Job("old").Update(t.Context(), ops.UpdateRequest{Config: s.Config, Version: s.Version})
		}
		w.ask("root", "POST", "/api/registry-center/connect", `{"name":"prod"}`)
		if got := w.ask("root", "PUT", "/api/jobs/config", `{"jobName":"old","jobParameter":"mine"}`); !strings.HasPrefix(got, "409 ") || !strings.Contains(got, "changed") {
			t.Error(got)
		}
	})
}

// What fails in some jobs of a server is done in the others, and the error names those.
func TestServerInSomeJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := bare21(t, "cron: 0/5 * * * * ?\njobName: old\nshardingTotalCount: 1\n")
		nodes := []coord.Op{coord.Put("old/servers/10.0.0.1", []byte("ENABLED"))}
		for _, name := range []string{"new", "other"} {
			document := fmt.Sprintf("cron: 0/5 * * * * ?\njobName: %s\nshardingTotalCount: 1\n", name)
			nodes = append(nodes, coord.Put(name, nil), coord.Put(name+"/config", []byte(document)), coord.Put(name+"/servers/10.0.0.1", []byte("ENABLED")))
		}
		if _, err := w.dial("prod").Commit(t.Context(), nodes...); err != nil {
			t.Fatal(err)
		}
		w.between = func(ops []coord.Op) error {
			if slices.ContainsFunc(ops, func(op coord.Op) bool { return strings.HasPrefix(op.Path, "old/") }) {
				return coord.ErrUnavailable
			}
			return nil
		}
		w.ask("root", "POST", "/api/registry-center/connect", `{"name":"prod"}`)
		if got := w.ask("root", "POST", "/api/servers/10.0.0.1/disable", ""); !strings.HasPrefix(got, `503 (text) jobs "old": `) {
			t.Error(got)
		}
		w.between = nil
		if got, want := w.ask("root", "GET", "/api/servers", ""), `"jobNames":["new","old","other"],"instancesNum":0,"jobsNum":3,"disabledJobsNum":2}]`; !strings.HasSuffix(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// betweenCommits is a registry whose commits somebody interferes with.
type betweenCommits struct {
	coord.Registry
	w *world
}

func (r betweenCommits) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	if r.w.between != nil {
		if err := r.w.between(ops); err != nil {
			return 0, err
		}
	}
	return r.Registry.Commit(ctx, ops...)
}

// bare21 is a world of one job without a process, whose configuration is a document.
func bare21(t *testing.T, document string) *world {
	t.Helper()
	w := &world{t: t, store: memory.NewStore(memory.Options{})}
	t.Cleanup(w.store.Close)
	reg := w.dial("prod")
	if _, err := reg.Commit(t.Context(), coord.Put("old", nil), coord.Create("old/config", []byte(document))); err != nil {
		t.Fatal(err)
	}
	w.prod = ops.New(betweenCommits{reg, w})
	w.open(t, ops.New(w.dial("test")), nil)
	return w
}
