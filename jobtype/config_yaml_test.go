package jobtype_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// A document as ElasticJob 3.0.5 writes it into ZooKeeper.
const document3 = `cron: 28 14/1 * * * ?
description: ''
disabled: false
failover: true
jobName: demoJob
jobParameter: ''
maxTimeDiffSeconds: -1
misfire: true
monitorExecution: true
overwrite: true
reconcileIntervalMinutes: 10
shardingItemParameters: 0=Beijing,1=Shanghai,2=Guangzhou
shardingTotalCount: 3
staticSharding: false
`

// A document with all keys that ElasticJob 3.0.5 may write, and others.
const document3Full = `cron: '* * * * * ?'
description: 'it''s: # fine'
disabled: true
failover: false
futureKey:
  b: [1, 2]
  a: &x 1
jobErrorHandlerType: IGNORE
jobExecutorThreadPoolSizeProviderType: SINGLE_THREAD
jobExtraConfigurations:
- !!org.apache.shardingsphere.elasticjob.tracing.yaml.YamlTracingConfiguration
  tracingStorageConfiguration: !!org.example.Storage
    url: jdbc:h2:mem:x
  type: RDB
jobListenerTypes:
- first
- second
jobName: demoJob
jobParameter: 'yes'
jobShardingStrategyType: AVG_ALLOCATION
label: gpu
maxTimeDiffSeconds: 60
misfire: false
monitorExecution: false
overwrite: false
props:
  http.connect.timeout.milliseconds: 3000
  http.uri: http://h/
  misfire.tolerance.milliseconds: '2000'
  streaming.process: 'true'
reconcileIntervalMinutes: 0
shardingItemParameters: 0=a
shardingTotalCount: 1
staticSharding: true
timeZone: GMT+08:00
`

// A document as elastic-job 2.1.5 writes it.
const document2 = `{"jobName":"demoJob","jobClass":"org.example.DemoJob","jobType":"DATAFLOW","cron":"0/10 * * * * ?","shardingTotalCount":2,` +
	`"shardingItemParameters":"0\u003dA","jobParameter":"p","failover":true,"misfire":false,"description":"",` +
	`"jobProperties":{"job_exception_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler",` +
	`"executor_service_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"},` +
	`"streamingProcess":true,"monitorExecution":true,"maxTimeDiffSeconds":-1,"monitorPort":-1,` +
	`"jobShardingStrategyClass":"com.dangdang.ddframe.job.lite.api.strategy.impl.OdevitySortByNameJobShardingStrategy",` +
	`"reconcileIntervalMinutes":10,"disabled":false,"overwrite":false}`

