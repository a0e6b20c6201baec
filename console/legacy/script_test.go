package legacy_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console"
	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/legacy"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

const password = "correct horse battery staple"

// newConsole is a console that listens, with the user root.
func newConsole(t *testing.T, w *legacy.World) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	users := access.File(filepath.Join(t.TempDir(), "users.yaml"))
	if err := users.Change(ctx, func(u *access.Users) error {
		return u.Add("root", password, []access.Grant{{Role: access.Admin}})
	}); err != nil {
		t.Fatal(err)
	}
	control, err := access.Open(access.Options{File: users})
	if err != nil {
		t.Fatal(err)
	}
	old, err := legacy.New(legacy.Options{Connections: w.Book(), Access: control})
	if err != nil {
		t.Fatal(err)
	}
	c, err := console.New(console.Options{Connections: w.Book(), Access: control, Mount: []console.Routes{old}, Slog: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(c)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
		server.Close()
		if err := control.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.URL
}

// Scripts that were written for ElasticJob's consoles run as they are. What they change is in the tree, and in the
// audit with who has done it and from where.
func TestScripts(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("curl is missing; scripts/test-deps installs it")
	}
	for _, script := range []string{"console-2.1.5.sh", "ui-3.0.sh"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			w := legacy.NewWorld(t)
			url := newConsole(t, w)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			run := exec.CommandContext(ctx, "sh", filepath.Join("testdata", script))
			run.Env = append(os.Environ(), "URL="+url, "LOGIN=root:"+password, "no_proxy=127.0.0.1")
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			check(t, w)
		})
	}
}

// check looks at what a script has left.
func check(t *testing.T, w *legacy.World) {
	t.Helper()
	if n := w.Ran("settle 0"); n != 1 {
		t.Errorf("item 0 ran %d times, want once", n)
	}
	s, err := w.Prod().Job("settle").Settings(t.Context())
	if err != nil || s.Config.Failover || s.Config.ErrorHandler != job.ErrorHandlerIgnore || s.Config.ShardingItemParameters != "0=a,1=b" {
		t.Errorf("settings %+v, %v", s.Config, err)
	}
	if !slices.Contains(w.Secrets(), "anna secret") {
		t.Errorf("the database was not tested with its user and password: %q", w.Secrets())
	}
	changes, err := w.Prod().Audit(t.Context(), ops.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[ops.Action]bool{}
	for _, c := range changes {
		if c.By == "" { // the test itself has made a job
			continue
		}
		seen[c.Action] = true
		if c.By != "root" || c.From != "127.0.0.1" {
			t.Errorf("%s of %s by %q from %q", c.Action, c.Job, c.By, c.From)
		}
	}
	for _, action := range []ops.Action{
		ops.ActionTrigger, ops.ActionDisableServers, ops.ActionEnableServers, ops.ActionDisableItems, ops.ActionEnableItems, ops.ActionUpdate,
		ops.ActionRemove, ops.ActionShutdown, ops.ActionRemoveServers,
	} {
		if !seen[action] {
			t.Errorf("the audit has no %s", action)
		}
	}
}

// A script has each route of its console.
func TestScriptsAreWhole(t *testing.T) {
	text := func(name string) string {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	both := text("console-2.1.5.sh") + text("ui-3.0.sh")
	for _, r := range legacy.AllRoutes() {
		method, pattern, _ := strings.Cut(r, " ")
		if strings.Contains(pattern, "casdoor") {
			continue // it is refused
		}
		if !slices.ContainsFunc(strings.Split(both, "\n"), func(line string) bool { return fits(line, method, pattern) }) {
			t.Errorf("no script has %s", r)
		}
	}
}

// fits reports whether a line of a script asks a route.
func fits(line, method, pattern string) bool {
	words := strings.Fields(line)
	for n, word := range words {
		if word != method && method != "POST" || !strings.Contains(line, method) {
			continue
		}
		for _, path := range words[n:] {
			path, _, _ = strings.Cut(strings.Trim(path, `'")`), "?")
			path = strings.TrimPrefix(path, "$URL")
			is, want := strings.Split(path, "/"), strings.Split(pattern, "/")
			if len(is) != len(want) {
				continue
			}
			same := true
			for i := range want {
				same = same && (is[i] == want[i] || strings.HasPrefix(want[i], "{"))
			}
			if same {
				return true
			}
		}
	}
	return false
}

// Neither a wrong password nor a route of a job lets anybody in, and the dialect of what is refused is right.
func TestRefusals(t *testing.T) {
	url := newConsole(t, legacy.NewWorld(t))
	for _, tt := range []struct{ token, path, want string }{
		{"", "/api/jobs", "401 log in first\n"},
		{"wrong", "/api/jobs", `200 {"success":false,"errorCode":403,`},
		{"", "/api/jobs/getAllJobsBriefInfo", `401 {"success":false,"errorCode":403,`},
	} {
		r, err := http.NewRequest(http.MethodGet, url+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.token != "" {
			r.Header.Set("Access-Token", tt.token)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close() // it was read
		if got := answer.Status[:3] + " " + string(body); err != nil || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s with token %q: %s, %v; want %s", tt.path, tt.token, got, err, tt.want)
		}
	}
}
