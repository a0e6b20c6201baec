package deploy

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chartutil"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/jobfile"
)

var write = flag.Bool("write", false, "write the keys of job files into values.schema.json")

const schemaFile = chartFolder + "/values.schema.json"

// schema is a JSON Schema.
type schema map[string]any

func (s schema) child(key string) schema {
	child, _ := s[key].(map[string]any)
	return child
}

// resolve follows a reference to a definition.
func (s schema) resolve(of schema) schema {
	if ref, ok := of["$ref"].(string); ok {
		return s.child("definitions").child(path.Base(ref))
	}
	return of
}

// leaves returns the keys below a part of the schema, with dots between them.
func (s schema) leaves(of schema, above string) (keys []string) {
	of = s.resolve(of)
	properties := of.child("properties")
	if entry := of.child("additionalProperties"); entry != nil && len(properties) == 0 {
		properties = s.resolve(entry).child("properties")
		above += "NAME."
	}
	for key := range properties {
		if below := s.leaves(properties.child(key), above+key+"."); below != nil {
			keys = append(keys, below...)
		} else {
			keys = append(keys, above+key)
		}
	}
	return keys
}

func readSchema(t *testing.T) schema {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// The definitions jobFile.* are the schema of job files, without descriptions. They are the last ones of the file.
func TestHelmSchemaOfJobFiles(t *testing.T) {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	byHand, _, found := bytes.Cut(text, []byte("    \"jobFile."))
	if !found {
		t.Fatal(schemaFile, "has no definitions of job files")
	}
	want := append(bytes.Clone(byHand), jobFileDefinitions(t)...)
	switch {
	case bytes.Equal(text, want):
	case *write:
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not up to date: go test ./deploy -run %s -write", schemaFile, t.Name())
	}
}

// jobFileDefinitions are the sections that workers.settings and workers.jobs may have, with a line for each key.
func jobFileDefinitions(t *testing.T) []byte {
	t.Helper()
	var file schema
	if err := json.Unmarshal(jobfile.Schema(), &file); err != nil {
		t.Fatal(err)
	}
	sections := schema{"job": file.child("$defs")["job"], "rule": file.child("$defs")["rule"]}
	for _, name := range []string{"allow", "defaults", "jobs", "log", "node", "tracing"} {
		sections[name] = file.child("properties")[name]
	}
	var b bytes.Buffer
	encode := func(v any) string {
		t.Helper()
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "#/$defs/", "#/definitions/jobFile.")
	}
	for i, name := range slices.Sorted(maps.Keys(sections)) {
		if i > 0 {
			b.WriteString(",\n")
		}
		section := sections.child(name)
		delete(section, "description")
		properties := section.child("properties")
		delete(section, "properties")
		fmt.Fprintf(&b, "    %q: %s", "jobFile."+name, encode(section))
		if len(properties) == 0 {
			continue
		}
		b.Truncate(b.Len() - len("}"))
		b.WriteString(`,"properties":{`)
		for i, key := range slices.Sorted(maps.Keys(properties)) {
			if i > 0 {
				b.WriteString(",")
			}
			of := properties.child(key)
			dropDescriptions(of)
			fmt.Fprintf(&b, "\n      %q: %s", key, encode(of))
		}
		b.WriteString("\n    }}")
	}
	b.WriteString("\n  }\n}\n")
	return b.Bytes()
}

// dropDescriptions drops those of a key and of the keys below it.
func dropDescriptions(of schema) {
	delete(of, "description")
	for key := range of.child("properties") {
		dropDescriptions(of.child("properties").child(key))
	}
}

// The schema has the keys of the files of the console. Another test compares the page with what the console reads.
func TestHelmSchemaOfConsoleFiles(t *testing.T) {
	s := readSchema(t)
	console := s.child("properties").child("console").child("properties")
	page := docpage.Open(t, "reference/console-file.md")
	connections := page.Section(t, "Connections").ByName(t)
	const tls = ".NAME.tls"
	var keysOfTLS []string
	for _, key := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(connections["namespaces"+tls][0], -1) {
		for _, kind := range []string{"namespaces", "databases"} {
			keysOfTLS = append(keysOfTLS, kind+tls+"."+key[1])
		}
	}
	delete(connections, "namespaces"+tls)
	delete(connections, "databases"+tls) // as of a namespace
	for part, want := range map[string][]string{
		"config":      page.Section(t, "Settings").Names(),
		"connections": slices.AppendSeq(keysOfTLS, maps.Keys(connections)),
	} {
		got := s.leaves(console.child(part), "")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("console.%s has the keys\n%q\nthe page has\n%q", part, got, want)
		}
	}
}

// Names that the chart gives are refused where values give more of them: a key that stands there twice is a mistake.
func TestHelmNamesOfTheChart(t *testing.T) {
	for file, objectNames := range valueFiles {
		given := values(t, file)
		all := rendered(t, file)
		for _, name := range objectNames {
			switch object := all[name].(type) {
			case *appsv1.Deployment:
				part := strings.TrimPrefix(object.Name, "shop-")
				for _, e := range object.Spec.Template.Spec.Containers[0].Env {
					isRefused(t, given, e.Name, part, "env")
				}
				for key := range object.Spec.Template.Annotations {
					isRefused(t, given, key, part, "podAnnotations")
				}
			case *monitoringv1.ServiceMonitor:
				for key := range object.Labels {
					isRefused(t, given, key, "serviceMonitor", "labels")
				}
			case *monitoringv1.PrometheusRule:
				for key := range object.Labels {
					isRefused(t, given, key, "prometheusRule", "labels")
				}
			}
		}
	}
}

// isRefused checks that a table of the values may not have a name, unless it has it already.
func isRefused(t *testing.T, given map[string]any, name, part, table string) {
	t.Helper()
	if own, err := chartutil.Values(given).Table(part + "." + table); err == nil && own[name] != nil {
		return
	}
	more := map[string]any{part: map[string]any{table: map[string]any{name: "x"}}}
	_, err := render(t, chartutil.MergeTables(more, given))
	if want := "/" + part + "/" + table + "/"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s.%s with %s: %v", part, table, name, err)
	}
}
