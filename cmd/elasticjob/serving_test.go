//go:build unix

package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// serving is a command that serves a console, and has said where, and who may log in.
type serving struct {
	*exec.Cmd
	t    *testing.T
	said map[string]string
}

// serve starts such a command. All that it may write is in a folder.
func serve(ctx context.Context, t *testing.T, folder string, args ...string) *serving {
	t.Helper()
	cmd := exec.CommandContext(ctx, "elasticjob", append(args, "--listen", "127.0.0.1:0")...)
	cmd.Env = append(os.Environ(), "TMPDIR="+folder, "HOME="+folder, "GORACE="+noSleep)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &serving{cmd, t, map[string]string{}}
	for lines := bufio.NewScanner(out); s.said["password"] == "" && lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) == 2 {
			s.said[words[0]] = words[1]
		}
	}
	return s
}

// jobs returns the jobs that the console shows.
func (s *serving) jobs(ctx context.Context) (list struct {
	Rows []struct{ Name, Status string }
}) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.said["console"]+"/api/v1/namespaces/"+cmp.Or(s.said["namespace"], s.said["user"])+"/jobs", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	request.SetBasicAuth(s.said["user"], s.said["password"])
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil {
		s.t.Errorf("%d, %v", answer.StatusCode, err)
	}
	return list
}

func (s *serving) end() {
	s.t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		s.t.Error(err)
	}
}

// A demo needs nothing: it says who may log in, shows its jobs, and leaves nothing behind.
func TestConsoleDemo(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	folder := t.TempDir()
	console := serve(ctx, t, folder, "console", "--demo")
	if list := console.jobs(ctx); len(list.Rows) < 10 {
		t.Errorf("%+v", list)
	}
	console.end()
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("it has left %v, %v", left, err)
	}
}

// A developer needs nothing either: the jobs of a file run on a store of his own, whatever the file says of stores. What
// he has given a folder for is there again at the next start, and else nothing stays.
func TestDev(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	folder, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
	const file = `
registry: {zookeeper: {servers: ["zk.invalid:2181"], namespace: production, digest: "user:${env:PASSWORD_THAT_NOBODY_HAS}"}}
tracing: {type: SQL, database: "${file:/nowhere/history}"}
jobs:
  hello: {cron: "* * * * * ?", shardingTotalCount: 1, type: SCRIPT, props: {script.command.line: "true"}}
profiles:
  production:
    registry: {zookeeper: null, etcd: {endpoints: ["etcd.invalid:2379"], namespace: production, username: "${env:PASSWORD_THAT_NOBODY_HAS}"}}
    tracing: {database: "mysql:user:password@tcp(mysql.invalid:3306)/history"}
`
	jobs := filepath.Join(t.TempDir(), "jobs.yaml")
	if err := os.WriteFile(jobs, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	dev := serve(ctx, t, folder, "dev", "--etcd", "127.0.0.1:0", "-f", jobs, "--profile", "production")
	if list := dev.jobs(ctx); len(list.Rows) != 1 {
		t.Errorf("with a profile there are %+v", list)
	}
	dev.end()
	t.Setenv("ELASTICJOB_PROFILES", "production")
	dev = serve(ctx, t, folder, "dev", "--etcd", "127.0.0.1:0", "--data", data, "-f", jobs)
	if list := dev.jobs(ctx); len(list.Rows) != 1 || list.Rows[0].Name != "hello" {
		t.Errorf("%+v", list)
	}
	second, err := exec.CommandContext(ctx, "elasticjob", "dev", "--etcd", "127.0.0.1:0", "--data", data).CombinedOutput()
	if err == nil || !strings.Contains(string(second), data+": another process uses it") {
		t.Errorf("a second one says %s, %v", second, err)
	}
	for { // the history is written a moment after a run
		out, err := exec.CommandContext(ctx, "elasticjob", "history", "hello", "--store", dev.said["store"], "--history", dev.said["history"]).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if strings.Contains(string(out), " OK ") {
			break
		}
	}
	dev.end()

	dev = serve(ctx, t, folder, "dev", "--etcd", "127.0.0.1:0", "--data", data)
	if list := dev.jobs(ctx); len(list.Rows) != 1 {
		t.Errorf("after a restart there are %+v", list)
	}
	dev.end()
	t.Setenv("ELASTICJOB_NAMESPACE", "mine")
	dev = serve(ctx, t, folder, "dev", "--etcd", "127.0.0.1:0")
	dev.said["namespace"] = "mine"
	if list := dev.jobs(ctx); len(list.Rows) != 0 || !strings.HasSuffix(dev.said["store"], "/mine") {
		t.Errorf("a new one has %+v, at %s", list, dev.said["store"])
	}
	dev.end()
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("it has left %v, %v", left, err)
	}
}
