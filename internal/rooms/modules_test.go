package rooms

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// required has the reason for each module that go.mod requires directly. A module that
// neither the core nor a test of it needs does not belong into this go.mod.
var required = map[string]string{
	// The core: who imports us compiles them, according to his store.
	"github.com/go-zookeeper/zk":     "coord/zk: the client",
	"github.com/google/uuid":         "job: ids of executions that sort by time",
	"github.com/robfig/cron/v3":      "job/cronexpr: what all of Go takes five fields for",
	"github.com/teambition/rrule-go": "job/calendar: when events of iCalendar files repeat",
	"github.com/wneessen/go-mail":    "job/alert/email: mail that all servers take, with their ways to log in",
	"go.etcd.io/etcd/api/v3":         "coord/etcd: the messages and errors of the client",
	"go.etcd.io/etcd/client/v3":      "coord/etcd: the client",
	"go.uber.org/zap":                "job, coord/etcd, coord/zk: the log",
	"go.uber.org/zap/exp":            "internal/slogzap: log/slog over zap, for handlers",
	"go.yaml.in/yaml/v4":             "job, internal/jobtree: the documents in the tree",
	"google.golang.org/grpc":         "coord/etcd: connections and status codes of the client",

	// Tests.
	"github.com/emersion/go-sasl":              "job/alert/email: passwords that the mail server of the tests takes",
	"github.com/emersion/go-smtp":              "job/alert/email: a mail server within the test",
	"github.com/google/go-cmp":                 "differences that can be read",
	"github.com/santhosh-tekuri/jsonschema/v6": "jobfile: whether the schema for editors is one, and says what Read does",
	"go.uber.org/goleak":                       "goroutines that are left",
	"golang.org/x/sys":                         "job/script: the supervisor adopts processes (prctl)",
	"pgregory.net/rapid":                       "properties",
}

// importers are programs, and the modules that each gets beside ours.
var importers = map[string]struct {
	imports, modules []string
}{
	"etcd": {
		imports: []string{"job", "coord/etcd"},
		modules: []string{
			"github.com/coreos/go-semver",
			"github.com/coreos/go-systemd/v22",
			"github.com/golang/protobuf",
			"github.com/google/uuid",
			"github.com/grpc-ecosystem/grpc-gateway/v2",
			"github.com/robfig/cron/v3",
			"github.com/teambition/rrule-go",
			"go.etcd.io/etcd/api/v3",
			"go.etcd.io/etcd/client/pkg/v3",
			"go.etcd.io/etcd/client/v3",
			"go.uber.org/multierr",
			"go.uber.org/zap",
			"go.uber.org/zap/exp",
			"go.yaml.in/yaml/v4",
			"golang.org/x/net",
			"golang.org/x/sys",
			"golang.org/x/text",
			"google.golang.org/genproto/googleapis/api",
			"google.golang.org/genproto/googleapis/rpc",
			"google.golang.org/grpc",
			"google.golang.org/protobuf",
		},
	},
	"ZooKeeper": {
		imports: []string{"job", "coord/zk"},
		modules: []string{
			"github.com/go-zookeeper/zk",
			"github.com/google/uuid",
			"github.com/robfig/cron/v3",
			"github.com/teambition/rrule-go",
			"go.uber.org/multierr",
			"go.uber.org/zap",
			"go.uber.org/zap/exp",
			"go.yaml.in/yaml/v4",
		},
	},
	"alerts": {
		imports: []string{"job", "job/alert"},
		modules: []string{
			"github.com/google/uuid",
			"github.com/robfig/cron/v3",
			"github.com/teambition/rrule-go",
			"go.uber.org/multierr",
			"go.uber.org/zap",
			"go.uber.org/zap/exp",
			"go.yaml.in/yaml/v4",
		},
	},
	// Either store and all types, because a file chooses. Mail comes with Options.ErrorHandlers.
	"files": {
		imports: []string{"jobfile"},
		modules: []string{
			"github.com/coreos/go-semver",
			"github.com/coreos/go-systemd/v22",
			"github.com/go-zookeeper/zk",
			"github.com/golang/protobuf",
			"github.com/google/uuid",
			"github.com/grpc-ecosystem/grpc-gateway/v2",
			"github.com/robfig/cron/v3",
			"github.com/teambition/rrule-go",
			"go.etcd.io/etcd/api/v3",
			"go.etcd.io/etcd/client/pkg/v3",
			"go.etcd.io/etcd/client/v3",
			"go.uber.org/multierr",
			"go.uber.org/zap",
			"go.uber.org/zap/exp",
			"go.yaml.in/yaml/v4",
			"golang.org/x/net",
			"golang.org/x/sys",
			"golang.org/x/text",
			"google.golang.org/genproto/googleapis/api",
			"google.golang.org/genproto/googleapis/rpc",
			"google.golang.org/grpc",
			"google.golang.org/protobuf",
		},
	},
	"mail": {
		imports: []string{"job", "job/alert/email"},
		modules: []string{
			"github.com/google/uuid",
			"github.com/robfig/cron/v3",
			"github.com/teambition/rrule-go",
			"github.com/wneessen/go-mail",
			"go.uber.org/multierr",
			"go.uber.org/zap",
			"go.uber.org/zap/exp",
			"go.yaml.in/yaml/v4",
			"golang.org/x/crypto",
			"golang.org/x/text",
		},
	},
}

// servers are what no importer ever gets, whatever the lists say.
var servers = []string{"go.etcd.io/etcd/server/v3", "go.etcd.io/raft/v3", "go.etcd.io/bbolt", "github.com/prometheus/client_golang"}

const root = "../.."

// requirement is one of a go.mod.
type requirement struct {
	Path, Version string
	Indirect      bool
}

