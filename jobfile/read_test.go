package jobfile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

func nop(context.Context, job.ShardingContext) error { return nil }

// options are those of a program with one handler, and no environment but the given one.
func options(env map[string]string) jobfile.Options {
	return jobfile.Options{
		Handlers:   map[string]job.Handler{"settle": job.HandlerFunc(nop)},
		Supervisor: script.Supervise(),
		LookupEnv:  func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	}
}

// write writes files into a folder, and returns their paths.
func write(t testing.TB, texts ...string) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, text := range texts {
		path := filepath.Join(dir, fmt.Sprintf("%d.yaml", i+1))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// memoryFile has a registry for trying out.
const memoryFile = "registry: {memory: {namespace: test}}\n"

// jobOf is a file with one job and what it has.
func jobOf(lines ...string) string {
	return memoryFile + "jobs:\n  settle:\n    implementation: settle\n    cron: 0 0 3 * * ?\n    shardingTotalCount: 3\n    " + strings.Join(lines, "\n    ") + "\n"
}

func read(t testing.TB, o jobfile.Options, texts ...string) *jobfile.File {
	t.Helper()
	f, err := jobfile.Read(o, write(t, texts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Each mistake says where it is, what is wrong, and what is allowed.
func TestMistakes(t *testing.T) {
	for name, tc := range map[string]struct {
		texts []string
		want  []string
	}{
		"unknown key":          {[]string{jobOf("shardingTotalCont: 3")}, []string{"1.yaml:7:5: jobs.settle.shardingTotalCont: unknown key; did you mean shardingTotalCount?"}},
		"unknown top":          {[]string{memoryFile + "job: {}"}, []string{"1.yaml:2:1: job: unknown key; did you mean jobs?"}},
		"far from all":         {[]string{"registry: {consul: {}}"}, []string{"1.yaml:1:12: registry.consul: unknown key; allowed are etcd, memory, zookeeper"}},
		"in a section":         {[]string{memoryFile + "dump: {lisen: x}"}, []string{"1.yaml:2:8: dump.lisen: unknown key; did you mean listen?"}},
		"in a profile":         {[]string{jobOf("description: x") + "profiles: {prod: {jobs: {settle: {crom: x}}}}"}, []string{"1.yaml:8:35: profiles.prod.jobs.settle.crom: unknown key; did you mean cron?"}},
		"keys of ElasticJob":   {[]string{jobOf("elasticJobClass: com.example.Settle", "streamingProcess: true")}, []string{"jobs.settle.elasticJobClass: unknown key; in a file it is implementation", "jobs.settle.streamingProcess: unknown key; in a file it is props: {streaming.process: …}"}},
		"swapped":              {[]string{jobOf("tiemout: 3s")}, []string{"did you mean timeout?"}},
		"letters":              {[]string{jobOf("Failover: true")}, []string{"did you mean failover?"}},
		"twice":                {[]string{jobOf("cron: '* * * * * ?'")}, []string{"1.yaml:7:5: jobs.settle.cron: the key stands in line 5 already"}},
		"job twice":            {[]string{memoryFile + "jobs:\n  a: {}\n  a: {}"}, []string{"1.yaml:4:3: jobs.a: the key stands in line 3 already"}},
		"no YAML":              {[]string{"jobs: {"}, []string{"1.yaml:1:8: YAML or JSON is allowed: did not find expected node content; a value is missing, or a [ or { is not closed"}},
		"short by a blank":     {[]string{jobOf("description: x") + "   timeout: 3s\n"}, []string{"1.yaml:8:4: YAML or JSON is allowed: did not find expected key; the indentation is not that of line 3"}},
		"an unquoted cron":     {[]string{memoryFile + "defaults: {cron: * 0/5 * * * ?}"}, []string{"1.yaml:2:18: YAML or JSON is allowed: did not find expected alphabetic or numeric character; a text that begins with * needs quotation marks"}},
		"a comma in braces":    {[]string{memoryFile + "jobs:\n  a: {cron: 0 0,30 3 * * ?, implementation: settle, shardingTotalCount: 1}"}, []string{`1.yaml:3:17: jobs.a.30 3 * * ?: unknown key; within braces a text with a comma in it needs quotation marks`}},
		"no mapping":           {[]string{"[1]"}, []string{"1.yaml:1:1: keys with values are allowed, here is a list"}},
		"two documents":        {[]string{"jobs: {}\n---\njobs: {}"}, []string{"one document is allowed"}},
		"too large":            {[]string{strings.Repeat("#", 9<<20)}, []string{"at most 8388608 are allowed"}},
		"aliases":              {[]string{bomb()}, []string{"at most 500000 values"}},
		"deep":                 {[]string{strings.Repeat("[", 100) + strings.Repeat("]", 100)}, []string{"a depth of 20"}},
		"merge key":            {[]string{"defaults: &x {cron: b}\njobs: {a: {<<: *x}}"}, []string{"2:12: jobs.a.<<: is not allowed; what jobs have in common stands in defaults"}},
		"no text":              {[]string{jobOf("description: [a]")}, []string{"1.yaml:7:18: jobs.settle.description: a single value is allowed, here is a list"}},
		"no list":              {[]string{jobOf("calendars: bank")}, []string{"a list is allowed, here is a single value"}},
		"no mapping of a job":  {[]string{memoryFile + "jobs: {a: x}"}, []string{"1.yaml:2:11: jobs.a: a mapping is allowed, here is a single value"}},
		"no integer":           {[]string{jobOf("threads: many")}, []string{`1.yaml:7:14: jobs.settle.threads: "many": an integer from 0 to 10000 is allowed`}},
		"an integer as a text": {[]string{jobOf("threads: '3'")}, []string{`an integer from 0 to 10000 is allowed, here is a text`}},
		"too large an integer": {[]string{jobOf("threads: 10001")}, []string{"an integer from 0 to 10000 is allowed"}},
		"no boolean":           {[]string{jobOf("failover: yes")}, []string{`jobs.settle.failover: "yes": true or false is allowed`}},
		"no time":              {[]string{jobOf("timeout: 30")}, []string{`jobs.settle.timeout: "30": a time such as 1m30s or 500ms is allowed`}},
		"no moment":            {[]string{jobOf("expiry: {at: tomorrow}")}, []string{"a time such as 2026-12-24T18:00:00Z or 2026-12-24T18:00:00+08:00 is allowed"}},
		"no word":              {[]string{jobOf("overlap: NEVER")}, []string{"WAIT or SKIP is allowed"}},
		"a negative time":      {[]string{jobOf("timeout: -5s")}, []string{`jobs.settle.timeout: "-5s": a time of at least 0s is allowed`}},
		"no session":           {[]string{"registry: {etcd: {endpoints: [a:1], namespace: n, sessionTimeout: 0s}}\njobs: {a: {enabled: false}}"}, []string{`registry.etcd.sessionTimeout: "0s": a time of at least 1ms is allowed`}},
		"not to be printed":    {[]string{jobOf(`"a\n\e[31m": x`)}, []string{`1.yaml:7:5: jobs.settle."a\n\x1b[31m": unknown key`}},
		"a tag":                {[]string{jobOf("description: !!binary aGk=")}, []string{"1.yaml:7:18: jobs.settle.description: values of type !!binary are not allowed"}},
		"cron":                 {[]string{memoryFile + "jobs: {settle: {implementation: settle, shardingTotalCount: 1}}\ndefaults: {cron: '0 0 25 * * ?'}\n", "jobs: {settle: {cron: null}}", "jobs: {settle: {cron: '0 0 25 * * ?'}}"}, []string{`3.yaml:1:23: jobs.settle.cron: cron expression "0 0 25 * * ?": hour "25" at position 5`}},
		"a field of ours":      {[]string{jobOf("retry:", "  initialBackoff: 1h", "  maxBackoff: 1s")}, []string{"1.yaml:9:19: jobs.settle.retry.maxBackoff: 1s: not less than"}},
		"two fields":           {[]string{jobOf("monitorExecution: false", "failover: true")}, []string{"1.yaml:8:15: jobs.settle.failover: true: needs monitorExecution"}},
		"a property of ours":   {[]string{jobOf("props: {revision: 3}")}, []string{"1.yaml:7:23: jobs.settle.props.revision: belongs to a field of the configuration; set that one: revision"}},
		"a property of a key":  {[]string{jobOf("props:", "  a: b", "  retry.attempts: '3'")}, []string{"1.yaml:9:23: jobs.settle.props.retry.attempts: belongs to a field of the configuration; set that one: retry.attempts"}},
		"nested properties":    {[]string{jobOf("script: {command: {line: /bin/true}}")}, []string{"1.yaml:7:5: jobs.settle.script: unknown key; properties stand in props, each with its whole name: props: {script.command.line: …}"}},
		"nested in props":      {[]string{jobOf("props: {script: {command: {line: /bin/true}}}")}, []string{"1.yaml:7:21: jobs.settle.props.script: a single value is allowed, here is a mapping; write the whole name: script.command.line: …"}},
		"a registry's key":     {[]string{jobOf("execution.timeout.seconds: 30")}, []string{"1.yaml:7:5: jobs.settle.execution.timeout.seconds: unknown key; in a file it is timeout"}},
		"a property as a key":  {[]string{jobOf("http.uri: x", "props.http.uri: x")}, []string{"1.yaml:7:5: jobs.settle.http.uri: unknown key; properties stand in props, each with its whole name: props: {http.uri: …}", "8:5: jobs.settle.props.http.uri: unknown key; properties stand in props, each with its whole name: props: {http.uri: …}"}},
		"a key one level up":   {[]string{jobOf("maxBackoff: 3s", "retry.attempts: 3") + "timeZone: UTC"}, []string{"did you mean retry: {maxBackoff: …}?", "did you mean retry: {attempts: …}?", "1.yaml:9:1: timeZone: unknown key; did you mean defaults: {timeZone: …}?"}},
		"a name":               {[]string{memoryFile + "jobs: {a/b: {implementation: settle, shardingTotalCount: 1}}"}, []string{`1.yaml:2:13: jobs.a/b: "a/b": 1 to 200 ASCII letters`}},
		"a missing field":      {[]string{memoryFile + "jobs: {a: {implementation: settle}}"}, []string{"1.yaml:2:11: jobs.a.shardingTotalCount: 0: 1 to 100000 are allowed"}},
		"no work":              {[]string{memoryFile + "jobs: {a: {shardingTotalCount: 1}}"}, []string{"1.yaml:2:11: jobs.a: either type or implementation is needed"}},
		"two works":            {[]string{jobOf("type: HTTP")}, []string{"either type or implementation is needed"}},
		"unknown type":         {[]string{memoryFile + "jobs: {a: {type: SCIRPT, shardingTotalCount: 1}}"}, []string{`1.yaml:2:18: jobs.a.type: "SCIRPT": this program has no such type; did you mean SCRIPT?`}},
		"unknown handler":      {[]string{memoryFile + "jobs: {a: {implementation: setle, shardingTotalCount: 1}}"}, []string{"no handler of this name; did you mean settle?"}},
		"two thread counts":    {[]string{jobOf("threads: 3", "jobExecutorThreadPoolSizeProviderType: CPU")}, []string{"one of them is allowed"}},
		"no registry":          {[]string{"jobs: {}"}, []string{"registry: one of etcd, zookeeper and memory is needed, here are 0", "at least one job is needed"}},
		"two registries":       {[]string{jobOf("description: x"), "registry: {etcd: {}}"}, []string{"here are 2; null removes that of an earlier file"}},
		"two addresses":        {[]string{jobOf("description: x"), "node: {address: a, network: 10.0.0.0/8}"}, []string{"2.yaml:1:7: node: address and network: one of them is allowed"}},
		"servers of ZooKeeper": {[]string{"registry: {zookeeper: {namespace: n, servers: ['a:2181,b:2181', 'a:2181/shop', a, 'a ', ':2181', 'zk://a', '::1:2181:x', '${env:A},b']}}\njobs: {a: {enabled: false}}"}, []string{
			`1.yaml:1:48: registry.zookeeper.servers[0]: is "a:2181,b:2181": each server is an item of the list; "host" and "host:port" are allowed`,
			`1.yaml:1:65: registry.zookeeper.servers[1]: is "a:2181/shop": Namespace has the path`, `servers[3]: is "a ": there is a blank`, `servers[4]: is ":2181": the host is missing`,
			`servers[5]: is "zk://a": ZooKeeper's addresses have no scheme`, `servers[6]: is "::1:2181:x": an IPv6 address`,
		}},
		"a server of a variable": {[]string{"registry: {zookeeper: {namespace: n, servers: ['${env:A},b']}}\njobs: {a: {enabled: false}}"}, []string{`servers[0]: is "x,b": each server is an item`}},
		"endpoints of etcd": {[]string{"registry: {etcd: {namespace: n, endpoints: [a, 'http://a:2379/shop', 'u:s3cret@a:1']}}\njobs: {a: {enabled: false}}"}, []string{
			`1.yaml:1:45: registry.etcd.endpoints[0]: is "a": the port is missing`, `endpoints[1]: is "http://a:2379/shop": Namespace has the path`, "endpoints[2]: has a user",
		}},
		"no certificate":        {[]string{"registry: {etcd: {endpoints: [a:1], namespace: a, tls: {ca: none.pem}}}\njobs: {a: {enabled: false}}"}, []string{"registry.etcd.tls: ca: open ", "none.pem: no such file"}},
		"a certificate alone":   {[]string{"registry: {zookeeper: {servers: [a], namespace: a, tls: {cert: a.pem}}}\njobs: {a: {enabled: false}}"}, []string{"registry.zookeeper.tls: cert and key: one of them is missing"}},
		"include and exclude":   {[]string{jobOf("description: x") + "tracing: {include: [a], exclude: [b]}"}, []string{"tracing: include and exclude: one of them is allowed"}},
		"a pattern":             {[]string{jobOf("description: x") + "tracing: {include: [ok, '[']}"}, []string{`1.yaml:8:25: tracing.include: "[": a pattern such as settle-* is allowed`}},
		"unknown sink":          {[]string{jobOf("description: x") + "metrics: {type: PROMETHEUS}"}, []string{`metrics.type: "PROMETHEUS": this program knows EXPVAR; package trace/prom/promfile has it`}},
		"dump for all":          {[]string{jobOf("description: x") + "dump: {listen: ':8080', line: '10.0.0.1:9888'}"}, []string{":8:16: dump.listen: \":8080\": other machines reach it: a token is needed, or 127.0.0.1", "dump.line: \"10.0.0.1:9888\": other machines"}},
		"dump with no token":    {[]string{jobOf("description: x") + "dump: {listen: ':8080', token: '${env:NONE:-}'}"}, []string{"a token is needed"}},
		"nowhere to listen":     {[]string{jobOf("description: x") + "dump: {}"}, []string{"dump: listen is needed"}},
		"a port out of range":   {[]string{jobOf("description: x") + "health: {listen: '127.0.0.1:99999'}"}, []string{`:8:18: health.listen: "127.0.0.1:99999": ports from 0 to 65535 are allowed`}},
		"a large port":          {[]string{jobOf("description: x") + "dump: {listen: '127.0.0.1:99999999999999999999', line: '127.0.0.1:'}"}, []string{`:8:16: dump.listen: "127.0.0.1:99999999999999999999": ports from 0`, `dump.line: "127.0.0.1:": ports from 0`}},
		"no port":               {[]string{jobOf("description: x") + "metrics: {type: EXPVAR, listen: '8080'}"}, []string{`metrics.listen: "8080": host:port is allowed, such as 127.0.0.1:8080`}},
		"listens for nothing":   {[]string{jobOf("description: x") + "tracing: {listen: 'x:1'}"}, []string{"tracing.listen: unknown key"}},
		"unknown variable":      {[]string{jobOf("jobParameter: a ${env:NONE}")}, []string{`1.yaml:7:19: jobs.settle.jobParameter: reference "${env:NONE}": this process has no such variable; ${env:NAME:-text} has a default`}},
		"unknown file":          {[]string{jobOf("jobParameter: ${file:none}")}, []string{"none: no such file"}},
		"unknown reference":     {[]string{jobOf("jobParameter: ${NONE}")}, []string{`reference "${NONE}" is not known; $${ stands for ${ itself`}},
		"a value that is wrong": {[]string{jobOf("threads: ${env:A}")}, []string{`jobs.settle.threads: "${env:A}": an integer from 0 to 10000 is allowed`}},
		"several files": {[]string{jobOf("a: 1", "b: 1"), "c: 1"}, []string{
			"1.yaml:7:5: jobs.settle.a: ", "1.yaml:8:5: jobs.settle.b: ", "2.yaml:1:1: c: ",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := jobfile.Read(options(map[string]string{"A": "x"}), write(t, tc.texts...)...)
			var e *jobfile.Error
			if !errors.Is(err, jobfile.ErrInvalid) || !errors.As(err, &e) {
				t.Fatalf("Read: %v", err)
			}
			text := err.Error()
			if len(e.Mistakes) != len(tc.want) && name != "no certificate" && name != "a missing field" {
				t.Errorf("%d mistakes, want %d", len(e.Mistakes), len(tc.want))
			}
			for _, want := range tc.want {
				i := strings.Index(text, want)
				if i < 0 {
					t.Fatalf("no %q in\n%s", want, err)
				}
				text = text[i:]
			}
			if len(err.Error()) > 20_000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}

// bomb is a small document that stands for a very large one.
func bomb() string {
	text := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		text += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), c-1)
	}
	return text
}

// A file with thousands of mistakes has an error of bounded length.
func TestManyMistakes(t *testing.T) {
	text := memoryFile + "jobs:\n"
	for i := range 300 {
		text += fmt.Sprintf("  %s%d: {no%d: 1}\n", strings.Repeat("x", 1000), i, i)
	}
	_, err := jobfile.Read(options(nil), write(t, text)...)
	var e *jobfile.Error
	if !errors.As(err, &e) || len(e.Mistakes) != jobfile.MaxMistakes || e.More != 300-jobfile.MaxMistakes || len(err.Error()) > 20_000 {
		t.Errorf("%d bytes: %.300v", len(err.Error()), err)
	}
}

// A large file is read in a moment, whatever is in it.
func TestLargeFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		head, line string
	}{
		"unknown keys": {jobOf("description: x"), "    unknown%d: x\n"},
		"jobs":         {memoryFile + "defaults: {implementation: settle, shardingTotalCount: 1}\njobs:\n", "  j%d: {}\n"},
		"properties":   {jobOf("props:"), "      p%d: x\n"},
		"wrong jobs":   {memoryFile + "jobs:\n", "  j%d: {x: {}}\n"},
		"profiles":     {jobOf("description: x") + "profiles:\n", "  p%d: {}\n"},
		"labels":       {jobOf("description: x") + "node:\n  labels:\n", "  - l%d\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString(tc.head)
			for i := 0; b.Len() < 1<<16; i++ {
				fmt.Fprintf(&b, tc.line, i)
			}
			began := time.Now()
			_, err := jobfile.Read(options(nil), write(t, b.String())...)
			if took := time.Since(began); took > 20*time.Second || len(fmt.Sprint(err)) > 20_000 {
				t.Errorf("%v, error of %d bytes", took, len(fmt.Sprint(err)))
			}
		})
	}
}

// Files, profiles and defaults come one over the other, as the package comment says.
func TestMerge(t *testing.T) {
	base := memoryFile + `
defaults: {shardingTotalCount: 2, timeout: 10s, retry: {attempts: 3}, props: {a: "1", b: "2"}}
jobs:
  one: {implementation: settle, cron: '0 0 3 * * ?', calendars: [bank, holidays], retry: {maxBackoff: 5s}, props: {b: "3"}}
  two: {implementation: settle, timeout: null, retry: null}
  three: {implementation: settle}
  four: {implementation: settle, enabled: false}
profiles:
  prod:
    defaults: {shardingTotalCount: 20}
    jobs: {one: {jobParameter: prod of 1}}
  test:
    jobs: {one: {calendars: [test]}, three: null}
`
	later := `
jobs: {one: {calendars: [later], jobParameter: later, shardingTotalCount: 5}}
profiles: {prod: {jobs: {one: {jobParameter: prod of 2}}}}
`
	configs := func(profiles ...string) map[string]job.Config {
		o := options(map[string]string{jobfile.EnvProfiles: strings.Join(profiles, " , ")})
		all := map[string]job.Config{}
		for _, c := range read(t, o, base, later).Jobs() {
			all[c.Name] = c
		}
		return all
	}
	one := job.Config{
		Name: "one", Cron: "0 0 3 * * ?", ShardingTotalCount: 5, Calendars: []string{"later"}, JobParameter: "later", Timeout: 10 * time.Second,
		Retry: job.Retry{Attempts: 3, MaxBackoff: 5 * time.Second}, Props: map[string]string{"a": "1", "b": "3"},
	}
	two := job.Config{Name: "two", ShardingTotalCount: 2, Props: map[string]string{"a": "1", "b": "2"}}
	three := job.Config{Name: "three", ShardingTotalCount: 2, Timeout: 10 * time.Second, Retry: job.Retry{Attempts: 3}, Props: map[string]string{"a": "1", "b": "2"}}
	if diff := cmp.Diff(map[string]job.Config{"one": one, "two": two, "three": three}, configs()); diff != "" {
		t.Error("no profile:", diff)
	}
	one.Calendars, one.JobParameter = []string{"test"}, "prod of 2"
	two.ShardingTotalCount = 20
	if diff := cmp.Diff(map[string]job.Config{"one": one, "two": two}, configs("prod", "test")); diff != "" {
		t.Error("both profiles:", diff)
	}
	if _, err := jobfile.Read(options(map[string]string{jobfile.EnvProfiles: "prd"}), write(t, base)...); err == nil || !strings.Contains(err.Error(), `the profile "prd" is chosen, and no file has it; did you mean prod?`) {
		t.Errorf("an unknown profile: %v", err)
	}
}

// References are expanded in values, but not in keys, and not in props.
func TestReferences(t *testing.T) {
	paths := write(t, jobOf("jobParameter: ${env:CITY} ${env:NONE:-none} $${env:CITY} ${file:secret}", "description: '${env:EMPTY:-empty}'",
		"threads: ${env:N}", "failover: '${env:YES}'", "timeout: ${env:N}s", "calendars: ['${env:CITY}']",
		"props: {a: '${env:SECRET}', '${b}': '$${x}', c: '${d}'}"))
	if err := os.WriteFile(filepath.Join(filepath.Dir(paths[0]), "secret"), []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := jobfile.Read(options(map[string]string{"CITY": "Beijing", "N": "7", "YES": "true", "EMPTY": ""}), paths...)
	if err != nil {
		t.Fatal(err)
	}
	want := job.Config{
		Name: "settle", Cron: "0 0 3 * * ?", ShardingTotalCount: 3, JobParameter: "Beijing none ${env:CITY} from a file", Description: "empty", Threads: 7, Failover: true,
		Timeout: 7 * time.Second, Calendars: []string{"Beijing"}, Props: map[string]string{"a": "${env:SECRET}", "${b}": "$${x}", "c": "${d}"},
	}
	if diff := cmp.Diff([]job.Config{want}, f.Jobs()); diff != "" {
		t.Error(diff)
	}
}

// full has a job with a value for every key, none of which is the default.
const full = `
registry: {etcd: {endpoints: [localhost:2379], namespace: test}}
jobs:
  settle:
    implementation: settle
    cron: 0 0 3 * * ?
    moreCrons: ['0 0 4 * * ?']
    timeZone: Asia/Shanghai
    calendars: [bank]
    jitter: 5s
    expiry: {at: "2027-12-24T18:00:00+08:00", ticks: 9, remove: true}
    overlap: SKIP
    shardingTotalCount: 3
    shardingItemParameters: 0=Beijing
    jobParameter: p
    description: d
    jobShardingStrategyType: STICKY
    staticSharding: true
    broadcast: true
    label: gpu
    maxItems: 3
    monitorExecution: false
    failover: true
    misfire: false
    misfireTolerance: 3s
    misfireWindow: 1h
    timeout: 1m
    retry: {attempts: 3, initialBackoff: 2s, maxBackoff: 10s}
    maxTimeDiffSeconds: 30
    reconcileIntervalMinutes: 5
    threads: 3
    jobErrorHandlerType: LOG,WEBHOOK
    jobListenerTypes: [REPORT]
    props: {a: b}
    disabled: true
    overwrite: true
    revision: 3
`

// Each field of a Config has a key, and is read from it.
func TestEveryFieldOfConfig(t *testing.T) {
	text := strings.NewReplacer("    monitorExecution: false\n", "    monitorExecution: true\n", "    broadcast: true\n", "", "    jitter: 5s\n", "    jitter: 5s\n").Replace(full)
	c := read(t, options(nil), text).Jobs()[0]
	c.Broadcast = true // which contradicts others; TestMerge has no need of it
	var walk func(reflect.Value, string)
	walk = func(v reflect.Value, path string) {
		for i := range v.NumField() {
			name := path + v.Type().Field(i).Name
			switch {
			case v.Field(i).Kind() == reflect.Struct && v.Field(i).Type() != reflect.TypeFor[time.Time]():
				walk(v.Field(i), name+".")
			case v.Field(i).IsZero():
				t.Errorf("%s has no key in a file", name)
			}
		}
	}
	walk(reflect.ValueOf(c), "")
	keys := jobfile.Keys()
	for key := range keys {
		last := key[strings.LastIndexByte(key, '.')+1:]
		if !strings.Contains(full, last+":") && key != "enabled" && key != "type" && key != "jobExecutorThreadPoolSizeProviderType" {
			t.Errorf("the key %s is not tried", key)
		}
	}
}

// What ElasticJob's documents have is read from a file as the registry's would be.
func TestElasticJobsKeys(t *testing.T) {
	const document = `
cron: 0/5 * * * * ?
description: d
disabled: true
failover: true
jobErrorHandlerType: THROW
jobExecutorThreadPoolSizeProviderType: SINGLE_THREAD
jobListenerTypes: [a, b]
jobParameter: p
jobShardingStrategyType: ODEVITY
label: gpu
maxTimeDiffSeconds: -1
misfire: false
monitorExecution: true
overwrite: true
props: {x: y}
reconcileIntervalMinutes: 0
shardingItemParameters: 0=a
shardingTotalCount: 3
staticSharding: true
timeZone: GMT+08:00
`
	want, err := jobtype.DecodeConfig([]byte("jobName: settle\n" + document))
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, options(nil), memoryFile+"jobs:\n  settle:\n    implementation: settle"+strings.ReplaceAll(document, "\n", "\n    "))
	if diff := cmp.Diff(want, got.Jobs()[0].WithDefaults()); diff != "" {
		t.Error(diff)
	}
}

// Each field of the adapters' configurations has a key, but for what is no text.
func TestEveryFieldOfTheAdapters(t *testing.T) {
	for name, text := range map[string]string{
		"etcd": `{etcd: {endpoints: [a:1], namespace: n, sessionTimeout: 1s, dialTimeout: 1s, requestTimeout: 1s, username: u, password: p, syncInterval: 1s, allowOldServers: true, tls: {}}}`,
		"zk":   `{zookeeper: {servers: [a], namespace: n, sessionTimeout: 1s, dialTimeout: 1s, requestTimeout: 1s, maxBackoff: 1s, digest: 'u:p', otherDigests: ['v:q'], grants: 'digest:r:zhz8FhBTPXY6pqhp1sD9BPwXNxE=:r', tls: {serverName: x}}}`,
	} {
		v := reflect.ValueOf(read(t, options(nil), "registry: "+text+"\njobs: {a: {enabled: false}}").Adapter())
		for i := range v.NumField() {
			if field := v.Type().Field(i).Name; v.Field(i).IsZero() && field != "TLS" && field != "Logger" && field != "Slog" {
				t.Errorf("%s: %s has no key", name, field)
			}
		}
	}
	f := read(t, options(nil), memoryFile+`jobs: {a: {enabled: false}}
node: {address: a, labels: [a], weight: 2, threads: 3, drain: 1s, cancelGrace: 2s, earlyClaims: 3s, listenerTimeout: 1s, serve: true}`)
	if diff := cmp.Diff([]string{"network"}, f.Unset()); diff != "" {
		t.Error(diff)
	}
}
