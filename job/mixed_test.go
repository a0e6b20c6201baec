package job_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// What JVM members do otherwise is named by field; "!" is that they refuse it, "~" that it does no
// harm while both kinds are there.
func TestMixed(t *testing.T) {
	base := job.Config{Name: "settle", Cron: "0 * * * * ?", ShardingTotalCount: 3, ShardingItemParameters: "0=a,1=b", Failover: true, Misfire: job.Off}
	for _, tc := range []struct {
		name   string
		change func(*job.Config)
		want   string
	}{
		{"nothing", func(*job.Config) {}, ""},
		{"what ElasticJob has", func(c *job.Config) {
			c.TimeZone, c.Strategy, c.ErrorHandler, c.Threads, c.Disabled, c.Overwrite = "GMT+08:00", "ODEVITY", "WECHAT", 1, true, true
			c.ReconcileInterval, c.Revision, c.JobParameter, c.Props = -1, 7, "p", map[string]string{"streaming.process": "true"}
		}, ""},
		{"a one-off job", func(c *job.Config) { c.Cron = "" }, ""},
		{"round robin", func(c *job.Config) { c.Strategy = "ROUND_ROBIN" }, ""},
		{"a cron of ours", func(c *job.Config) { c.Cron = "@every 1m30s" }, "cron!"},
		{"a list with L", func(c *job.Config) { c.Cron = "0 0 0 1,L * ?" }, "cron!"},
		{"a list with W", func(c *job.Config) { c.Cron = "0 0 0 1,15W * ?" }, "cron"},
		{"more crons", func(c *job.Config) { c.MoreCrons = []string{"30 * * * * ?"} }, "props: cron.more"},
		{"calendars", func(c *job.Config) { c.Calendars = []string{"holidays"} }, "props: schedule.calendars"},
		{"a zone", func(c *job.Config) { c.TimeZone = "Asia/Shanghai" }, "timeZone!"},
		{"UTC", func(c *job.Config) { c.TimeZone = "UTC" }, "timeZone!"},
		{"jitter", func(c *job.Config) { c.Jitter = time.Second }, "props: schedule.jitter.milliseconds~"},
		{"overlap", func(c *job.Config) { c.Overlap = job.OverlapSkip }, "props: overlap"},
		{"an end", func(c *job.Config) { c.Expiry.At = time.Unix(4e9, 0) }, "props: expiry.at"},
		{"an end by ticks", func(c *job.Config) { c.Expiry.Ticks = 3 }, "props: expiry.ticks"},
		{"a removal", func(c *job.Config) { c.Expiry.Remove = true }, "props: expiry.remove"},
		{"a window", func(c *job.Config) { c.MisfireWindow = time.Minute }, "props: misfire.window.seconds"},
		{"a tolerance", func(c *job.Config) { c.MisfireTolerance = time.Minute }, "props: misfire.tolerance.milliseconds~"},
		{"parameters with escapes", func(c *job.Config) { c.ShardingItemParameters = `0=a\,b` }, "shardingItemParameters!"},
		{"an empty parameter", func(c *job.Config) { c.ShardingItemParameters = "0=a,1=" }, "shardingItemParameters!"},
		{"a backslash", func(c *job.Config) { c.ShardingItemParameters = `0=a\\,1=b` }, "shardingItemParameters"},
		{"a harmless backslash", func(c *job.Config) { c.ShardingItemParameters = `0=c:\dir,1=b` }, ""},
		{"spaces and a comma at the end", func(c *job.Config) { c.ShardingItemParameters = " 0 = a , 1 = b," }, ""},
		{"sticky", func(c *job.Config) { c.Strategy = "STICKY" }, "jobShardingStrategyType!"},
		{"weighted", func(c *job.Config) { c.Strategy = "WEIGHTED" }, "jobShardingStrategyType!"},
		{"one of a program", func(c *job.Config) { c.Strategy = "mine" }, "jobShardingStrategyType!"},
		{"balance", func(c *job.Config) { c.Strategy = "SINGLE_SHARDING_BALANCE" }, "jobShardingStrategyType!"},
		{"a bound of items", func(c *job.Config) { c.MaxItems = 2 }, "props: sharding.items.max"},
		{"static", func(c *job.Config) { c.StaticSharding = true }, "staticSharding"},
		{"broadcast", func(c *job.Config) { c.Broadcast = true }, "props: broadcast"},
		{"a label", func(c *job.Config) { c.Label = "gpu" }, "label"},
		{"a clock", func(c *job.Config) { c.MaxTimeDiff = time.Minute }, "maxTimeDiffSeconds~"},
		{"threads", func(c *job.Config) { c.Threads = 5 }, "props: executor.threads~"},
		{"several handlers", func(c *job.Config) { c.ErrorHandler = "LOG,WECHAT" }, "jobErrorHandlerType!"},
		{"a webhook", func(c *job.Config) { c.ErrorHandler = "WEBHOOK" }, "jobErrorHandlerType!"},
		{"listeners", func(c *job.Config) { c.Listeners = []string{"a", "b"} }, "jobListenerTypes!~"},
		{"a reference", func(c *job.Config) {
			c.Props = map[string]string{"email.password": "${env:MAIL_PASSWORD}", "script.command.line": "echo ${HOME}"}
		}, "props"},
		{"a bound of time", func(c *job.Config) { c.Timeout = time.Minute }, "props: execution.timeout.seconds"},
		{"retries", func(c *job.Config) { c.Retry.Attempts = 2 }, "props: retry.attempts"},
		{"several", func(c *job.Config) { c.TimeZone, c.Label, c.Timeout = "UTC", "gpu", time.Minute }, "timeZone! label props: execution.timeout.seconds"},
	} {
		c := base
		tc.change(&c)
		var got []string
		for _, i := range c.Mixed() {
			if i.Does == "" || i.Advice == "" {
				t.Errorf("%s: %+v", tc.name, i)
			}
			got = append(got, brand(i))
		}
		if text := strings.Join(got, " "); text != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, text, tc.want)
		}
	}
}

