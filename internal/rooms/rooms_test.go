package rooms

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/elasticjob-go/elasticjob"

// allowed lists, for each room, the rooms that it may import beside itself. A room is
// a folder with all below it; the longest match counts.
var allowed = map[string][]string{
	"coord":                    {"internal/errclass"},
	"coord/internal":           {"coord", "internal/either", "internal/liveness", "internal/sleep"},
	"coord/coordtest":          {"coord"},
	"coord/etcd":               {"coord", "coord/internal", "internal/clocks", "internal/liveness", "internal/sleep", "internal/slogzap", "internal/storeclock", "internal/either", "internal/urgency"},
	"coord/zk":                 {"coord", "coord/internal", "internal/clocks", "internal/liveness", "internal/sleep", "internal/slogzap", "internal/storeclock", "internal/either"},
	"coord/memory":             {"coord", "coord/internal", "internal/liveness", "internal/slogzap"},
	"strategy":                 {},
	"job/cronexpr":             {"internal/brief"},
	"job/calendar":             {"job/cronexpr", "internal/brief", "internal/yamldoc"},
	"jobtype":                  {"coord", "strategy", "job/cronexpr", "internal/jobconf", "internal/jobtree", "internal/brief", "internal/yamldoc", "internal/errclass"},
	"internal/engine":          {"jobtype", "coord", "internal/decide", "internal/engine/assign", "internal/engine/commit", "internal/engine/diagnose", "internal/engine/exec", "internal/engine/health", "internal/engine/instance", "internal/engine/jvm", "internal/engine/once", "internal/engine/pace", "internal/engine/pool", "internal/engine/schedule", "internal/engine/setup", "internal/jobtree", "internal/module", "internal/removal", "internal/request", "internal/brief", "internal/clocks", "internal/sleep", "internal/either", "internal/urgency"},
	"internal/engine/assign":   {"coord", "strategy", "internal/decide", "internal/engine/pool", "internal/brief", "internal/clocks"},
	"internal/engine/commit":   {"coord", "internal/decide", "internal/clocks", "internal/sleep", "internal/urgency"},
	"internal/engine/diagnose": {"coord", "jobtype", "internal/decide", "internal/engine/commit", "internal/engine/exec", "internal/engine/health", "internal/engine/pool", "internal/engine/setup", "internal/jobconf", "internal/jobtree", "internal/brief", "internal/clocks"},
	"internal/engine/exec":     {"coord", "jobtype", "internal/engine/health", "internal/jobtree", "internal/brief", "internal/clocks", "internal/sleep"},
	"internal/engine/health":   {"coord", "jobtype", "internal/decide", "internal/jobtree", "internal/brief", "internal/clocks"},
	"internal/engine/instance": {"coord", "internal/jobtree", "internal/brief"},
	"internal/engine/jvm":      {"coord", "jobtype", "internal/decide", "internal/engine/commit", "internal/jobconf", "internal/jobtree", "internal/brief", "internal/clocks"},
	"internal/engine/once":     {"jobtype", "internal/decide", "internal/engine/exec", "internal/engine/setup"},
	"internal/engine/pace":     {"internal/clocks"},
	"internal/engine/pool":     {"coord", "job/calendar", "internal/jobconf", "internal/jobtree", "internal/brief", "internal/clocks", "internal/sleep"},
	"internal/engine/runner":   {"coord", "jobtype", "internal/engine/health", "internal/engine/pool", "internal/jobconf", "internal/jobtree", "internal/brief", "internal/clocks", "internal/sleep", "internal/either"},
	"internal/engine/schedule": {"job/calendar", "job/cronexpr", "internal/decide", "internal/engine/pool", "internal/engine/setup", "internal/jobtree"},
	"internal/engine/setup":    {"jobtype", "strategy", "job/calendar", "job/cronexpr", "internal/decide", "internal/engine/exec", "internal/engine/health", "internal/engine/pool", "internal/jobconf", "internal/slogzap", "internal/brief", "internal/clocks", "internal/sleep"},
	"job":                      {"jobtype", "internal/engine", "internal/engine/diagnose", "internal/engine/exec", "internal/engine/health", "internal/engine/instance", "internal/engine/pool", "internal/engine/runner", "internal/engine/setup", "coord", "strategy", "internal/jobconf", "internal/jobtree", "internal/brief", "internal/sleep", "internal/clocks", "internal/either"},
	"ops":                      {"coord", "jobtype", "internal/auditlog", "internal/request", "job/calendar", "trace", "trace/history", "internal/decide", "internal/jobtree", "internal/removal", "internal/brief", "internal/sleep", "strategy", "job/dump", "internal/clocks", "internal/jobconf", "internal/errclass"},
	"ops/migrate":              {"coord", "jobtype", "internal/decide", "internal/jobconf", "internal/jobtree", "internal/removal", "internal/brief", "internal/sleep", "ops", "internal/clocks", "internal/errclass"},
	"ops/rights":               {"coord", "coord/zk", "internal/jobtree", "internal/errclass"},
	"ops/declare":              {"jobtype", "job/calendar", "jobfile", "ops", "internal/jobconf", "internal/jobtree", "internal/brief", "internal/errclass"},
	"ops/doctor":               {"trace/history", "coord", "jobtype", "job/calendar", "ops", "internal/decide", "internal/jobconf", "internal/jobtree", "internal/brief", "internal/sleep", "internal/clocks"},
	"ops/failed":               {"jobtype", "ops", "trace/history", "internal/brief"},
	"ops/why":                  {"jobtype", "job/calendar", "ops", "trace", "trace/history", "internal/decide", "internal/brief", "internal/clocks"},
	"job/property":             {"job", "jobtype", "internal/brief", "internal/bounded"},
	"job/dataflow":             {"job", "jobtype", "job/property", "internal/brief"},
	"job/allow":                {"jobtype", "job/property", "internal/brief", "internal/bounded"},
	"job/script":               {"coord", "job", "jobtype", "job/property", "job/allow", "internal/brief", "internal/sleep"},
	"job/httpjob":              {"job", "jobtype", "job/property", "job/allow", "internal/brief", "internal/sleep", "internal/httpx"},
	"job/alert":                {"job", "jobtype", "job/property", "job/allow", "internal/brief", "internal/sleep", "internal/httpx"},
	"job/health":               {"job", "jobtype", "internal/brief"},
	"trace":                    {"coord", "job", "jobtype", "internal/brief", "internal/sleep", "internal/slogzap"},
	"trace/history":            {"jobtype", "trace", "internal/errclass"},
	"trace/sqltrace":           {"coord", "jobtype", "trace", "trace/history", "internal/brief", "internal/sleep"},
	"trace/prom/promfile":      {"job", "jobfile", "trace", "trace/prom"},
	"trace/sqltrace/sqlfile":   {"jobfile", "trace/sqltrace", "internal/brief"},
	"trace/prom":               {"coord", "job", "jobtype", "trace", "internal/brief", "internal/sleep", "internal/clocks"},
	"trace/oteljob":            {"coord", "job", "jobtype", "trace", "internal/brief", "internal/sleep"},
	"job/dump":                 {"coord", "job", "jobtype", "trace", "internal/brief", "internal/jobtree", "internal/module", "internal/sleep", "internal/veil", "internal/bounded"},
	"jobtest":                  {"internal/engine/setup", "coord", "coord/memory", "job", "jobtype", "job/calendar", "ops", "internal/jobtree", "internal/brief"},
	"jobfile":                  {"coord", "coord/etcd", "coord/zk", "coord/memory", "job", "jobtype", "job/property", "job/allow", "job/script", "job/httpjob", "job/alert", "job/dump", "job/health", "ops", "strategy", "trace", "internal/brief", "internal/httpx", "internal/veil", "internal/yamldoc", "job/calendar", "internal/jobconf", "internal/jobtree", "internal/clocks", "internal/sleep", "internal/bounded"},
	"console/access":           {"internal/bounded", "internal/brief", "internal/fair", "internal/lockedfile", "internal/sleep", "internal/yamldoc", "internal/errclass"},
	"console/access/oidc":      {"console", "console/access", "internal/brief", "internal/sleep", "internal/httpx"},
	"console":                  {"docs", "console/access", "console/access/oidc", "strategy", "coord", "job", "jobtype", "job/calendar", "job/cronexpr", "job/dump", "ops", "ops/declare", "ops/doctor", "ops/failed", "ops/why", "trace", "trace/history", "console/connection", "internal/brief", "internal/sleep", "internal/veil", "internal/httpx", "internal/yamldoc", "internal/errclass"},
	"console/sink":             {"console/access", "job/property", "ops", "internal/brief", "internal/fair", "internal/httpx", "internal/sleep", "internal/veil"},
	"console/connection":       {"console/access", "coord", "ops", "trace", "trace/history", "job/property", "internal/brief", "internal/lockedfile", "internal/sleep", "internal/bounded", "internal/yamldoc", "internal/errclass"},
	"cmd/elasticjob":           {"console", "console/access", "console/access/oidc", "console/connection", "console/sink", "job/dataflow", "coord", "coord/etcd", "coord/zk", "job", "jobtype", "job/calendar", "job/cronexpr", "job/dump", "job/property", "job/script", "jobfile", "ops", "ops/rights", "trace", "trace/history", "trace/sqltrace", "trace/sqltrace/sqlfile", "trace/prom/promfile", "cmd/elasticjob/internal/etcdmember", "internal/brief", "internal/embedetcd", "internal/jobtree", "internal/lockedfile", "internal/sleep", "job/httpjob", "ops/declare", "ops/migrate", "ops/doctor", "ops/failed", "ops/why", "trace/history", "job/alert", "internal/httpx", "internal/bounded", "internal/veil", "internal/yamldoc", "internal/errclass"},
	"internal/decide":          {"coord", "internal/jobtree", "strategy", "job/cronexpr", "internal/clocks", "internal/urgency"},
	"internal/jobtree":         {"coord", "internal/jobconf", "internal/brief", "internal/yamldoc", "internal/errclass"},
	"internal/request":         {"coord", "jobtype", "internal/decide", "internal/jobtree", "internal/brief", "internal/sleep"},
	"internal/removal":         {"coord", "internal/jobtree"},
	"internal/jobconf":         {"coord", "internal/yamldoc"},
	"internal/brief":           {},
	"internal/bounded":         {},
	"internal/fair":            {},
	"internal/auditlog":        {"coord", "internal/fair", "internal/jobtree"},
	"internal/httpx":           {"internal/bounded"},
	"internal/lockedfile":      {"internal/sleep", "internal/errclass"},
	"internal/clocks":          {},
	"internal/liveness":        {"internal/clocks"},
	"internal/module":          {},
	"internal/slogzap":         {},
	"internal/yamldoc":         {"internal/brief"},
	"internal/veil":            {"internal/brief", "internal/yamldoc"},
	"internal/storeclock":      {"coord", "internal/sleep"},
	"internal/either":          {},
	"internal/errclass":        {},
	"internal/urgency":         {},
	"internal/sleep":           {},
	"internal/rooms":           {},
	// What only tests and programs to learn from use.
	"internal/embedetcd":           {},
	"internal/testserver":          {"internal/sleep"},
	"internal/docpage":             {"docs", "internal/mdpage", "job/property"},
	"internal/crowd":               {"coord", "job", "jobtype", "internal/jobtree"},
	"internal/modelstore":          {"coord"},
	"internal/mdpage":              {},
	"docs":                         {},
	"deploy":                       {},
	"console/internal/api/apitest": {"console", "console/access", "console/connection", "coord", "coord/memory", "job", "jobtype", "jobtest", "ops", "trace", "trace/history", "trace/sqltrace", "internal/brief", "internal/sleep"},
	"console/browsertest":          {"console", "console/access", "console/connection", "coord", "coord/etcd", "coord/zk", "job", "jobtype", "job/script", "ops", "trace", "trace/sqltrace", "internal/sleep", "internal/testserver"},
	"console/oidctest":             {"console", "console/access", "console/access/oidc"},
	"examples":                     {"coord", "coord/etcd", "coord/zk", "coord/memory", "strategy", "job", "jobtype", "job/dataflow", "job/script", "job/httpjob", "job/alert", "job/dump", "job/health", "ops", "trace", "trace/history", "trace/oteljob", "trace/prom", "trace/prom/promfile", "trace/sqltrace", "trace/sqltrace/sqlfile", "internal/embedetcd", "jobfile"},
	"integration":                  {"internal/engine/setup", "coord", "coord/etcd", "coord/zk", "coord/memory", "strategy", "job", "jobtype", "job/calendar", "job/cronexpr", "job/dataflow", "job/script", "job/httpjob", "job/alert", "ops", "internal/jobtree", "internal/sleep", "internal/testserver"},
	// A part of the command that serves a store, and knows nothing of jobs.
	"cmd/elasticjob/internal/etcdmember": {"cmd/elasticjob", "coord", "internal/brief", "internal/embedetcd", "internal/httpx"},
}