func TestDecodeConfig(t *testing.T) {
	for _, tc := range []struct {
		name, document string
		want           jobtype.Config
	}{
		{"3.x", document3, jobtype.Config{
			Name: "demoJob", Cron: "28 14/1 * * * ?", ShardingTotalCount: 3, Failover: true, Overwrite: true,
			ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou",
		}},
		{"3.x with everything", document3Full, jobtype.Config{
			Name: "demoJob", Cron: "* * * * * ?", TimeZone: "GMT+08:00", ShardingTotalCount: 1, ShardingItemParameters: "0=a",
			JobParameter: "yes", Description: "it's: # fine", MonitorExecution: jobtype.Off, Misfire: jobtype.Off,
			MisfireTolerance: 2 * time.Second, MaxTimeDiff: time.Minute, ReconcileInterval: -1, Threads: 1, ErrorHandler: "IGNORE",
			Listeners: []string{"first", "second"}, Disabled: true, StaticSharding: true, Label: "gpu",
			Props: map[string]string{"http.uri": "http://h/", "streaming.process": "true", "http.connect.timeout.milliseconds": "3000"},
		}},
		{"2.1", document2, jobtype.Config{
			Name: "demoJob", Cron: "0/10 * * * * ?", ShardingTotalCount: 2, ShardingItemParameters: "0=A", JobParameter: "p",
			Failover: true, Misfire: jobtype.Off, Strategy: "ODEVITY", Props: map[string]string{"streaming.process": "true"},
		}},
		{"2.1 with classes of one's own", `{"jobName":"j","shardingTotalCount":1,"jobType":"SCRIPT","scriptCommandLine":"echo hello",
			"jobShardingStrategyClass":"org.example.Mine","jobProperties":{"job_exception_handler":"org.example.Handler","executor_service_handler":"org.example.Pool"}}`,
			jobtype.Config{Name: "j", ShardingTotalCount: 1, Strategy: "org.example.Mine", ErrorHandler: "org.example.Handler", Props: map[string]string{"script.command.line": "echo hello"}}},
		{"2.1 without any", `{"jobName":"j","shardingTotalCount":1,"jobShardingStrategyClass":"","jobProperties":{},"monitorPort":9888}`,
			jobtype.Config{Name: "j", ShardingTotalCount: 1}},
		{"ours in props", `
jobName: j
shardingTotalCount: 1
props:
  misfire.window.seconds: '60'
  execution.timeout.seconds: 5
  retry.attempts: '3'
  retry.backoff.initial.milliseconds: '0'
  retry.backoff.max.milliseconds: '2000'
  executor.threads: '7'
  revision: '12'
`, jobtype.Config{
			Name: "j", ShardingTotalCount: 1, MisfireWindow: time.Minute, Timeout: 5 * time.Second, Threads: 7, Revision: 12,
			Retry: jobtype.Retry{Attempts: 3, InitialBackoff: -1, MaxBackoff: 2 * time.Second},
		}},
		{"name of the thread pool before 3.0.5", "jobName: j\nshardingTotalCount: 1\njobExecutorServiceHandlerType: SINGLE_THREAD\n",
			jobtype.Config{Name: "j", ShardingTotalCount: 1, Threads: 1}},
		{"threads go before the pool", "jobName: j\nshardingTotalCount: 1\njobExecutorThreadPoolSizeProviderType: SINGLE_THREAD\nprops: {executor.threads: 4}\n",
			jobtype.Config{Name: "j", ShardingTotalCount: 1, Threads: 4}},
		{"the empty key is not the pool's", "jobName: j\nshardingTotalCount: 1\n'': SINGLE_THREAD\n",
			jobtype.Config{Name: "j", ShardingTotalCount: 1}},
		{"no difference of clocks", "jobName: j\nshardingTotalCount: 1\nmaxTimeDiffSeconds: 0\n",
			jobtype.Config{Name: "j", ShardingTotalCount: 1}},
		{"CPU", "jobName: j\nshardingTotalCount: 1\njobExecutorThreadPoolSizeProviderType: CPU\n",
			jobtype.Config{Name: "j", ShardingTotalCount: 1}},
		{"written by hand", "---\n# ours\njobName: \"j\" # name\nshardingTotalCount: '2'\nmisfire: No\nfailover: YES\nmaxTimeDiffSeconds: -7\nreconcileIntervalMinutes: -1\njobParameter: 0x10\n",
			jobtype.Config{Name: "j", ShardingTotalCount: 2, Misfire: jobtype.Off, Failover: true, ReconcileInterval: -1, JobParameter: "0x10"}},
		{"with aliases", "jobName: &n j\nshardingTotalCount: &one 1\ndescription: *n\nprops: &p {k: *n}\nother: *p\n",
			jobtype.Config{Name: "j", ShardingTotalCount: 1, Description: "j", Props: map[string]string{"k": "j"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := jobtype.DecodeConfig([]byte(tc.document))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want.WithDefaults(), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeFaults(t *testing.T) {
	for _, tc := range []struct {
		name, document string
		fields         string
		says           string
	}{
		{"empty", "", "config", "empty"},
		{"comment only", "# nothing\n", "config", "empty"},
		{"text", "hello", "config", "keys with values are allowed, line 1"},
		{"list", "[1, 2]", "config", "keys with values"},
		{"no YAML", "a: b: c", "config", "YAML or JSON"},
		{"binary", "\x00\x01\xff", "config", "YAML or JSON"},
		{"two documents", "jobName: j\nshardingTotalCount: 1\n---\njobName: k\n", "config", "more follows"},
		{"rubbish after it", "{jobName: j, shardingTotalCount: 1}\n}\n", "config", "more follows"},
		{"key twice", "jobName: j\nshardingTotalCount: 1\njobName: k\n", "config", `line 3 has the key "jobName" again`},
		{"key that is a list", "? [a]\n: b\n", "config", "no single value"},
		{"null", "~", "jobName shardingTotalCount", "1 to 100000"},
		{"nothing that is needed", "cron: '* * * * * ?'", "jobName shardingTotalCount", "1 to 100000"},
		{"values of the wrong kind", "jobName: j\nshardingTotalCount: three\nmisfire: maybe\nfailover: {a: b}\nmaxTimeDiffSeconds: 1s\nreconcileIntervalMinutes: 1.5\ncron: [a]\n",
			"cron failover maxTimeDiffSeconds misfire reconcileIntervalMinutes shardingTotalCount", `shardingTotalCount "three": an integer is allowed`},
		{"too many", "jobName: j\nshardingTotalCount: 99999999999\nreconcileIntervalMinutes: 999999999999\n", "reconcileIntervalMinutes shardingTotalCount", "0 for none"},
		{"not a number of seconds", "jobName: j\nshardingTotalCount: 1\nmaxTimeDiffSeconds: soon\n", "maxTimeDiffSeconds", "-1 for none"},
		{"list of lists", "jobName: j\nshardingTotalCount: 1\njobListenerTypes: [[a]]\n", "jobListenerTypes", "list of names"},
		{"null in a list", "jobName: j\nshardingTotalCount: 1\njobListenerTypes: [a, ~]\n", "jobListenerTypes", "list of names"},
		{"no list", "jobName: j\nshardingTotalCount: 1\njobListenerTypes: a\n", "jobListenerTypes", "list of names"},
		{"props that are a list", "jobName: j\nshardingTotalCount: 1\nprops: [a]\n", "props", "line 3"},
		{"nested props", "jobName: j\nshardingTotalCount: 1\nprops: {b: {c: d}, a: [1]}\n", "props: a props: b", "single value"},
		{"ours in props", "jobName: j\nshardingTotalCount: 1\nprops: {retry.attempts: many, misfire.tolerance.milliseconds: 0, executor.threads: -1}\n",
			"props: misfire.tolerance.milliseconds props: retry.attempts props: executor.threads", `props: retry.attempts "many"`},
		{"revision", "jobName: j\nshardingTotalCount: 1\nprops: {revision: '2.1'}\n", "props: revision", `props: revision "2.1": an integer is allowed`},
		{"thread pool", "jobName: j\nshardingTotalCount: 1\njobExecutorThreadPoolSizeProviderType: MINE\n", "jobExecutorThreadPoolSizeProviderType", "CPU and SINGLE_THREAD are allowed"},
		{"2.1", `{"jobName":"j","shardingTotalCount":1,"jobProperties":"x","jobShardingStrategyClass":[]}`, "jobShardingStrategyClass jobProperties", "single value"},
		{"what Validate finds", "jobName: j\nshardingTotalCount: 1\nfailover: true\nmonitorExecution: false\n", "failover", "needs monitorExecution"},
		{"alias of itself", "jobName: &a [*a]\nshardingTotalCount: 1\n", "jobName", "single value"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := jobtype.DecodeConfig([]byte(tc.document))
			var all *jobtype.ConfigError
			if !errors.Is(err, jobtype.ErrInvalidConfig) || !errors.As(err, &all) {
				t.Fatalf("got %v", err)
			}
			var fields []string
			for _, fault := range all.Faults {
				fields = append(fields, fault.Field)
			}
			if got := strings.Join(fields, " "); got != tc.fields {
				t.Errorf("got faults of %s, want %s", got, tc.fields)
			}
			if !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%q does not say %s", err, tc.says)
			}
		})
	}
}

func TestStrategyClassesOfOldDocuments(t *testing.T) {
	for class, want := range map[string]string{
		"AverageAllocationJobShardingStrategy":  "AVG_ALLOCATION",
		"OdevitySortByNameJobShardingStrategy":  "ODEVITY",
		"RotateServerByNameJobShardingStrategy": "ROUND_ROBIN",
	} {
		document := fmt.Sprintf(`{"jobName":"j","shardingTotalCount":1,"jobShardingStrategyClass":"com.dangdang.ddframe.job.lite.api.strategy.impl.%s"}`, class)
		if c, err := jobtype.DecodeConfig([]byte(document)); err != nil || c.Strategy != want {
			t.Errorf("%s: got %s, %v", class, c.Strategy, err)
		}
	}
}

// If one field cannot be read, the others can.
func TestDecodeKeepsWhatIsGood(t *testing.T) {
	c, err := jobtype.DecodeConfig([]byte("jobName: j\nshardingTotalCount: three\ncron: '* * * * * ?'\nmisfire: false\n"))
	if err == nil || c.Name != "j" || c.Cron != "* * * * * ?" || c.Misfire != jobtype.Off {
		t.Errorf("got %+v, %v", c, err)
	}
}

// If nothing changes, a document stays the same, byte for byte.
func TestEncodeChangesNothing(t *testing.T) {
	for name, document := range map[string]string{
		"3.x":                 document3,
		"3.x with everything": document3Full,
		"by hand":             "# ours\n" + strings.Replace(strings.Replace(document3, "jobName", "jobListenerTypes: []\njobName", 1), "misfire: true", "misfire: Yes", 1),
	} {
		c, err := jobtype.DecodeConfig([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Encode([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(document, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Encode writes the same document as ElasticJob does for the same configuration.
func TestEncodeWritesAsElasticJobDoes(t *testing.T) {
	got, err := jobtype.Config{
		Name: "demoJob", Cron: "28 14/1 * * * ?", ShardingTotalCount: 3, Failover: true, Overwrite: true,
		ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou",
	}.Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(document3, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEncodeEverything(t *testing.T) {
	got, err := jobtype.Config{
		Name: "demoJob", Cron: "* * * * * ?", TimeZone: "Asia/Shanghai", ShardingTotalCount: 1, JobParameter: "3", Description: "two\nlines",
		MonitorExecution: jobtype.Off, Misfire: jobtype.Off, MisfireTolerance: 2 * time.Second, MisfireWindow: time.Hour, MaxTimeDiff: time.Minute,
		ReconcileInterval: -1, Strategy: "STICKY", Threads: 1, ErrorHandler: "IGNORE", Listeners: []string{"a", "b"}, Timeout: time.Minute,
		Retry: jobtype.Retry{Attempts: 2, InitialBackoff: -1, MaxBackoff: time.Second}, Props: map[string]string{"on": "on", "a": "1"}, Revision: 12, Label: "gpu",
	}.Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `cron: '* * * * * ?'
description: "two\nlines"
disabled: false
failover: false
jobErrorHandlerType: IGNORE
jobListenerTypes:
- a
- b
jobName: demoJob
jobParameter: '3'
jobShardingStrategyType: STICKY
label: gpu
maxTimeDiffSeconds: 60
misfire: false
monitorExecution: false
overwrite: false
props:
  a: '1'
  execution.timeout.seconds: '60'
  executor.threads: '1'
  misfire.tolerance.milliseconds: '2000'
  misfire.window.seconds: '3600'
  'on': 'on'
  retry.attempts: '2'
  retry.backoff.initial.milliseconds: '0'
  retry.backoff.max.milliseconds: '1000'
  revision: '12'
reconcileIntervalMinutes: 0
shardingItemParameters: ''
shardingTotalCount: 1
staticSharding: false
timeZone: Asia/Shanghai
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A change of one field leaves what the rest of the document says.
func TestEncodeKeepsTheRest(t *testing.T) {
	previous := "futureKey: {b: 1, a: [x]} # kept\nshardingTotalCount: 3\njobName: j\nmisfire: No\ncron: '* * * * * ?'\nprops: {mine: 3000, theirs: old}\n" +
		"jobExtraConfigurations:\n- !!org.example.Tracing {password: secret}\nlabel: gpu\n"
	c, err := jobtype.DecodeConfig([]byte(previous))
	if err != nil {
		t.Fatal(err)
	}
	c.Cron = "0 * * * * ?"
	c.Props["theirs"] = "new"
	c.Label = ""
	c.Timeout = time.Minute
	got, err := c.Encode([]byte(previous))
	if err != nil {
		t.Fatal(err)
	}
	const want = `cron: 0 * * * * ?
description: ''
disabled: false
failover: false
futureKey:
  b: 1
  a:
  - x
jobExtraConfigurations:
- !!org.example.Tracing
  password: secret
jobName: j
jobParameter: ''
maxTimeDiffSeconds: -1
misfire: false
monitorExecution: true
overwrite: false
props:
  execution.timeout.seconds: '60'
  mine: '3000'
  theirs: new
reconcileIntervalMinutes: 10
shardingItemParameters: ''
shardingTotalCount: 3
staticSharding: false
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The thread pool has two names. Only the previous document tells which one readers know.
func TestEncodeThreads(t *testing.T) {
	const head = "jobName: j\nshardingTotalCount: 1\n"
	for _, tc := range []struct {
		name, previous string
		threads        int
		want           map[string]string // the values of the three keys
	}{
		{"default", "", 0, nil},
		{"below the empty key", "'': SINGLE_THREAD\n", 5, map[string]string{"executor.threads": "5"}},
		{"number", "", 5, map[string]string{"executor.threads": "5"}},
		{"one", "", 1, map[string]string{"executor.threads": "1"}},
		{"unchanged", "jobExecutorServiceHandlerType: CPU\n", 0, map[string]string{"jobExecutorServiceHandlerType": "CPU"}},
		{"unchanged number", "jobExecutorServiceHandlerType: CPU\nprops: {executor.threads: 1}\n", 1, map[string]string{"jobExecutorServiceHandlerType": "CPU", "executor.threads": "1"}},
		{"old name, to one", "jobExecutorServiceHandlerType: CPU\n", 1, map[string]string{"jobExecutorServiceHandlerType": "SINGLE_THREAD"}},
		{"new name, to one", "jobExecutorThreadPoolSizeProviderType: CPU\n", 1, map[string]string{"jobExecutorThreadPoolSizeProviderType": "SINGLE_THREAD"}},
		{"to the default", "jobExecutorThreadPoolSizeProviderType: SINGLE_THREAD\nprops: {executor.threads: 9}\n", 0, map[string]string{"jobExecutorThreadPoolSizeProviderType": "CPU"}},
		{"to a number", "jobExecutorThreadPoolSizeProviderType: SINGLE_THREAD\n", 9, map[string]string{"jobExecutorThreadPoolSizeProviderType": "SINGLE_THREAD", "executor.threads": "9"}},
		{"from what cannot be read", "jobExecutorThreadPoolSizeProviderType: MINE\n", 9, map[string]string{"executor.threads": "9"}},
		{"from what cannot be read, to the default", "jobExecutorThreadPoolSizeProviderType: MINE\n", 0, map[string]string{"jobExecutorThreadPoolSizeProviderType": "CPU"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			document, err := jobtype.Config{Name: "j", ShardingTotalCount: 1, Threads: tc.threads}.Encode([]byte(head + tc.previous))
			if err != nil {
				t.Fatal(err)
			}
			var written struct {
				New   *string `yaml:"jobExecutorThreadPoolSizeProviderType"`
				Old   *string `yaml:"jobExecutorServiceHandlerType"`
				Props map[string]string
			}
			if err := yaml.Unmarshal(document, &written); err != nil {
				t.Fatal(err)
			}
			got := written.Props
			for key, value := range map[string]*string{"jobExecutorThreadPoolSizeProviderType": written.New, "jobExecutorServiceHandlerType": written.Old} {
				if value != nil {
					if got == nil {
						got = map[string]string{}
					}
					got[key] = *value
				}
			}
			if !maps.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
			if back, err := jobtype.DecodeConfig(document); err != nil || back.Threads != tc.threads {
				t.Errorf("read as %d, %v", back.Threads, err)
			}
		})
	}
}

// A document of 2.1 becomes one that 3.0.x can read, which refuses unknown keys.
func TestEncodeTurnsOldDocumentsIntoNewOnes(t *testing.T) {
	c, err := jobtype.DecodeConfig([]byte(document2))
	if err != nil {
		t.Fatal(err)
	}
	document, err := c.Encode([]byte(document2))
	if err != nil {
		t.Fatal(err)
	}
	got := keys(t, document)
	want := []string{
		"cron", "description", "disabled", "failover", "jobName", "jobParameter", "jobShardingStrategyType", "maxTimeDiffSeconds", "misfire",
		"monitorExecution", "overwrite", "props", "reconcileIntervalMinutes", "shardingItemParameters", "shardingTotalCount", "staticSharding",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	back, err := jobtype.DecodeConfig(document)
	if err != nil || !cmp.Equal(back, c) {
		t.Errorf("read as %+v, %v", back, err)
	}
}

func TestEncodeOverWhatCannotBeRead(t *testing.T) {
	if _, err := inForce().Encode([]byte("a: b: c")); err == nil || !strings.Contains(err.Error(), `"settle"`) {
		t.Errorf("got %v", err)
	}
	// A value that has a fault is replaced, and the fault is gone.
	document, err := inForce().Encode([]byte("shardingTotalCount: three\nprops: [a]\njobListenerTypes: x\nmisfire: maybe\nother: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := jobtype.DecodeConfig(document); err != nil || !c.Equal(inForce()) || !slices.Contains(keys(t, document), "other") {
		t.Errorf("got %s, %v", document, err)
	}
}

// Aliases can make a small document a very large one.
func TestEncodeBoundsAliases(t *testing.T) {
	bomb := "x0: &x0 [a]\n"
	for i := range 30 {
		bomb += fmt.Sprintf("x%d: &x%d [*x%d, *x%d]\n", i+1, i+1, i, i)
	}
	if _, err := inForce().Encode([]byte(bomb)); err == nil || !strings.Contains(err.Error(), "aliases") {
		t.Errorf("got %v", err)
	}
	if _, err := inForce().Encode([]byte("x: &x [*x]\n")); err == nil || !strings.Contains(err.Error(), "aliases") {
		t.Errorf("alias of itself: got %v", err)
	}
}

// keys returns the keys of a document, in the order in which they are written.
func keys(t interface {
	Helper()
	Fatal(...any)
}, document []byte) []string {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for i := 0; i < len(root.Content[0].Content); i += 2 {
		keys = append(keys, root.Content[0].Content[i].Value)
	}
	return keys
}

// anyConfig draws valid configurations.
func anyConfig() *rapid.Generator[jobtype.Config] {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~\n\t]*`), rapid.SampledFrom([]string{
		"", "~", "null", "yes", "on", "012", "0x1f", "1_000", "12:30", "1e3", "2001-01-01", "=", "<<", "- a", "? a", "a: b", "a #b", "'", `"`, "|", " a", "a ", "\n", " \n a\n", "a\n\n", "\t", "\u0085", "\u2028", "\ufeff", "\x00", "\x7f",
		"\r", "a\rb", "a\r\n", "\u2029", "\ufffe", "\U0010ffff", "\t\n\ta", "# a", "&a", "*a", "!a", "%a", "@a", "`a", "...", "---", "{", "[", ",", "props: a", strings.Repeat("x", 2000), strings.Repeat("x y ", 500),
	}))
	name := text.Filter(func(s string) bool { return len(s) <= 255 })
	handler := name.Filter(func(s string) bool { return len(s) < 80 && strings.TrimSpace(s) != "" && !strings.Contains(s, ",") })
	join := func(names []string) string { return strings.Join(names, ",") }
	toggle := rapid.SampledFrom([]jobtype.Toggle{0, jobtype.On, jobtype.Off})
	units := func(unit time.Duration, off bool) *rapid.Generator[time.Duration] {
		least := 0
		if off {
			least = -1
		}
		return rapid.Map(rapid.IntRange(least, 1<<20), func(n int) time.Duration { return time.Duration(n) * unit })
	}
	return rapid.Custom(func(t *rapid.T) jobtype.Config {
		c := jobtype.Config{
			Name:               rapid.StringMatching(`[A-Za-z0-9_:-]{1,200}`).Draw(t, "name"),
			Cron:               rapid.SampledFrom([]string{"", "* * * * * ?", "0/5 * * * * ?", "0 0 12 ? * 2#1 2030"}).Draw(t, "cron"),
			TimeZone:           rapid.SampledFrom([]string{"", "UTC", "GMT+08:00"}).Draw(t, "zone"),
			ShardingTotalCount: rapid.IntRange(1, jobtype.MaxShardingTotalCount).Draw(t, "total"),
			JobParameter:       text.Draw(t, "parameter"),
			Description:        text.Draw(t, "description"),
			MonitorExecution:   toggle.Draw(t, "monitor"),
			Misfire:            toggle.Draw(t, "misfire"),
			MisfireTolerance:   units(time.Millisecond, false).Draw(t, "tolerance"),
			MisfireWindow:      units(time.Second, false).Draw(t, "window"),
			MaxTimeDiff:        units(time.Second, true).Draw(t, "difference"),
			ReconcileInterval:  units(time.Minute, true).Draw(t, "reconcile"),
			Strategy:           name.Draw(t, "strategy"),
			Threads:            rapid.IntRange(0, jobtype.MaxThreads).Draw(t, "threads"),
			MaxItems:           rapid.IntRange(0, jobtype.MaxShardingTotalCount).Draw(t, "max items"),
			ErrorHandler:       rapid.OneOf(handler, rapid.Map(rapid.SliceOfNDistinct(handler, 1, 3, strings.TrimSpace), join)).Draw(t, "handler"),
			Listeners:          rapid.SliceOfNDistinct(name.Filter(func(s string) bool { return s != "" }), 0, 3, rapid.ID).Draw(t, "listeners"),
			Timeout:            units(time.Second, false).Draw(t, "timeout"),
			Retry: jobtype.Retry{
				Attempts:       rapid.IntRange(0, jobtype.MaxRetryAttempts).Draw(t, "attempts"),
				InitialBackoff: units(time.Millisecond, true).Draw(t, "initial"),
			},
			Props:          rapid.MapOfN(text.Filter(func(s string) bool { return s != "" }), text, 0, 4).Draw(t, "props"),
			Disabled:       rapid.Bool().Draw(t, "disabled"),
			Overwrite:      rapid.Bool().Draw(t, "overwrite"),
			Revision:       rapid.IntRange(0, jobtype.MaxRevision).Draw(t, "revision"),
			StaticSharding: rapid.Bool().Draw(t, "static"),
			Label:          strings.TrimSpace(strings.ReplaceAll(name.Draw(t, "label"), ",", "")),
		}
		if c.Cron != "" {
			c.MoreCrons = rapid.SliceOfN(rapid.SampledFrom([]string{"* * * * * ?", "@hourly", "0 0 12 ? * 2#1 2030"}), 0, 3).Draw(t, "more")
			c.Calendars = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"holidays", "a:b", "x.y_z-1", "0"}), 0, 3, rapid.ID[string]).Draw(t, "calendars")
		}
		if c.MonitorExecution != jobtype.Off {
			c.Jitter = rapid.SampledFrom([]time.Duration{0, time.Millisecond, jobtype.MaxJitter}).Draw(t, "jitter")
		}
		c.Expiry.At = rapid.SampledFrom([]time.Time{{}, time.Unix(0, 0), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(2026, 11, 22, 9, 0, 0, 0, time.FixedZone("", -3*3600))}).Draw(t, "expires at")
		if c.Cron != "" {
			c.Expiry.Ticks = rapid.IntRange(0, jobtype.MaxExpiryTicks).Draw(t, "expiry ticks")
		}
		c.Expiry.Remove = c.MonitorExecution != jobtype.Off && (c.Cron != "" || !c.Expiry.At.IsZero()) && rapid.Bool().Draw(t, "expiry remove")
		c.Overlap = rapid.SampledFrom([]jobtype.Overlap{"", jobtype.OverlapWait, jobtype.OverlapSkip}).Draw(t, "overlap")
		c.Failover = c.MonitorExecution != jobtype.Off && rapid.Bool().Draw(t, "failover")
		if rapid.IntRange(0, 4).Draw(t, "broadcast") == 0 {
			c.Broadcast, c.Failover, c.StaticSharding, c.MaxItems = true, false, false, 0
		}
		c.ShardingItemParameters = jobtype.FormatItemParameters(rapid.MapOfN(rapid.IntRange(0, c.ShardingTotalCount-1), text, 0, 3).Draw(t, "parameters"))
		if rapid.Bool().Draw(t, "bounded backoff") {
			c.Retry.MaxBackoff = max(c.Retry.InitialBackoff, time.Second) + units(time.Millisecond, false).Draw(t, "max")
		}
		return c
	})
}

// anyDocument draws documents with unknown keys, written in different ways.
func anyDocument() *rapid.Generator[string] {
	keys := rapid.SampledFrom([]string{"''", "x", "? |\n  two\n  lines\n", "~", "1", "!!binary aGk=", "\"a\\nb\"", "<<", "=", "props", "jobListenerTypes", strings.Repeat("k", 500)})
	values := rapid.SampledFrom([]string{
		"SINGLE_THREAD", "|\n  \ta\n  b", "|+\n  a\n\n", "|2-\n    a\n   b", ">\n  a\n\n    b", "\n  - |\n    \ta\n  - >-\n    b", "!<tag:x,2000:y> a", "!x [a]", "!!float a",
		"!!int 'a'", "!!null a", "!!set {a, b}", "{a: [b, {c: d}], ? [e] : f}", "'a\n\n  b'", "\"\\x00\\u2028\"", "[]", "{}", "", "~", "[&y a, *y]", "2001-01-01", "a\n  b", "|\n  \u0085a\n", "|\n  \ufeffa\n", "# a\n  b # c",
	})
	return rapid.Custom(func(t *rapid.T) string {
		document := ""
		for _, key := range rapid.SliceOfNDistinct(keys, 0, 4, rapid.ID).Draw(t, "keys") {
			if !strings.HasPrefix(key, "?") {
				key += " "
			}
			document += key + ": " + values.Draw(t, "value") + "\n"
		}
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(document), &root); err != nil {
			return "" // the keys that were drawn contradict each other
		}
		return document
	})
}

// foreignValues returns the values of the unknown keys of anyDocument, in a form that does
// not depend on how they are written.
func foreignValues(t interface {
	Helper()
	Fatal(...any)
}, document []byte) map[string]string {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	if len(root.Content) == 0 || root.Content[0].Kind != yaml.MappingNode {
		return values
	}
	for i := 0; i < len(root.Content[0].Content); i += 2 {
		switch key := root.Content[0].Content[i].Value; key {
		case "", "x", "two\nlines\n", "~", "1", "aGk=", "a\nb", "<<", "=":
			values[key] = meaning(root.Content[0].Content[i+1])
		}
	}
	return values
}

func meaning(n *yaml.Node) string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.ShortTag() == "!!null" {
		return "null"
	}
	text := fmt.Sprintf("%d %s %q", n.Kind, n.ShortTag(), n.Value)
	for _, child := range n.Content {
		text += " (" + meaning(child) + ")"
	}
	return text
}

func TestConfigRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyConfig().Draw(t, "config")
		if err := want.Validate(); err != nil {
			t.Fatal(err)
		}
		// It is written over nothing, over another document, and over itself.
		another, err := anyConfig().Draw(t, "previous").Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		document := []byte(nil)
		foreign := []byte(anyDocument().Draw(t, "foreign"))
		for _, previous := range [][]byte{nil, another, []byte(document3Full), []byte(document2), foreign} {
			if document, err = want.Encode(previous); err != nil {
				t.Fatal(err)
			}
			got, err := jobtype.DecodeConfig(document)
			if err != nil {
				t.Fatalf("%s\n%v", document, err)
			}
			if diff := cmp.Diff(want.WithDefaults(), got); diff != "" {
				t.Fatalf("%s\n(-want +got):\n%s", document, diff)
			}
			again, err := got.Encode(document)
			if err != nil || string(again) != string(document) {
				t.Fatalf("%s\nis written again as\n%s, %v", document, again, err)
			}
			for key, value := range foreignValues(t, previous) {
				if got := foreignValues(t, document)[key]; got != value {
					t.Fatalf("%s\nbecomes\n%s\nwhich has %s for %q, not %s", previous, document, got, key, value)
				}
			}
			if !slices.IsSorted(keys(t, document)) {
				t.Fatalf("keys are not in order:\n%s", document)
			}
		}
	})
}

// Any document is read without a panic. One that can be read can be written back, with all
// its keys.
func FuzzDecodeConfig(f *testing.F) {
	for _, document := range []string{"", "{}", "~", document2, document3, document3Full, "a: &a [*a]", "<<: {jobName: j}", "? a\n: b", "!!binary x: y", "jobName: !!binary aGVsbG8=\n"} {
		f.Add([]byte(document))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		c, err := jobtype.DecodeConfig(document)
		if err != nil {
			if !errors.Is(err, jobtype.ErrInvalidConfig) {
				t.Errorf("got %v", err)
			}
			return
		}
		written, err := c.Encode(document)
		if err != nil {
			return // aliases make it too large, for example
		}
		got, err := jobtype.DecodeConfig(written)
		if err != nil || !cmp.Equal(got, c) {
			t.Fatalf("%s\nis written as\n%s\nand read as %+v, %v, not %+v", document, written, got, err, c)
		}
		there := keys(t, written)
		for _, key := range keys(t, document) {
			if !slices.Contains(there, key) && !slices.Contains([]string{"jobClass", "jobType", "jobProperties", "jobShardingStrategyClass", "monitorPort", "streamingProcess", "scriptCommandLine"}, key) {
				t.Errorf("%s\nloses %q:\n%s", document, key, written)
			}
		}
	})
}