// brand is an issue in short.
func brand(i job.MixedIssue) string {
	text := i.Field
	if i.Refused {
		text += "!"
	}
	if i.Harm == "" {
		text += "~"
	}
	return text
}

// A field that only Go members have, and that is set, is an issue, or is listed here with why it is none.
func TestMixedKnowsEveryAddition(t *testing.T) {
	none := map[string]string{
		"props: revision": "it is about how a program brings its configuration",
		"props: retry.backoff.initial.milliseconds": "there are no retries to wait for",
		"props: retry.backoff.max.milliseconds":     "there are no retries to wait for",
	}
	full := job.Config{
		Name: "settle", Cron: "0 * * * * ?", ShardingTotalCount: 3, MoreCrons: []string{"30 * * * * ?"}, Calendars: []string{"c"}, Overlap: job.OverlapSkip,
		Jitter: time.Second, Expiry: job.Expiry{At: time.Unix(4e9, 0), Ticks: 3, Remove: true}, MisfireTolerance: time.Minute, MisfireWindow: time.Minute,
		Timeout: time.Minute, Retry: job.Retry{Attempts: 1, InitialBackoff: 2 * time.Second, MaxBackoff: time.Hour}, MaxItems: 1, Broadcast: true, Threads: 7, Revision: 3,
	}
	var issues []string
	for _, i := range full.Mixed() {
		issues = append(issues, i.Field)
	}
	issues = append(issues, "props: expiry.ticks", "props: expiry.remove") // one end is one issue
	fields := 0
	for _, d := range (job.Config{Name: "settle", Cron: "0 * * * * ?", ShardingTotalCount: 3}).Differences(full) {
		if !d.GoOnly {
			continue
		}
		fields++
		if _, isNone := none[d.Field]; !isNone && !slices.Contains(issues, d.Field) {
			t.Errorf("%s: no issue", d.Field)
		}
	}
	if fields != 17 {
		t.Errorf("%d fields that only Go members have, this test sets 17: set the new ones, too", fields)
	}
}

func TestMixedIn(t *testing.T) {
	const base = "jobName: j\nshardingTotalCount: 1\ncron: 0 * * * * ?\n"
	for _, tc := range []struct{ name, document, want string }{
		{"nothing", base, ""},
		{"as ElasticJob writes it", document3, ""},
		{"an unknown key", base + "futureKey: 1\n", "futureKey!"},
		{"what extensions add", base + "jobExtraConfigurations: []\n", ""},
		{"the pool since 3.0.5", base + "jobExecutorThreadPoolSizeProviderType: CPU\n", "jobExecutorThreadPoolSizeProviderType!~"},
		{"the pool before", base + "jobExecutorServiceHandlerType: SINGLE_THREAD\n", "jobExecutorServiceHandlerType!~"},
		{"no pool", base + "jobExecutorServiceHandlerType:\n", ""},
		{"2.1", document2, "config!"},
		{"a difference of 0", base + "maxTimeDiffSeconds: 0\n", "maxTimeDiffSeconds~"},
		{"no check", base + "maxTimeDiffSeconds: -1\n", ""},
		{"of both kinds", base + "maxTimeDiffSeconds: 0\nlabel: gpu\n", "maxTimeDiffSeconds~ label"},
	} {
		issues, err := job.MixedIn([]byte(tc.document))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		var got []string
		for _, i := range issues {
			got = append(got, brand(i))
		}
		if text := strings.Join(got, " "); text != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, text, tc.want)
		}
	}
	if _, err := job.MixedIn([]byte("jobName: [")); err == nil {
		t.Error("no error of a document that cannot be read")
	}
}

func TestMixedServers(t *testing.T) {
	if list := job.MixedServers([]string{"10.0.0.1", "10.0.0.2"}); len(list) > 0 {
		t.Errorf("%v", list)
	}
	list := job.MixedServers([]string{"fd00::2", "10.0.0.1", "fd00::1"})
	if len(list) != 1 || !strings.Contains(list[0].String(), "servers: JVM members do not notice") || !strings.Contains(list[0].Does, `"fd00::1", "fd00::2"`) {
		t.Errorf("%v", list)
	}
}

