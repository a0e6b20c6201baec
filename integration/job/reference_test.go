package job_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// other has another value than the default in each field.
var other = job.Config{
	Name: "other", Cron: "0 0 * * * ?", MoreCrons: []string{"0 30 12 * * ?"}, Calendars: []string{"c"}, Overlap: job.OverlapSkip, Jitter: time.Second, TimeZone: "UTC",
	Expiry:             job.Expiry{At: time.Date(2027, 1, 31, 9, 30, 0, 0, time.UTC), Ticks: 5, Remove: true},
	ShardingTotalCount: 2, ShardingItemParameters: "0=a",
	JobParameter: "p", Description: "d", MonitorExecution: job.Off, Failover: true, Misfire: job.Off,
	MisfireTolerance: 2 * time.Second, MisfireWindow: time.Second, MaxTimeDiff: time.Second, ReconcileInterval: time.Minute,
	Strategy: "STICKY", Threads: 3, ErrorHandler: "IGNORE", Listeners: []string{"l"}, Timeout: time.Second,
	Retry: job.Retry{Attempts: 1, InitialBackoff: 2 * time.Second, MaxBackoff: 2 * time.Minute},
	Props: map[string]string{"k": "v"}, Disabled: true, Overwrite: true, Revision: 7, StaticSharding: true, Label: "l", MaxItems: 5, Broadcast: true,
}

// Every field of a Config has a row in the reference, and its default, unit and key are those of
// the code.
func TestReferenceConfiguration(t *testing.T) {
	table := docpage.Open(t, "reference/configuration.md").Section(t, "Fields").ByName(t)
	var fields []string
	each(reflect.ValueOf(other), nil, func(name string, index []int) {
		fields = append(fields, name)
		row, ok := table[name]
		if !ok || len(row) != 4 {
			t.Errorf("%s: row %q, want one with default, unit, key and meaning", name, row)
			return
		}
		checkDefault(t, name, row[0], index)
		checkUnit(t, name, row[1], index)
		if want := keyOf(t, index); row[2] != want {
			t.Errorf("%s: key %q, want %q", name, row[2], want)
		}
	})
	for name := range table {
		if !slices.Contains(fields, name) {
			t.Errorf("the reference has %s, and Config has not", name)
		}
	}
}

// each visits the fields of a struct, and those of structs within it.
func each(v reflect.Value, outer []int, visit func(name string, index []int)) {
	for i := range v.NumField() {
		name, index := v.Type().Field(i).Name, append(slices.Clone(outer), i)
		if _, isTime := v.Field(i).Interface().(time.Time); v.Field(i).Kind() == reflect.Struct && !isTime {
			each(v.Field(i), index, func(inner string, index []int) { visit(name+"."+inner, index) })
			continue
		}
		visit(name, index)
	}
}

// minimal returns a Config with the required fields and one field of other.
func minimal(index []int) job.Config {
	c := job.Config{Name: "settle", ShardingTotalCount: 1}
	if index != nil {
		reflect.ValueOf(&c).Elem().FieldByIndex(index).Set(reflect.ValueOf(other).FieldByIndex(index))
		if needsCron(c) {
			c.Cron = other.Cron
		}
	}
	return c
}

func needsCron(c job.Config) bool {
	return len(c.MoreCrons)+len(c.Calendars)+c.Expiry.Ticks > 0 || c.Expiry.Remove
}

// checkDefault checks the default of a field in the reference.
func checkDefault(t *testing.T, name, cell string, index []int) {
	t.Helper()
	c := minimal(nil)
	if field := reflect.ValueOf(&c).Elem().FieldByIndex(index); !field.IsZero() {
		field.SetZero()
		if c.Validate() == nil || cell != "required" {
			t.Errorf("%s: default %q; left out, the configuration is found %v", name, cell, c.Validate())
		}
		return
	}
	value := reflect.ValueOf(c.WithDefaults()).FieldByIndex(index).Interface()
	want := fmt.Sprint(value)
	switch value := value.(type) {
	case job.Toggle:
		want = map[job.Toggle]string{job.On: "On", job.Off: "Off"}[value]
	case time.Duration:
		if d, err := time.ParseDuration(cell); err == nil && d == value {
			want = cell
		}
	case []string, map[string]string, time.Time:
		want = "none"
	case string:
		want = cmp.Or(value, "empty")
	}
	if cell != want {
		t.Errorf("%s: default %q, want %q", name, cell, want)
	}
}