// The import rule: the core never knows which store it is on, strategies and
// expressions stand alone, and nothing outside tests reaches a test server.
func TestImportRule(t *testing.T) {
	// With -e and no network: modules of their own are looked at, and what they require is not
	// downloaded for that.
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-f", "{{.ImportPath}} {{.Name}} {{join .Imports \",\"}}", module+"/...")
	cmd.Env = append(os.Environ(), "GOPROXY=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg := relative(fields[0])
		if pkg == "" && len(fields) < 3 { // the root has a comment only
			continue
		}
		from, ok := room(pkg)
		if !ok {
			t.Errorf("package %s belongs to no room; give it one in this test", pkg)
			continue
		}
		if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "base"}, fields[1]) {
			t.Errorf("package %s is named %s, which says nothing", pkg, fields[1])
		}
		if len(fields) < 3 {
			continue
		}
		for imported := range strings.SplitSeq(fields[2], ",") {
			if !strings.HasPrefix(imported, module) {
				continue
			}
			to, ok := room(relative(imported))
			if ok && to != from && !slices.Contains(allowed[from], to) {
				t.Errorf("%s imports %s: the room %s may import %q only", pkg, relative(imported), from, allowed[from])
			}
		}
	}
}

func relative(pkg string) string {
	return strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")
}

func room(pkg string) (string, bool) {
	for name := pkg; name != ""; {
		if _, ok := allowed[name]; ok {
			return name, true
		}
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			break
		}
		name = name[:i]
	}
	return "", false
}
