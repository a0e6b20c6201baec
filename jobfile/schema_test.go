package jobfile_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/jobfile"
)

var update = flag.Bool("update", false, "write elasticjob.schema.json anew")

const schemaFile = "elasticjob.schema.json"

// The schema is what the tables of keys say. go generate writes it.
func TestSchemaIsCurrent(t *testing.T) {
	want, err := jobfile.MakeSchema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want, jobfile.Schema()) {
		t.Error(schemaFile, "is not what the tables say; run go generate ./jobfile")
	}
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(jobfile.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaFile, document); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(schemaFile)
	if err != nil {
		t.Fatal("the schema is not valid: ", err)
	}
	return compiled
}

// decode reads YAML as an editor does.
func decode(t *testing.T, text string) any {
	t.Helper()
	var document any
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// What Read takes is right for the schema.
func TestSchemaAccepts(t *testing.T) {
	s := schema(t)
	texts := map[string]string{
		"full":    full,
		"example": example(t),
		"one":     jobOf("threads: ${env:THREADS:-3}", "failover: ${env:FAILOVER}", "timeout: 1h30m", "retry: null", "misfireWindow: 0", "jitter: '0'", "misfireTolerance: +5s", "overlap: ${env:X}", "props: {a: 1, b: true, c: x}", "jobParameter: 7"),
		"minus":   jobOf("maxTimeDiffSeconds: -1", "reconcileIntervalMinutes: 0"),
	}
	paths, err := filepath.Glob("../examples/*/elasticjob*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	for name, text := range texts {
		if err := s.Validate(decode(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each key has a description, and slips are found.
func TestSchemaRefuses(t *testing.T) {
	s := schema(t)
	for name, text := range map[string]string{
		"unknown key":        jobOf("shardingTotalCont: 3"),
		"unknown section":    "traces: {}",
		"no integer":         jobOf("threads: many"),
		"an integer as text": jobOf("threads: '3'"),
		"too many":           jobOf("threads: 10001"),
		"no boolean":         jobOf("failover: 'yes'"),
		"no time":            jobOf("timeout: 30"),
		"no unit":            jobOf("timeout: '30'"),
		"no word":            jobOf("overlap: NEVER"),
		"no list":            jobOf("calendars: bank"),
		"no mapping":         jobOf("props: x"),
		"defaults":           "defaults: {cro: x}",
		"profile":            "profiles: {prod: {jobs: {a: {cro: x}}}}",
		"profile of profile": "profiles: {prod: {profiles: {}}}",
		"tls":                "registry: {etcd: {tls: {cacert: x}}}",
	} {
		if err := s.Validate(decode(t, text)); err == nil {
			t.Errorf("%s is right for the schema", name)
		}
		if _, err := jobfile.Read(options(nil), write(t, text)...); err == nil {
			t.Errorf("%s: Read takes it", name)
		}
	}
	var describe func(path string, v any)
	describe = func(path string, v any) {
		m, _ := v.(map[string]any)
		if properties, ok := m["properties"].(map[string]any); ok {
			for key, p := range properties {
				if text, _ := p.(map[string]any)["description"].(string); !strings.HasSuffix(text, ".") {
					t.Errorf("%s.%s: description %q", path, key, text)
				}
				describe(path+"."+key, p)
			}
		}
	}
	document := decode(t, string(jobfile.Schema())).(map[string]any)
	describe("", document)
	for name, def := range document["$defs"].(map[string]any) {
		describe(name, def)
	}
}