// keyOf returns the key in the registry that is written because of a field.
func keyOf(t *testing.T, index []int) string {
	t.Helper()
	without, with := written(t, minimal(nil)), written(t, minimal(index))
	var keys []string
	for key, value := range with {
		if without[key] != value {
			keys = append(keys, key)
		}
	}
	if len(keys) == 1 && keys[0] == "props: k" {
		return "props"
	}
	if needsCron(minimal(index)) {
		keys = slices.DeleteFunc(keys, func(key string) bool { return key == "cron" }) // which it needs
	}
	slices.Sort(keys)
	return strings.Join(keys, ", ")
}

// written returns the keys and values of a configuration's document, with those of props
// among them.
func written(t *testing.T, c job.Config) map[string]string {
	t.Helper()
	document, err := c.Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]yaml.Node
	if err := yaml.Unmarshal(document, &keys); err != nil {
		t.Fatal(err)
	}
	flat := map[string]string{}
	for key, value := range keys {
		switch value.Kind {
		case yaml.MappingNode:
			for i := 0; i < len(value.Content); i += 2 {
				flat[key+": "+value.Content[i].Value] = value.Content[i+1].Value
			}
		case yaml.SequenceNode:
			flat[key] = fmt.Sprint(len(value.Content))
		default:
			flat[key] = value.Value
		}
	}
	return flat
}

// checkUnit checks that a duration has to be a multiple of its unit, and that no other field
// has a unit.
func checkUnit(t *testing.T, name, unit string, index []int) {
	t.Helper()
	c := minimal(index)
	d, ok := reflect.ValueOf(&c).Elem().FieldByIndex(index).Addr().Interface().(*time.Duration)
	if !ok {
		if unit != "" {
			t.Errorf("%s: unit %q of what is no duration", name, unit)
		}
		return
	}
	one, ok := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "min": time.Minute}[unit]
	if !ok {
		t.Errorf("%s: unit %q", name, unit)
		return
	}
	if *d += one; c.Validate() != nil {
		t.Errorf("%s: %v is refused: %v", name, *d, c.Validate())
	}
	if *d += one / 2; c.Validate() == nil {
		t.Errorf("%s: %v is allowed, which is no whole number of %s", name, *d, unit)
	}
}

// The reference has all options, and no others.
func TestReferenceOptions(t *testing.T) {
	table := docpage.Open(t, "reference/options.md").Section(t, "Options").ByName(t)
	files, err := filepath.Glob("../../job/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var options []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "With") {
				options = append(options, f.Name.Name)
			}
		}
	}
	for _, name := range options {
		if _, ok := table[name]; !ok {
			t.Errorf("the reference does not have the option %s", name)
		}
	}
	for name := range table {
		if !slices.Contains(options, name) {
			t.Errorf("the reference has %s, and the package has not", name)
		}
	}
}

// The reference has the fields of NodeConfig, and what a Runner has beside them.
func TestReferenceNode(t *testing.T) {
	var want []string
	for field := range reflect.TypeFor[job.NodeConfig]().Fields() {
		want = append(want, "NodeConfig."+field.Name)
	}
	for field := range reflect.TypeFor[job.RunnerConfig]().Fields() {
		if !field.Anonymous {
			want = append(want, "RunnerConfig."+field.Name)
		}
	}
	if got := docpage.Open(t, "reference/options.md").Section(t, "Node and Runner").Names(); !slices.Equal(got, want) {
		t.Errorf("the reference has %q, and the package %q", got, want)
	}
}

// The reference has the built-in strategies.
func TestReferenceStrategies(t *testing.T) {
	got := docpage.Open(t, "reference/configuration.md").Section(t, "Strategies").Names()
	slices.Sort(got)
	want := slices.Sorted(slices.Values(strategy.Names(nil)))
	if !slices.Equal(got, want) {
		t.Errorf("the reference has %q, and package strategy %q", got, want)
	}
}
