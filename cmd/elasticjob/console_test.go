//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// A signal ends the console although somebody listens to a stream, who is told.
func TestConsoleEndsWithAnOpenStream(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	folder := t.TempDir()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "elasticjob", append(args, "--users", filepath.Join(folder, "users.yaml"))...)
		cmd.Env = append(os.Environ(), "ELASTICJOB_STORE="+servers.store(t, "etcd")+"/streams", "GORACE="+noSleep)
		return cmd
	}
	const password = "correct-horse-battery"
	file := filepath.Join(folder, "password")
	if err := os.WriteFile(file, []byte(password), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := command("console", "user", "add", "anna", "--role", "viewer", "--password-file", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	console := command("console", "--listen", "127.0.0.1:0")
	log, err := console.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := console.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	url := ""
	for url == "" && lines.Scan() {
		if found := regexp.MustCompile(`url=(\S+)`).FindStringSubmatch(lines.Text()); found != nil {
			url = found[1]
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/v1/namespaces/streams/watch", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("anna", password)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was read to its end
	stream := bufio.NewReader(answer.Body)
	if line, err := stream.ReadString('\n'); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s, %v", answer.StatusCode, line, err)
	}
	if err := console.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(stream)
	if err != nil || !strings.Contains(string(rest), "event: bye") {
		t.Errorf("the end of the stream: %s, %v", rest, err)
	}
	for lines.Scan() {
		if strings.Contains(lines.Text(), "level=ERROR") {
			t.Error(lines.Text())
		}
	}
	if err := console.Wait(); err != nil {
		t.Error(err)
	}
}