// The log tells of each issue once, as long as JVM members are there and the configuration is the same.
func TestMixedIsTold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		core, logs := observer.New(zap.InfoLevel)
		cfg := c.config()
		cfg.TimeZone, cfg.Label, cfg.Jitter, cfg.Threads = "UTC", "gpu", time.Millisecond, 0
		c.join("10.0.0.1", cfg, nil, job.WithLogger(zap.New(core)), job.WithLabels("gpu"))
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		told := func() string {
			counts := map[string]int{}
			for _, line := range logs.All() {
				if strings.HasPrefix(line.Message, "JVM members do something otherwise") {
					counts[fmt.Sprintf("%s %v", line.Level, line.ContextMap()["field"])]++
				}
			}
			return fmt.Sprint(counts)
		}
		c.pass(time.Minute)
		if got := told(); got != "map[]" {
			t.Errorf("told without JVM members: %s", got)
		}
		const jvm = "10.0.0.9@-@1234"
		c.commit(coord.CreateEphemeral(c.job.Instance(jvm), nil), coord.Put(c.job.Server("10.0.0.9"), []byte("ENABLED")))
		c.pass(time.Minute)
		if got, want := told(), "map[info props: schedule.jitter.milliseconds:1 warn label:1 warn timeZone:1]"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		c.configure(func(cfg *job.Config) { cfg.TimeZone, cfg.Jitter = "GMT", 0 })
		c.pass(time.Minute)
		if got, want := told(), "map[info props: schedule.jitter.milliseconds:1 warn label:2 warn timeZone:1]"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		c.commit(coord.Delete(c.job.Instance(jvm)))
		c.pass(time.Minute)
		c.commit(coord.CreateEphemeral(c.job.Instance(jvm), nil))
		c.pass(time.Minute)
		if got, want := told(), "map[info props: schedule.jitter.milliseconds:1 warn label:3 warn timeZone:1]"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

// Members of elastic-job 2.1 read no document that Go has written: those that are there are told of in the log, and so
// is who writes the document where they have been, because those that fail to start leave nothing.
func TestOldIsTold(t *testing.T) {
	const what = "members of elastic-job 2.1 cannot start any more"
	for name, tc := range map[string]struct {
		config, server string
		overwrite      bool
		want           string // who is told of
	}{
		"a tree without 2.1":                 {"", "ENABLED", false, ""},
		"servers of 2.1":                     {"", "", false, "10.0.0.9"},
		"a document of 2.1 that is replaced": {strings.ReplaceAll(document2, "demoJob", "settle"), "ENABLED", true, ""},
		"a document of 2.1 that stays":       {strings.ReplaceAll(document2, "demoJob", "settle"), "", false, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
				core, logs := observer.New(zap.WarnLevel)
				c.commit(coord.Put(c.job.Server("10.0.0.9"), []byte(tc.server)))
				if tc.config != "" {
					c.commit(coord.Put(c.job.Root(), nil), coord.Put(c.job.Config(), []byte(tc.config)))
				}
				cfg := c.config()
				cfg.Overwrite = tc.overwrite
				c.join("10.0.0.1", cfg, nil, job.WithLogger(zap.New(core)))
				told := logs.FilterMessageSnippet(what).All()
				isTold := tc.want != "none" && (tc.want != "" || tc.overwrite)
				if len(told) > 1 || (len(told) == 1) != isTold {
					t.Fatalf("told %d times: %v", len(told), told)
				}
				if isTold && !strings.Contains(fmt.Sprint(told[0].ContextMap()["servers of 2.1"]), tc.want) {
					t.Errorf("told %v", told[0].ContextMap())
				}
			})
		})
	}
	t.Run("members that are there", func(t *testing.T) {
		inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
			core, logs := observer.New(zap.WarnLevel)
			c.join("10.0.0.1", c.config(), nil, job.WithLogger(zap.New(core)))
			const jvm = "10.0.0.9@-@1234"
			c.commit(coord.CreateEphemeral(c.job.Instance(jvm), nil), coord.Put(c.job.Server("10.0.0.9"), nil))
			c.pass(time.Minute)
			told := logs.FilterMessageSnippet("JVM members do something otherwise, with harm").All()
			if len(told) != 1 || told[0].ContextMap()["field"] != "config" || !strings.Contains(fmt.Sprint(told[0].ContextMap()["does"]), `of elastic-job 2.1 ("`+jvm+`") do not read`) {
				t.Errorf("told %v", told)
			}
		})
	})
}

func TestMixedOld(t *testing.T) {
	if list := job.MixedOld([]byte(document2), []string{"10.0.0.1"}); len(list) > 0 {
		t.Errorf("of a document of their own: %v", list)
	}
	if list := job.MixedOld([]byte(document3), nil); len(list) > 0 {
		t.Errorf("of nobody: %v", list)
	}
	if list := job.MixedOld([]byte(document3), []string{"b", "a"}); len(list) != 1 || !list[0].Refused || !strings.Contains(list[0].String(), `2.1 ("a", "b") do not read`) {
		t.Errorf("%v", list)
	}
}