func requirements(t *testing.T, dir string) []requirement {
	t.Helper()
	var mod struct{ Require []requirement }
	if err := json.Unmarshal([]byte(goCommand(t, dir, nil, "mod", "edit", "-json")), &mod); err != nil {
		t.Fatal(err)
	}
	return mod.Require
}

// Every direct requirement has a reason, and is still needed.
func TestRequirements(t *testing.T) {
	var direct []string
	for _, r := range requirements(t, root) {
		if !r.Indirect {
			direct = append(direct, r.Path)
		}
	}
	slices.Sort(direct)
	more, less := difference(direct, slices.Sorted(maps.Keys(required)))
	for _, path := range more {
		t.Errorf("go.mod requires %s, which has no reason in this test. Can the core and its tests do without it? "+
			"If neither needs it, what does becomes a module of its own; see the comment of this package", path)
	}
	for _, path := range less {
		t.Errorf("go.mod does not require %s any more: take it out of this test", path)
	}
}

// What is a module of its own is joined, linted and tested with the rest, with the same
// versions: in a workspace the newest one counts for all.
func TestModulesOfTheirOwn(t *testing.T) {
	var work struct{ Use []struct{ DiskPath string } }
	if err := json.Unmarshal([]byte(goCommand(t, root, nil, "work", "edit", "-json", "go.work")), &work); err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, listed, _ := strings.Cut(string(makefile), "\nMODULES = ")
	listed, _, _ = strings.Cut(listed, "\n")
	want := append([]string{"."}, strings.Fields(listed)...)
	var used []string
	for _, use := range work.Use {
		used = append(used, filepath.ToSlash(filepath.Clean(use.DiskPath)))
	}
	if !slices.Equal(used, want) {
		t.Errorf("go.work joins %q, the Makefile tests %q", used, want)
	}
	versions := map[string]string{}
	for _, r := range requirements(t, root) {
		versions[r.Path] = r.Version
	}
	for _, dir := range used[1:] {
		for _, r := range requirements(t, filepath.Join(root, dir)) {
			if ours, shared := versions[r.Path]; shared && r.Version != ours {
				t.Errorf("%s requires %s %s, the root %s: run go mod tidy there, or go get in the root", dir, r.Path, r.Version, ours)
			}
		}
	}
}

// A program gets the modules that our packages compile, and no others: a go.mod with
// these alone is all that the go command asks for.
func TestModulesOfImporters(t *testing.T) {
	for name, importer := range importers {
		t.Run(name, func(t *testing.T) {
			versions := compiled(t, importer.imports)
			got := slices.Sorted(maps.Keys(versions))
			more, less := difference(got, importer.modules)
			if len(more) > 0 {
				t.Errorf("who imports %s gets %s, too: all who schedule a job have that in their go.mod then, with its upgrades, "+
					"its advisories and its licence. Is there a way without it, or a folder of its own for what needs it? "+
					"If not, add it to this test, and say why in the commit", importer.imports, more)
			}
			if len(less) > 0 {
				t.Errorf("who imports %s does not get %s any more: take that out of this test", importer.imports, less)
			}
			for _, path := range servers {
				if slices.Contains(got, path) {
					t.Errorf("who imports %s gets %s, which is for tests only", importer.imports, path)
				}
			}
			scratch(t, importer.imports, versions)
		})
	}
}

// compiled are the modules, with their versions, of all that the packages import on the
// systems that people run them on.
func compiled(t *testing.T, packages []string) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		args := []string{"list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}"}
		for _, pkg := range packages {
			args = append(args, module+"/"+pkg)
		}
		for line := range strings.Lines(goCommand(t, root, []string{"GOOS=" + system}, args...)) {
			if path, version, _ := strings.Cut(strings.TrimSpace(line), " "); path != "" && path != module {
				versions[path] = version
			}
		}
	}
	return versions
}

// scratch makes a program that imports the packages, with a go.mod that names the modules
// alone, and lets the go command load it. go mod tidy would write that go.mod itself, but
// it looks at the tests of all these modules, too, and so at modules that nobody has
// downloaded who only runs our tests.
func scratch(t *testing.T, packages []string, versions map[string]string) {
	t.Helper()
	dir := t.TempDir()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var mod, program strings.Builder
	fmt.Fprintf(&mod, "module example.com/importer\n\ngo 1.26.0\n\nreplace %s => %q\n\nrequire %s v0.0.0\n", module, top, module)
	for path, version := range versions {
		fmt.Fprintf(&mod, "require %s %s // indirect\n", path, version)
	}
	program.WriteString("package main\n\n")
	for _, pkg := range packages {
		fmt.Fprintf(&program, "import _ %q\n", module+"/"+pkg)
	}
	program.WriteString("\nfunc main() {}\n")
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": mod.String(), "go.sum": string(sums), "main.go": program.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The go command refuses to load it if its go.mod lacks a module.
	out := goCommand(t, dir, nil, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	got := slices.DeleteFunc(slices.Compact(slices.Sorted(strings.FieldsSeq(out))), func(path string) bool {
		return path == module || path == "example.com/importer"
	})
	if more, _ := difference(got, slices.Sorted(maps.Keys(versions))); len(more) > 0 {
		t.Errorf("a program that imports %s compiles %s, too", packages, more)
	}
}

// goCommand runs the go command without a network and without a workspace: who imports us
// does not have ours.
func goCommand(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED=0"), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}

// difference is what a has more and less than b.
func difference(a, b []string) (more, less []string) {
	isIn := func(list []string) func(string) bool {
		return func(s string) bool { return slices.Contains(list, s) }
	}
	return slices.DeleteFunc(slices.Clone(a), isIn(b)), slices.DeleteFunc(slices.Clone(b), isIn(a))
}
