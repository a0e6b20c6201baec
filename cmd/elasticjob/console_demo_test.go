//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// A demo needs nothing: it says who may log in, shows its jobs, and leaves nothing behind.
func TestConsoleDemo(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	folder := t.TempDir()
	console := exec.CommandContext(ctx, "elasticjob", "console", "--demo", "--listen", "127.0.0.1:0")
	console.Env = append(os.Environ(), "TMPDIR="+folder, "HOME="+folder, "GORACE="+noSleep)
	out, err := console.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	console.Stderr = t.Output()
	if err := console.Start(); err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for lines := bufio.NewScanner(out); said["password"] == "" && lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) == 2 {
			said[words[0]] = words[1]
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, said["console"]+"/api/v1/namespaces/demo/jobs", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(said["user"], said["password"])
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Rows []struct{ Name string } }
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil || len(list.Rows) < 10 {
		t.Errorf("%d %+v, %v", answer.StatusCode, list, err)
	}
	_ = answer.Body.Close() // it was read
	if err := console.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := console.Wait(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("it has left %v, %v", left, err)
	}
}
