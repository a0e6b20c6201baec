package declare_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/declare"
)

// model is what the namespace has to be like.
type model map[string]modelJob

type modelJob struct{ description, set string }

// Two sets and other operators come and go. Whatever happens, an apply makes of its jobs what its files
// say, touches no other ones, prunes only what its set has, and has nothing to do when it comes again.
func TestSets(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(rt *rapid.T) {
		reg := open(t, inMemory(t))
		o := ops.New(reg)
		ctx := t.Context()
		m := model{}
		name := rapid.SampledFrom(names)
		apply := func(rt *rapid.T) {
			set := rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "set")
			chosen := rapid.SliceOfNDistinct(name, 1, 3, rapid.ID[string]).Draw(rt, "jobs")
			adopt, prune := rapid.Bool().Draw(rt, "adopt"), rapid.Bool().Draw(rt, "prune")
			description := rapid.SampledFrom([]string{"1", "2"}).Draw(rt, "description")
			d := &jobfile.Declarations{}
			for _, n := range slices.Sorted(slices.Values(chosen)) {
				d.Jobs = append(d.Jobs, jobfile.InRegistry(job.Config{Name: n, ShardingTotalCount: 1, Description: description}, "HTTP"))
			}
			request := declare.Request{Set: set, Files: d, Adopt: adopt, Prune: prune}
			isRefused := false
			for _, j := range d.Jobs {
				n := j.Config.Name
				if has, is := m[n]; is && has.set != set && !adopt {
					isRefused = true
				} else {
					m[n] = modelJob{description, set}
				}
			}
			if prune && !isRefused {
				maps.DeleteFunc(m, func(n string, has modelJob) bool { return has.set == set && !slices.Contains(chosen, n) })
			}
			p := plan(t, o, request)
			if (p.Refused() != nil) != isRefused {
				rt.Fatalf("refused: %v", p.Refused())
			}
			for _, r := range p.Apply(ctx, o, nil) {
				if r.Err != nil && !isRefused {
					rt.Fatalf("%s %s: %v", r.Action, r.Name, r.Err)
				}
			}
			if p := plan(t, o, request); !isRefused && p.Changes() {
				rt.Fatalf("again: %s", summary(p))
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"apply": apply,
			"create": func(rt *rapid.T) {
				n := name.Draw(rt, "job")
				err := o.Create(ctx, ops.CreateRequest{Config: job.Config{Name: n, ShardingTotalCount: 1}, Implementation: "HTTP"})
				if _, is := m[n]; is == (err == nil) {
					rt.Fatal(err)
				} else if !is {
					m[n] = modelJob{}
				}
			},
			"remove": func(rt *rapid.T) {
				n := name.Draw(rt, "job")
				if _, is := m[n]; is == (o.Job(n).Remove(ctx, ops.RemoveRequest{}) != nil) {
					rt.Fatal("remove")
				}
				delete(m, n)
			},
			"JVM console removes": func(rt *rapid.T) {
				n := name.Draw(rt, "job")
				if _, err := reg.Commit(ctx, coord.DeleteTree(n)); err != nil {
					rt.Fatal(err)
				}
				delete(m, n)
			},
			"": func(rt *rapid.T) {
				has := model{}
				marks, err := o.Applied(ctx)
				if err != nil {
					rt.Fatal(err)
				}
				for s, err := range o.AllSettings(ctx) {
					if err != nil || s.Err != nil {
						rt.Fatal(err, s.Err)
					}
					one := modelJob{description: s.Config.Description}
					for _, a := range marks {
						if a.Job == s.Job && a.Written >= s.Created {
							one.set = a.Set
						}
					}
					has[s.Job] = one
				}
				if !maps.Equal(has, m) {
					rt.Fatalf("the namespace has %v, want %v", has, m)
				}
			},
		})
	})
}

