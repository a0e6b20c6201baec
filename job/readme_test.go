package job_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/job"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section returns the text below a heading, up to the next one.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, below, ok := strings.Cut(text, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("README.md has no section %q", heading)
	}
	below, _, _ = strings.Cut(below, "\n## ")
	return below
}

// rows returns the rows of tables whose first cell is code, by that code.
func rows(text string) map[string][]string {
	table := map[string][]string{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		table[cells[0]] = cells[1:]
	}
	return table
}

func TestReadmeProgramCompiles(t *testing.T) {
	_, program, ok := strings.Cut(section(t, readme(t), "A program"), "```go\n")
	if !ok {
		t.Fatal("README.md has no program")
	}
	program, _, _ = strings.Cut(program, "```")
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if formatted, err := format.Source([]byte(program)); err != nil || string(formatted) != program {
		t.Errorf("not as gofmt has it: %v", err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "vet", file).CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
}

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

// Every field of a Config has a row in README.md, and its default, unit and key are those of
// the code.
func TestReadmeConfiguration(t *testing.T) {
	table := rows(section(t, readme(t), "Configuration"))
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
		if !strings.HasPrefix(name, "With") && !slices.Contains(fields, name) {
			t.Errorf("README.md has %s, and Config has not", name)
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

// checkDefault checks the default of a field in README.md.
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

func TestReadmeOptions(t *testing.T) {
	table := rows(section(t, readme(t), "Configuration"))
	files, err := filepath.Glob("*.go")
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
			t.Errorf("README.md does not have the option %s", name)
		}
	}
	for name := range table {
		if strings.HasPrefix(name, "With") && !slices.Contains(options, name) {
			t.Errorf("README.md has %s, and the package has not", name)
		}
	}
}

// Every test that the track record in integration/README.md names exists, in the folder that
// stands before it.
func TestTrackRecordReferences(t *testing.T) {
	text, err := os.ReadFile("../integration/README.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, group := range regexp.MustCompile("`([a-z/]+)` (Test[^;|]*)").FindAllStringSubmatch(string(text), -1) {
		folder := group[1]
		code := testsIn(t, filepath.Join("..", folder))
		for _, name := range regexp.MustCompile(`Test\w+`).FindAllString(group[2], -1) {
			named++
			if !strings.Contains(code, "\nfunc "+name+"(") {
				t.Errorf("integration/README.md refers to %s, which is no test in %s", name, folder)
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d tests were found in integration/README.md", named)
	}
}

// testsIn returns the code of all tests in a folder.
func testsIn(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	return code.String()
}

// The files and the tests that README.md names exist.
func TestReadmeReferences(t *testing.T) {
	text := readme(t)
	for _, link := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join("..", link[1])); err != nil {
			t.Error(err)
		}
	}
	code := testsIn(t, ".") + testsIn(t, "../jobfile") + testsIn(t, "../trace/prom") + testsIn(t, "../ops/migrate")
	for _, name := range regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllStringSubmatch(text, -1) {
		if !strings.Contains(code, "\nfunc "+name[1]+"(") {
			t.Errorf("README.md refers to %s, which is no test", name[1])
		}
	}
}
