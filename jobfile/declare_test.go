package jobfile_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/alert/email"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

func declare(t testing.TB, texts ...string) *jobfile.Declarations {
	t.Helper()
	d, err := jobfile.Declare(jobfile.Options{Profiles: []string{}}, write(t, texts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Who runs no job needs neither the work, nor a registry, nor what the other sections refer to.
func TestDeclare(t *testing.T) {
	d := declare(t, `
registry: {etcd: {endpoints: ["a:2379"], namespace: b, password: "${env:NOT_THERE}"}}
defaults: {failover: true}
jobs:
  report: {type: SPARK, cron: '0 0 3 * * ?', shardingTotalCount: 2, props: {spark.token: "${env:ALSO_NOT_THERE}"}}
  ping: {implementation: com.example.Ping, shardingTotalCount: 1, failover: false}
  off: {enabled: false}
calendars:
  holidays: |
    timeZone: Europe/Berlin
    dates: [12-25]
`)
	if len(d.Jobs) != 2 || d.Jobs[0].Work() != "com.example.Ping" || d.Jobs[0].Config.Failover || d.Jobs[1].Type != "SPARK" || !d.Jobs[1].Config.Failover {
		t.Errorf("jobs: %+v", d.Jobs)
	}
	if got := d.Jobs[1].Config.Props["spark.token"]; got != "${env:ALSO_NOT_THERE}" {
		t.Errorf("a reference in props has become %q", got)
	}
	if _, place, _ := strings.Cut(d.Jobs[1].Place(), ".yaml"); place != ":5:11" {
		t.Errorf("the job stands at %s", d.Jobs[1].Place())
	}
	if len(d.Calendars) != 1 || d.Calendars[0].Document != "timeZone: Europe/Berlin\ndates: [12-25]\n" {
		t.Errorf("calendars: %+v", d.Calendars)
	}
}

func TestDeclareRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"nothing does the work": {"jobs: {a: {shardingTotalCount: 1}}", "1.yaml:1:11: jobs.a: either type or implementation is needed"},
		"no total":              {"jobs: {a: {type: HTTP}}", "1.yaml:1:11: jobs.a.shardingTotalCount: 0: 1 to 100000 are allowed"},
		"a wrong calendar":      {"calendars: {a: 'dates: []'}", "1.yaml:1:16: calendars.a: calendar: timeZone"},
		"no calendar":           {"calendars: {a: {dates: []}}", "1.yaml:1:16: calendars.a: a single value is allowed, here is a mapping"},
		"name of a calendar":    {"calendars: {a/b: 'timeZone: UTC'}", "1.yaml:1:13: calendars.a/b: no calendar can have this name"},
		"another section":       {"node: {lables: [x]}", "1.yaml:1:8: node.lables: unknown key; did you mean labels?"},
		"an address":            {"registry: {zookeeper: {servers: ['a:2181,b:2181'], namespace: n}}", `1.yaml:1:34: registry.zookeeper.servers[0]: is "a:2181,b:2181": each server is an item of the list`},
		"no namespace":          {"registry: {zookeeper: {servers: [a]}}", "1.yaml:1:23: registry.zookeeper: invalid configuration: Namespace: "},
		"no password":           {"registry: {etcd: {endpoints: ['a:1'], namespace: n, username: u}}", "1.yaml:1:18: registry.etcd: invalid configuration: Username and Password: one of them is empty"},
		"not encrypted":         {"registry: {etcd: {endpoints: ['http://a:1'], namespace: n, tls: {ca: none}}}", "which is not encrypted, but TLS is set"},
		"in memory":             {"registry: {memory: {namespace: /n}}", "1.yaml:1:20: registry.memory: "},
		"no variable":           {"jobs: {a: {type: HTTP, shardingTotalCount: 1, label: '${env:NOT_THERE}'}}", "jobs.a.label: reference \"${env:NOT_THERE}\": this process has no such variable"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := jobfile.Declare(jobfile.Options{Profiles: []string{}}, write(t, tc.text)...)
			if !errors.Is(err, jobfile.ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// Types and error handlers find what is wrong with properties, at their place. What only a worker can know is no mistake.
func TestDeclarationsCheck(t *testing.T) {
	o := jobfile.Options{Supervisor: script.Supervise(), Alerts: map[string]func(alert.Options) job.ErrorHandlerType{email.Name: email.Type}}
	const secret = "is secret, so a reference to what the process has is allowed: ${env:NAME}"
	for name, tc := range map[string]struct {
		text string
		want []string // what the mistakes begin with, in their order
	}{
		"a type": {`
jobs:
  a:
    type: HTTP
    shardingTotalCount: 1
    props:
      http.uri: ftp://x
      http.methd: GET
`, []string{"7:7: jobs.a.props: http.method: is required", "7:17: jobs.a.props: http.uri: an absolute URL with http or https is allowed", "8:19: jobs.a.props: http.methd: is not known"}},
		"a script without a command": {`
jobs:
  a: {type: SCRIPT, shardingTotalCount: 1}
`, []string{"3:6: jobs.a.props: script.command.line: is required"}},
		"secrets": {`
defaults:
  jobErrorHandlerType: LOG,DINGTALK
  props: {dingtalk.webhook: "https://robot.example/send?access_token=CLEAR"}
jobs:
  a:
    implementation: settle
    shardingTotalCount: 1
    props: {dingtalk.secret: CLEAR}
`, []string{"4:29: jobs.a.props: dingtalk.webhook: " + secret, "9:30: jobs.a.props: dingtalk.secret: " + secret}},
		"what is required": {`
jobs:
  a: {implementation: settle, shardingTotalCount: 1, jobErrorHandlerType: WEBHOOK}
  b: {implementation: settle, shardingTotalCount: 1, jobErrorHandlerType: WEBHOOK, props: {webhook.url: "https://me:CLEAR@hook.example"}}
`, []string{"3:6: jobs.a.props: webhook.url: is required", "4:105: jobs.b.props: webhook.url: a user or a password in it is secret"}},
		"of the program": {`
jobs:
  a:
    implementation: settle
    shardingTotalCount: 1
    jobErrorHandlerType: EMAIL
    props: {email.host: mx, email.port: many, email.from: a@example.com, email.to: b@example.com, email.username: u, email.password: CLEAR}
`, []string{`7:41: jobs.a.props: email.port: "many": 1 to 65535 are allowed`, "7:134: jobs.a.props: email.password: " + secret}},
		"of two handlers": {`
jobs:
  a: {implementation: settle, shardingTotalCount: 1, jobErrorHandlerType: "SLACK,WECHAT", props: {slack.webhook: "${env:S}", wechat.webhook: "${env:W}", alert.after: none}}
`, []string{`3:167: jobs.a.props: alert.after: "none": 1 to 1000 are allowed`}},
		"of others": {`
jobs:
  a: {type: OTHER, shardingTotalCount: 1, props: {http.uri: ftp://x}}
  b: {implementation: settle, shardingTotalCount: 1, jobErrorHandlerType: PAGER, props: {slack.webhook: CLEAR}}
`, nil},
		"of a worker": {`
jobs:
  a:
    type: HTTP
    shardingTotalCount: 1
    jobErrorHandlerType: SLACK
    props: {http.uri: "https://${env:NOT_HERE}/", http.method: GET, http.tls: internal, slack.webhook: "${file:/not/here}", slack.tls: corporate}
`, nil},
		"placeholders": {`
jobs:
  a:
    type: HTTP
    shardingTotalCount: 1
    props:
      http.url: "http://${env:HOST}/x?a=${shardingitem}"
      http.method: POST
      http.data: "${json:shardingParameter} ${json:item} $${item} ${json:env:X}"
      http.header.X: "${url:jobName}"
      http.header.Y: "${vault:x} ${file:/not/here} ${jobName}"
  b: {type: SCRIPT, shardingTotalCount: 1, props: {script.command.line: /bin/x, script.env.A: "${shardingItem}", script.env.B: "$${x}"}}
`, []string{
			`7:17: jobs.a.props: http.url: reference "${shardingitem}": is not known; the placeholders are jobName, taskId, `,
			`9:18: jobs.a.props: http.data: reference "${item}": is not known; the placeholders are `,
			`10:22: jobs.a.props: http.header.X: reference "${url:jobName}": is not known; the placeholders are `,
			`12:95: jobs.b.props: script.env.A: reference "${shardingItem}" is not known; $${ stands for ${ itself`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			err := declare(t, tc.text).Check(o)
			var got []*jobfile.Mistake
			if invalid, ok := errors.AsType[*jobfile.Error](err); ok {
				got = invalid.Mistakes
			}
			if len(got) != len(tc.want) || strings.Contains(fmt.Sprint(err), "CLEAR") {
				t.Fatalf("%v\nwant %q, and no secret", err, tc.want)
			}
			for i, want := range tc.want {
				if _, says, _ := strings.Cut(got[i].Error(), "1.yaml:"); !strings.HasPrefix(says, want) {
					t.Errorf("got %q, want %q", says, want)
				}
			}
		})
	}
}

// What was wrong with a job before and stays as it was keeps nobody from changing something else.
func TestCheckChange(t *testing.T) {
	of := func(cron, handler, secret string) jobfile.Declared {
		return jobfile.InRegistry(jobtype.Config{
			Name: "a", ShardingTotalCount: 1, Cron: cron, ErrorHandler: handler, Props: map[string]string{"dingtalk.webhook": "${env:URL}", "dingtalk.secret": secret},
		}, "settle")
	}
	request := func(cron, body string) jobfile.Declared {
		return jobfile.InRegistry(jobtype.Config{
			Name: "a", ShardingTotalCount: 1, Cron: cron, Props: map[string]string{"http.url": "http://a/", "http.method": "POST", "http.data": body},
		}, "HTTP")
	}
	before := of("0 0 3 * * ?", "DINGTALK", "CLEAR")
	for name, tc := range map[string]struct {
		before, after jobfile.Declared
		refused       bool
	}{
		"a schedule":      {before, of("0 0 4 * * ?", "DINGTALK", "CLEAR"), false},
		"a reference":     {before, of("0 0 3 * * ?", "DINGTALK", "${env:SECRET}"), false},
		"another secret":  {before, of("0 0 3 * * ?", "DINGTALK", "OTHER"), true},
		"another handler": {of("0 0 3 * * ?", "LOG", "CLEAR"), before, true},
		"a new job":       {jobfile.Declared{}, before, true},
		"a schedule of a job with a wrong placeholder": {request("0 0 3 * * ?", "${item}"), request("0 0 4 * * ?", "${item}"), false},
		"a wrong placeholder":                          {request("0 0 3 * * ?", "${shardingItem}"), request("0 0 3 * * ?", "${item}"), true},
	} {
		if err := tc.after.CheckChange(jobfile.Options{}, tc.before); (err != nil) != tc.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// anyText has what YAML, references and this format may take for something else.
var anyText = rapid.OneOf(
	rapid.SampledFrom([]string{"", "null", "~", "true", "12", "1e3", "0x1F", "2026-12-24", "<<", "- a", "a: b", "# no", " x ", "\t", "${", "$${", "${env:NOT_THERE}", "a\nb", "a\n\n b\n", "\n", " \n x", "a\r\nb", "\u0085", "x\u2028y", "'", `"`, `\n`, "*a", "&a", "|", ">", "%", "@", "é", "\x00", "\x7f", "\ufeff", "? a", "!!int 3", "a #b", "=", "y", "off"}),
	rapid.String(),
)

// anyJob draws a job that is valid.
var anyJob = rapid.Custom(func(t *rapid.T) jobfile.Declared {
	on := rapid.Bool()
	word := rapid.SampledFrom([]string{"A", "b-c", "12", "true", "null", "x.y"})
	durations := func(name string, unit time.Duration) time.Duration {
		return unit * time.Duration(rapid.SampledFrom([]int64{0, 0, 1, 59, 60, 90, 3600, 86400}).Draw(t, name))
	}
	c := job.Config{
		Name:               rapid.StringMatching(`[a-zA-Z0-9:_-][a-zA-Z0-9._:-]{0,12}`).Draw(t, "name"),
		ShardingTotalCount: rapid.IntRange(1, jobtype.MaxShardingTotalCount).Draw(t, "total"),
		JobParameter:       anyText.Draw(t, "parameter"), Description: anyText.Draw(t, "description"),
		Misfire: jobtype.ToggleOf(on.Draw(t, "misfire")), MisfireTolerance: durations("tolerance", time.Millisecond), MisfireWindow: durations("window", time.Second),
		MaxTimeDiff: durations("diff", time.Second), ReconcileInterval: durations("reconcile", time.Minute) - time.Minute,
		Timeout: durations("timeout", time.Second), Disabled: on.Draw(t, "disabled"), Overwrite: on.Draw(t, "overwrite"),
		Revision: rapid.IntRange(0, 3).Draw(t, "revision"), Threads: rapid.IntRange(0, 3).Draw(t, "threads"),
		Retry: job.Retry{Attempts: rapid.IntRange(0, 3).Draw(t, "attempts"), InitialBackoff: durations("backoff", time.Millisecond) - time.Millisecond},
		Props: map[string]string{}, Label: rapid.SampledFrom([]string{"", "gpu", "no", "1"}).Draw(t, "label"),
	}
	if on.Draw(t, "cron") {
		c.Cron = rapid.SampledFrom([]string{"0 0 3 * * ?", "* * * * * ?", "0 0/5 * * * ? 2030"}).Draw(t, "expression")
		c.MoreCrons = rapid.SliceOfN(rapid.Just("0 0 4 * * ?"), 0, 2).Draw(t, "more")
		c.Calendars = rapid.SliceOfNDistinct(word, 0, 3, rapid.ID[string]).Draw(t, "calendars")
		c.Expiry.Ticks = rapid.IntRange(0, 2).Draw(t, "ticks")
		c.TimeZone = rapid.SampledFrom([]string{"", "Asia/Shanghai", "GMT+08:00"}).Draw(t, "zone")
		c.Jitter = durations("jitter", time.Millisecond)
		c.Overlap = rapid.SampledFrom([]jobtype.Overlap{"", job.OverlapSkip}).Draw(t, "overlap")
	}
	if on.Draw(t, "ends") {
		c.Expiry.At = time.Unix(rapid.Int64Range(1_800_000_000, 4_000_000_000).Draw(t, "at"), 0)
		c.Expiry.Remove = on.Draw(t, "remove")
	}
	if c.Broadcast = on.Draw(t, "broadcast"); !c.Broadcast {
		c.Failover, c.StaticSharding, c.MaxItems = on.Draw(t, "failover"), on.Draw(t, "static"), rapid.IntRange(0, 2).Draw(t, "items")
	}
	if c.Jitter == 0 && !c.Failover && !c.Expiry.Remove {
		c.MonitorExecution = jobtype.ToggleOf(on.Draw(t, "monitor"))
	}
	for range rapid.IntRange(0, 3).Draw(t, "props") {
		c.Props["x."+rapid.OneOf(anyText, rapid.Just("y")).Draw(t, "property")] = anyText.Draw(t, "value")
	}
	c.Listeners = rapid.SliceOfNDistinct(word, 0, 2, rapid.ID[string]).Draw(t, "listeners")
	d := jobfile.InRegistry(c, rapid.SampledFrom([]string{"HTTP", "SCRIPT", "null", "com.example.A", "${x}"}).Draw(t, "work"))
	if c.Validate() != nil {
		t.Skip("not a valid job: ", c.Validate())
	}
	return d
})

// Whatever the registry has, a file that is written of it is read as the same.
func TestWriteIsReadAsTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "export.yaml")
	rapid.Check(t, func(rt *rapid.T) {
		jobs := rapid.SliceOfNDistinct(anyJob, 0, 3, func(d jobfile.Declared) string { return d.Config.Name }).Draw(rt, "jobs")
		calendars := []jobfile.Calendar{{Name: "12", Document: rapid.SampledFrom([]string{"timeZone: UTC", "timeZone: UTC # ${x}\ndates:\n- 12-25\n", " timeZone: UTC\n\n", "{timeZone: UTC, icalendar: \"a\\nb\"}"}).Draw(rt, "calendar")}}
		text, err := jobfile.Declarations{Jobs: jobs, Calendars: calendars}.Write()
		if err != nil && strings.Contains(err.Error(), "icalendar") {
			rt.Skip("no calendar")
		}
		if err != nil {
			rt.Fatal(err)
		}
		rewrite(t, path, string(text))
		back, err := jobfile.Declare(jobfile.Options{Profiles: []string{}}, path)
		if err != nil {
			rt.Fatalf("%v\n%s", err, text)
		}
		slices.SortFunc(jobs, func(a, b jobfile.Declared) int { return strings.Compare(a.Config.Name, b.Config.Name) })
		if len(back.Jobs) != len(jobs) || back.Calendars[0].Document != calendars[0].Document {
			rt.Fatalf("%+v, read as %+v", jobs, back)
		}
		for i, b := range back.Jobs {
			if !b.Config.Equal(jobs[i].Config) || b.Type != jobs[i].Type || b.Implementation != jobs[i].Implementation {
				rt.Errorf("%s\n%s", cmp.Diff(jobs[i].Config.WithDefaults(), b.Config.WithDefaults()), text)
			}
			if d := jobs[i].Differences(b); len(d) > 0 {
				rt.Errorf("differs: %v", d)
			}
		}
	})
}

// Two jobs differ in some key if and only if they do not mean the same.
func TestDifferencesAreAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := anyJob.Draw(rt, "a"), anyJob.Draw(rt, "b")
		b.Config.Name = a.Config.Name
		if rapid.Bool().Draw(rt, "one field") { // of b, in a
			one := a.Config
			i := rapid.IntRange(0, reflect.TypeFor[job.Config]().NumField()-1).Draw(rt, "field")
			reflect.ValueOf(&one).Elem().Field(i).Set(reflect.ValueOf(b.Config).Field(i))
			b.Config = one
		}
		same := a.Config.Equal(b.Config) && a.Work() == b.Work()
		if d := a.Differences(b); (len(d) == 0) != same {
			rt.Errorf("%v; the same: %v", d, same)
		}
	})
}

func TestDifferencesInWords(t *testing.T) {
	before := jobfile.InRegistry(job.Config{Name: "a", Cron: "0 0 3 * * ?", ShardingTotalCount: 3, Props: map[string]string{"old": "x", "both": "1"}}, "HTTP")
	after := jobfile.InRegistry(job.Config{Name: "a", ShardingTotalCount: 3, Timeout: 2 * time.Minute, Failover: true, Retry: job.Retry{Attempts: 3}, Props: map[string]string{"new": "a\nb", "both": "2"}}, "settle")
	var got []string
	for _, d := range before.Differences(after) {
		got = append(got, d.String())
	}
	want := []string{
		"implementation: HTTP → settle", `cron: 0 0 3 * * ? → ""`, "failover: false → true", "timeout: 0s → 2m", "retry.attempts: 0 → 3",
		"props.both: 1 → 2", `props.new: none → "a\nb"`, "props.old: x → none",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A namespace with 10,000 jobs goes into one file.
func TestWriteManyJobs(t *testing.T) {
	var d jobfile.Declarations
	for i := range 10_000 {
		c := job.Config{
			Name: fmt.Sprintf("billing.settle-%05d", i), Cron: "0 0/5 * * * ?", ShardingTotalCount: 3, Failover: true, TimeZone: "Asia/Shanghai",
			ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou", Timeout: time.Minute, ErrorHandler: "LOG,SLACK", Revision: 4,
			Description: "Settles what was paid since the last time", Props: map[string]string{"http.uri": "https://shop.example.com/settle", "http.method": "POST"},
		}
		d.Jobs = append(d.Jobs, jobfile.InRegistry(c, "HTTP"))
	}
	text, err := d.Write()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(text))
}

func TestWriteTooMuch(t *testing.T) {
	c := job.Config{Name: "a", ShardingTotalCount: 1}
	d := jobfile.InRegistry(c, "HTTP")
	if _, err := (jobfile.Declarations{Jobs: []jobfile.Declared{d, d}}).Write(); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a job that is there twice: %v", err)
	}
}

func TestExampleIsWrittenAsItIs(t *testing.T) {
	d := declare(t, example(t))
	text, err := d.Write()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "failover: false") || !strings.Contains(string(text), "timeout: 2m\n") {
		t.Errorf("%s", text)
	}
}

// A secret in clear text in a variable or a header is allowed, for it may be none, and not without a word.
func TestWarnings(t *testing.T) {
	const clear = ": a secret in clear text: everybody who may read the store sees it; allowed are ${env:NAME} and ${file:PATH}"
	const jobs = `
calendars: {bank: "timeZone: UTC"}
jobs:
  a:
    type: SCRIPT
    shardingTotalCount: 1
    props:
      script.command.line: /bin/x
      script.env.DB_PASSWORD: CLEAR
      script.env.OTHER_PASSWORD: ${file:/run/secrets/other}
      script.env.TOKEN_FILE: /run/secrets/token
      script.env.DB: postgres://me:CLEAR@db/x
  b:
    type: HTTP
    shardingTotalCount: 1
    jobShardingStrategyType: MINE
    props: {http.url: "http://a/", http.method: GET, http.header.X-Token: CLEAR, http.header.X-Lock-Token: "${token}", script.env.PASSWORD: x}
  c: {implementation: settle, shardingTotalCount: 1, props: {script.env.PASSWORD: x}}
  d: {implementation: settle, shardingTotalCount: 1, cron: "0 0 3 * * ?", calendars: [bank, banks, other]}
`
	secrets := []string{":12:22: jobs.a.props.script.env.DB" + clear, ":9:31: jobs.a.props.script.env.DB_PASSWORD" + clear, ":17:75: jobs.b.props.http.header.X-Token" + clear,
		`:19:86: jobs.d.calendars: these files have no calendar "banks"; did you mean bank?`}
	f, err := jobfile.Read(options(nil), write(t, "registry: {memory: {namespace: test}}"+jobs)...)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		got  []*jobfile.Mistake
		want []string
	}{
		"declared": {declare(t, jobs).Warnings(), slices.Insert(slices.Clone(secrets), 3, ":16:30: jobs.b.jobShardingStrategyType: unknown sharding strategy")},
		"run":      {f.Warnings(), append([]string{":2:12: calendars: elasticjob apply writes the calendars of the files"}, secrets...)},
	} {
		if len(tc.got) != len(tc.want) {
			t.Fatalf("%s: %v", name, tc.got)
		}
		for i, want := range tc.want {
			if says := tc.got[i].Error(); !strings.Contains(says, want) || strings.Contains(says, "CLEAR") {
				t.Errorf("%s: %s, want %s", name, says, want)
			}
		}
	}
}