// What is exported can be applied as it is: elsewhere it makes the same jobs, and here it has nothing to
// do but to take them into its set.
func TestExport(t *testing.T) {
	o, elsewhere := ops.New(open(t, inMemory(t))), ops.New(open(t, inMemory(t)))
	ctx := t.Context()
	apply(t, o, declare.Request{Set: "shop", Files: files(t, twoJobs)})
	for i := range 20 {
		c := job.Config{Name: fmt.Sprint("made-", i), Cron: "0 0 3 * * ?", ShardingTotalCount: 1 + i, JobParameter: "${x} $${y}", Revision: i}
		if err := o.Create(ctx, ops.CreateRequest{Config: c, Implementation: "com.example.Made"}); err != nil {
			t.Fatal(err)
		}
	}
	export := func(o *ops.Ops, names ...string) string {
		t.Helper()
		all, unread, err := declare.Export(ctx, o, names, nil)
		if err != nil || unread != nil {
			t.Fatal(unread, err)
		}
		text, err := all.Write()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text := export(o)
	apply(t, elsewhere, declare.Request{Files: files(t, text)})
	if again := export(elsewhere); again != text {
		t.Errorf("exported again:\n%.500s\nfirst:\n%.500s", again, text)
	}
	for _, s := range plan(t, o, declare.Request{Set: "shop", Files: files(t, text), Adopt: true}).Steps {
		if want := strings.HasPrefix(s.Name, "made-"); s.Action != declare.Unchanged && !want || s.Action != declare.Adopt && want {
			t.Errorf("%s %s: %v", s.Action, s.Name, s.Differences)
		}
	}
	if got, want := export(o, "report", "report"), `calendars:
  holidays: |
    timeZone: UTC
    dates: [12-25]
jobs:
  report:
    type: HTTP
    cron: 0 0 3 * * ? 2090
    timeZone: UTC
    calendars:
    - holidays
    shardingTotalCount: 2
    failover: true
    props:
      http.uri: ${env:URI}
`; got != want {
		t.Errorf("%s", got)
	}
	if _, _, err := declare.Export(ctx, o, []string{"no"}, nil); err == nil || !strings.Contains(err.Error(), "no such job") {
		t.Error(err)
	}
}

// What elastic-job 2.1 and ElasticJob 3.0 have written becomes a file. 2.1 leaves the job's node empty.
func TestExportOfElasticJob(t *testing.T) {
	reg := open(t, inMemory(t))
	for path, value := range map[string]string{
		"old": "", "old/config": `{"jobName":"old","jobClass":"com.example.OldJob","jobType":"DATAFLOW","cron":"0/10 * * * * ?",` +
			`"shardingTotalCount":2,"shardingItemParameters":"0\u003dA,1\u003dB","jobParameter":"p","failover":true,"misfire":false,"description":"",` +
			`"jobProperties":{"job_exception_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler",` +
			`"executor_service_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"},` +
			`"streamingProcess":true,"monitorExecution":true,"maxTimeDiffSeconds":-1,"monitorPort":9888,` +
			`"jobShardingStrategyClass":"com.dangdang.ddframe.job.lite.api.strategy.impl.OdevitySortByNameJobShardingStrategy",` +
			`"reconcileIntervalMinutes":10,"disabled":false,"overwrite":true}`,
		"script": "", "script/config": `{"jobName":"script","jobClass":"com.dangdang.ddframe.job.api.script.ScriptJob","jobType":"SCRIPT",` +
			`"cron":"0 0 3 * * ?","shardingTotalCount":1,"scriptCommandLine":"/opt/report.sh --full","misfire":true}`,
		"newer": "com.example.NewJob", "newer/config": "cron: 0 0 3 * * ?\nfailover: true\njobName: newer\nmisfire: true\nmonitorExecution: true\n" +
			"reconcileIntervalMinutes: 10\nshardingTotalCount: 3\ntimeZone: GMT+08:00\n",
	} {
		if _, err := reg.Commit(t.Context(), coord.Put(path, []byte(value))); err != nil {
			t.Fatal(err)
		}
	}
	all, unread, err := declare.Export(t.Context(), ops.New(reg), nil, nil)
	if err != nil || unread != nil {
		t.Fatal(unread, err)
	}
	text, err := all.Write()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(text), `jobs:
  newer:
    implementation: com.example.NewJob
    cron: 0 0 3 * * ?
    timeZone: GMT+08:00
    shardingTotalCount: 3
    failover: true
  old:
    implementation: com.example.OldJob
    cron: 0/10 * * * * ?
    shardingTotalCount: 2
    shardingItemParameters: 0=A,1=B
    jobParameter: p
    jobShardingStrategyType: ODEVITY
    failover: true
    misfire: false
    props:
      streaming.process: "true"
    overwrite: true
  script:
    type: SCRIPT
    cron: 0 0 3 * * ?
    shardingTotalCount: 1
    props:
      script.command.line: /opt/report.sh --full
`; got != want {
		t.Errorf("%s", got)
	}
	elsewhere := ops.New(open(t, inMemory(t)))
	apply(t, elsewhere, declare.Request{Files: files(t, string(text))})
}

// One job that cannot be read does not keep the others from being exported.
func TestExportOfWhatCannotBeRead(t *testing.T) {
	reg := open(t, inMemory(t))
	o := ops.New(reg)
	apply(t, o, declare.Request{Files: files(t, twoJobs)})
	if _, err := reg.Commit(t.Context(), coord.Put("bad/config", []byte("{")), coord.Put("~elasticjob/calendars/bad", []byte("?"))); err != nil {
		t.Fatal(err)
	}
	all, unread, err := declare.Export(t.Context(), o, nil, nil)
	if err != nil || len(unread) != 2 || len(all.Jobs) != 2 || len(all.Calendars) != 1 {
		t.Errorf("%+v, %v, %v", all, unread, err)
	}
}

// Keys that files do not have are told; those that ElasticJob always writes are none of them.
func TestExportSaysWhatFilesDoNotHave(t *testing.T) {
	for document, want := range map[string]string{
		"jobName: j\nshardingTotalCount: 1\njobExtraConfigurations: []\n":                                                                          "",
		"jobName: j\nshardingTotalCount: 1\njobExtraConfigurations: [{type: RDB}]\n":                                                               `job j: "jobExtraConfigurations": files have no such key`,
		"jobName: j\nshardingTotalCount: 1\nshardingTotal: 3\n":                                                                                    `job j: "shardingTotal": files have no such key`,
		`{"jobName":"j","jobClass":"a.J","shardingTotalCount":1,"jobProperties":{"executor_service_handler":"a.b.DefaultExecutorServiceHandler"}}`: "",
		`{"jobName":"j","jobClass":"a.J","shardingTotalCount":1,"jobProperties":{"executor_service_handler":"a.Pools"}}`:                           `job j: "jobProperties.executor_service_handler": files have no such key`,
	} {
		reg := open(t, inMemory(t))
		if _, err := reg.Commit(t.Context(), coord.Put("j", []byte("a.J")), coord.Put("j/config", []byte(document))); err != nil {
			t.Fatal(err)
		}
		all, lost, err := declare.Export(t.Context(), ops.New(reg), nil, nil)
		if err != nil || len(all.Jobs) != 1 || len(lost) > 1 {
			t.Fatal(all, lost, err)
		}
		got := ""
		for _, why := range lost {
			if got = why.Error(); !errors.Is(why, declare.ErrNoSuchKey) {
				t.Error(why)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", document, got, want)
		}
	}
}
