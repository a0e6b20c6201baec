package jobtype_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Of an expression that Quartz does not read, the advice is one that it reads.
func TestMixedOffersCrons(t *testing.T) {
	for cron, want := range map[string]string{
		"*/5 * * * *": `cron: JVM members do not read "*/5 * * * *", which has the five fields of Unix cron where Quartz wants six or seven: ` +
			`they do not start with it, and go on by the expression that they had; while both kinds are there, items that they own run at other times, or not; write "0 */5 * * * ?"`,
		"30 4 1,15 * FRI": `; make a job of "0 30 4 1,15 * ?" and one of "0 30 4 ? * FRI"`,
		"@daily":          `; write "0 0 0 * * ?"`,
		"@every 1m30s":    "; write an expression that Quartz reads",
		"0 0 0 1,L * ?":   "; write an expression that Quartz reads",
	} {
		c := jobtype.Config{Name: "settle", Cron: cron, ShardingTotalCount: 1}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		if list := c.Mixed(); len(list) != 1 || !strings.HasSuffix(list[0].String(), want) {
			t.Errorf("%s: %v, want %s", cron, list, want)
		}
	}
}

// What JVM members do otherwise is named by field; "!" is that they refuse it, "~" that it does no
// harm while both kinds are there.
func TestMixed(t *testing.T) {
	base := jobtype.Config{Name: "settle", Cron: "0 * * * * ?", ShardingTotalCount: 3, ShardingItemParameters: "0=a,1=b", Failover: true, Misfire: jobtype.Off}
	for _, tc := range []struct {
		name   string
		change func(*jobtype.Config)
		want   string
	}{
		{"nothing", func(*jobtype.Config) {}, ""},
		{"what ElasticJob has", func(c *jobtype.Config) {
			c.TimeZone, c.Strategy, c.ErrorHandler, c.Threads, c.Disabled, c.Overwrite = "GMT+08:00", "ODEVITY", "WECHAT", 1, true, true
			c.ReconcileInterval, c.Revision, c.JobParameter, c.Props = -1, 7, "p", map[string]string{"streaming.process": "true"}
		}, ""},
		{"a one-off job", func(c *jobtype.Config) { c.Cron = "" }, ""},
		{"round robin", func(c *jobtype.Config) { c.Strategy = "ROUND_ROBIN" }, ""},
		{"a cron of ours", func(c *jobtype.Config) { c.Cron = "@every 1m30s" }, "cron!"},
		{"five fields", func(c *jobtype.Config) { c.Cron = "*/5 * * * *" }, "cron!"},
		{"a list with L", func(c *jobtype.Config) { c.Cron = "0 0 0 1,L * ?" }, "cron!"},
		{"a list with W", func(c *jobtype.Config) { c.Cron = "0 0 0 1,15W * ?" }, "cron"},
		{"more crons", func(c *jobtype.Config) { c.MoreCrons = []string{"30 * * * * ?"} }, "props: cron.more"},
		{"calendars", func(c *jobtype.Config) { c.Calendars = []string{"holidays"} }, "props: schedule.calendars"},
		{"a zone", func(c *jobtype.Config) { c.TimeZone = "Asia/Shanghai" }, "timeZone!"},
		{"UTC", func(c *jobtype.Config) { c.TimeZone = "UTC" }, "timeZone!"},
		{"jitter", func(c *jobtype.Config) { c.Jitter = time.Second }, "props: schedule.jitter.milliseconds~"},
		{"overlap", func(c *jobtype.Config) { c.Overlap = jobtype.OverlapSkip }, "props: overlap"},
		{"an end", func(c *jobtype.Config) { c.Expiry.At = time.Unix(4e9, 0) }, "props: expiry.at"},
		{"an end by ticks", func(c *jobtype.Config) { c.Expiry.Ticks = 3 }, "props: expiry.ticks"},
		{"a removal", func(c *jobtype.Config) { c.Expiry.Remove = true }, "props: expiry.remove"},
		{"a window", func(c *jobtype.Config) { c.MisfireWindow = time.Minute }, "props: misfire.window.seconds"},
		{"a tolerance", func(c *jobtype.Config) { c.MisfireTolerance = time.Minute }, "props: misfire.tolerance.milliseconds~"},
		{"parameters with escapes", func(c *jobtype.Config) { c.ShardingItemParameters = `0=a\,b` }, "shardingItemParameters!"},
		{"an empty parameter", func(c *jobtype.Config) { c.ShardingItemParameters = "0=a,1=" }, "shardingItemParameters!"},
		{"a backslash", func(c *jobtype.Config) { c.ShardingItemParameters = `0=a\\,1=b` }, "shardingItemParameters"},
		{"a harmless backslash", func(c *jobtype.Config) { c.ShardingItemParameters = `0=c:\dir,1=b` }, ""},
		{"spaces and a comma at the end", func(c *jobtype.Config) { c.ShardingItemParameters = " 0 = a , 1 = b," }, ""},
		{"sticky", func(c *jobtype.Config) { c.Strategy = "STICKY" }, "jobShardingStrategyType!"},
		{"weighted", func(c *jobtype.Config) { c.Strategy = "WEIGHTED" }, "jobShardingStrategyType!"},
		{"one of a program", func(c *jobtype.Config) { c.Strategy = "mine" }, "jobShardingStrategyType!"},
		{"balance", func(c *jobtype.Config) { c.Strategy = "SINGLE_SHARDING_BALANCE" }, "jobShardingStrategyType!"},
		{"a bound of items", func(c *jobtype.Config) { c.MaxItems = 2 }, "props: sharding.items.max"},
		{"static", func(c *jobtype.Config) { c.StaticSharding = true }, "staticSharding"},
		{"broadcast", func(c *jobtype.Config) { c.Broadcast = true }, "props: broadcast"},
		{"a label", func(c *jobtype.Config) { c.Label = "gpu" }, "label"},
		{"a clock", func(c *jobtype.Config) { c.MaxTimeDiff = time.Minute }, "maxTimeDiffSeconds~"},
		{"threads", func(c *jobtype.Config) { c.Threads = 5 }, "props: executor.threads~"},
		{"several handlers", func(c *jobtype.Config) { c.ErrorHandler = "LOG,WECHAT" }, "jobErrorHandlerType!"},
		{"a webhook", func(c *jobtype.Config) { c.ErrorHandler = "WEBHOOK" }, "jobErrorHandlerType!"},
		{"listeners", func(c *jobtype.Config) { c.Listeners = []string{"a", "b"} }, "jobListenerTypes!~"},
		{"a reference", func(c *jobtype.Config) {
			c.Props = map[string]string{"email.password": "${env:MAIL_PASSWORD}", "script.command.line": "echo ${HOME}"}
		}, "props"},
		{"a bound of time", func(c *jobtype.Config) { c.Timeout = time.Minute }, "props: execution.timeout.seconds"},
		{"retries", func(c *jobtype.Config) { c.Retry.Attempts = 2 }, "props: retry.attempts"},
		{"several", func(c *jobtype.Config) { c.TimeZone, c.Label, c.Timeout = "UTC", "gpu", time.Minute }, "timeZone! label props: execution.timeout.seconds"},
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
func brand(i jobtype.MixedIssue) string {
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
	full := jobtype.Config{
		Name: "settle", Cron: "0 * * * * ?", ShardingTotalCount: 3, MoreCrons: []string{"30 * * * * ?"}, Calendars: []string{"c"}, Overlap: jobtype.OverlapSkip,
		Jitter: time.Second, Expiry: jobtype.Expiry{At: time.Unix(4e9, 0), Ticks: 3, Remove: true}, MisfireTolerance: time.Minute, MisfireWindow: time.Minute,
		Timeout: time.Minute, Retry: jobtype.Retry{Attempts: 1, InitialBackoff: 2 * time.Second, MaxBackoff: time.Hour}, MaxItems: 1, Broadcast: true, Threads: 7, Revision: 3,
	}
	var issues []string
	for _, i := range full.Mixed() {
		issues = append(issues, i.Field)
	}
	issues = append(issues, "props: expiry.ticks", "props: expiry.remove") // one end is one issue
	fields := 0
	for _, d := range (jobtype.Config{Name: "settle", Cron: "0 * * * * ?", ShardingTotalCount: 3}).Differences(full) {
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
		issues, err := jobtype.MixedIn([]byte(tc.document))
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
	if list, err := jobtype.MixedIn([]byte(base + "jobExecutorServiceHandlerType: SINGLE_THREAD\n")); err != nil || len(list) != 1 ||
		!strings.Contains(list[0].Advice, "elasticjob update JOB --unset jobExecutorServiceHandlerType); JVM members then") {
		t.Errorf("advice on a pool: %v, %v", list, err)
	}
	if list, err := jobtype.MixedIn([]byte(base + "failover: true\nmonitorExecution: false\nlabel: gpu\n")); err == nil || len(list) != 1 {
		t.Errorf("what only Go members refuse: %v, %v", list, err)
	}
	for _, document := range []string{"jobName: [", base + "label: [gpu]\n"} {
		if list, err := jobtype.MixedIn([]byte(document)); err == nil || list != nil {
			t.Errorf("a document that cannot be read: %v, %v", list, err)
		}
	}
}

func TestMixedServers(t *testing.T) {
	if list := jobtype.MixedServers([]string{"10.0.0.1", "10.0.0.2"}); len(list) > 0 {
		t.Errorf("%v", list)
	}
	list := jobtype.MixedServers([]string{"fd00::2", "10.0.0.1", "fd00::1"})
	if len(list) != 1 || !strings.Contains(list[0].String(), "servers: JVM members do not notice") || !strings.Contains(list[0].Does, `"fd00::1", "fd00::2"`) {
		t.Errorf("%v", list)
	}
}

func TestMixedOld(t *testing.T) {
	if list := jobtype.MixedOld([]byte(document2), []string{"10.0.0.1"}); len(list) > 0 {
		t.Errorf("of a document of their own: %v", list)
	}
	if list := jobtype.MixedOld([]byte(document3), nil); len(list) > 0 {
		t.Errorf("of nobody: %v", list)
	}
	if list := jobtype.MixedOld([]byte(document3), []string{"b", "a"}); len(list) != 1 || !list[0].Refused || !strings.Contains(list[0].String(), `2.1 ("a", "b") do not read`) {
		t.Errorf("%v", list)
	}
}
