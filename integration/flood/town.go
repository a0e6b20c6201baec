//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// town is a store, a console and a worker, with their users.
type town struct {
	dir     string
	program string
	etcd    *etcdserver.Server
	address string // of the console
	console *exec.Cmd
	worker  *exec.Cmd
	tokens  map[string]string // by user
}

const (
	namespace = "shop"
	worker    = `registry: {etcd: {endpoints: [%q], namespace: shop}}
node: {serve: true, drain: 1s}
allow: {"*": {script: {commands: ["true"]}}}
jobs:
  settle: {type: SCRIPT, shardingTotalCount: 1, cron: "* * * * * ?", props: {script.command.line: "true"}}
  noise: {type: SCRIPT, shardingTotalCount: 1, cron: "0 0 3 * * ?", props: {script.command.line: "true"}}
`
)

// build starts everything but the attack. The junk is there before the console and the worker are.
func build(ctx context.Context, p plan) (t *town, err error) {
	t = &town{tokens: map[string]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	if t.dir, err = os.MkdirTemp("", "flood-"); err != nil {
		return t, err
	}
	t.program = filepath.Join(t.dir, "program")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", t.program, "github.com/elasticjob-go/elasticjob/cmd/elasticjob").CombinedOutput(); err != nil {
		return t, fmt.Errorf("build elasticjob: %w: %s", err, out)
	}
	if t.etcd, err = etcdserver.Run(ctx, etcdserver.Config{}); err != nil {
		return t, err
	}
	if err := t.putJunk(ctx, p); err != nil {
		return t, err
	}
	grants := map[string]string{"honest": "operator:*:settle", "noisy": "operator:*:noise"}
	for i := 0; i < p.streams; i += streamsOfUser {
		grants[viewer(i)] = "viewer"
	}
	for user, grant := range grants {
		if _, err := t.run(ctx, "console", "user", "add", user, "--no-password", "--grant", grant); err != nil {
			return t, err
		}
		token, err := t.run(ctx, "console", "token", "create", user, "flood", "-o", "name")
		if err != nil {
			return t, err
		}
		t.tokens[user] = strings.TrimSpace(token)
	}
	file := filepath.Join(t.dir, "worker.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, worker, t.etcd.Endpoints()[0]), 0o600); err != nil {
		return t, err
	}
	if t.worker, err = t.start("run", "-f", file); err != nil {
		return t, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return t, err
	}
	t.address = listener.Addr().String()
	if err := listener.Close(); err != nil {
		return t, err
	}
	if t.console, err = t.start("console", "--store", "etcd://"+t.etcd.Endpoints()[0]+"/"+namespace, "--listen", t.address); err != nil {
		return t, err
	}
	return t, t.isReady(ctx)
}

// putJunk is what a job's own workers could write.
func (t *town) putJunk(ctx context.Context, p plan) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: t.etcd.Endpoints(), DialTimeout: time.Minute})
	if err != nil {
		return err
	}
	junk := string(bytes.Repeat([]byte("x"), 1_200_000))
	for i := range p.junk {
		if _, err := client.Put(ctx, fmt.Sprintf("/%s/evil/faults/%03d", namespace, i), junk); err != nil {
			return errors.Join(fmt.Errorf("junk: %w", err), client.Close())
		}
	}
	const atOnce = 100
	for i := 0; i < p.crumbs; i += atOnce {
		var puts []clientv3.Op
		for j := range atOnce {
			puts = append(puts, clientv3.OpPut(fmt.Sprintf("/%s/evil/crumbs/%d", namespace, i+j), ""))
		}
		if _, err := client.Txn(ctx).Then(puts...).Commit(); err != nil {
			return errors.Join(fmt.Errorf("crumbs: %w", err), client.Close())
		}
	}
	return client.Close()
}

func (t *town) command(args ...string) *exec.Cmd {
	cmd := exec.Command(t.program, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.dir, "XDG_CONFIG_HOME="+t.dir, "GOMAXPROCS=2")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (t *town) run(ctx context.Context, args ...string) (string, error) {
	cmd := t.command(args...)
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	var wrong strings.Builder
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("elasticjob %s: %w: %s", strings.Join(args, " "), err, wrong.String())
	}
	return string(out), nil
}

// start starts a process that runs until the end. Its log is a file in the folder.
func (t *town) start(args ...string) (*exec.Cmd, error) {
	log, err := os.Create(filepath.Join(t.dir, args[0]+".log"))
	if err != nil {
		return nil, err
	}
	cmd := t.command(args...)
	cmd.Stdout, cmd.Stderr = log, log
	return cmd, errors.Join(cmd.Start(), log.Close())
}

// isReady waits until the console shows that the worker has the job.
func (t *town) isReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	client := t.client("honest")
	for {
		text, err := client.get(ctx, "/jobs/settle/instances")
		if err == nil && strings.Contains(text, `"items":[0]`) {
			return nil
		}
		if !sleep.For(ctx, 100*time.Millisecond) {
			return fmt.Errorf("the worker does not run beside the junk: %w: %s; see %s", err, text, t.dir)
		}
	}
}

func (t *town) close() error {
	var errs []error
	for _, cmd := range []*exec.Cmd{t.console, t.worker} {
		if cmd != nil && cmd.Process != nil {
			errs = append(errs, cmd.Process.Kill())
			_ = cmd.Wait() // it was killed
		}
	}
	if t.etcd != nil {
		t.etcd.Stop()
	}
	return errors.Join(append(errs, os.RemoveAll(t.dir))...)
}

// streamsOfUser is how many streams a user may have at a time.
const streamsOfUser = 20

// viewer is who has a stream.
func viewer(stream int) string { return fmt.Sprintf("viewer-%d", stream/streamsOfUser) }

// client asks the API as a user.
type client struct {
	http  *http.Client
	base  string
	token string
}

func (t *town) client(user string) *client {
	return &client{&http.Client{Transport: &http.Transport{}, Timeout: 30 * time.Second}, "http://" + t.address + "/api/v1/namespaces/" + namespace, t.tokens[user]}
}

func (c *client) get(ctx context.Context, path string) (string, error) {
	return c.ask(ctx, "GET", path)
}

func (c *client) ask(ctx context.Context, method, path string) (string, error) {
	var body io.Reader
	if method == "POST" {
		body = strings.NewReader("{}")
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err == nil && answer.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %d: %.300s", method, path, answer.StatusCode, text)
	}
	return string(text), err
}

// peakMemory is the largest resident set of a process so far, in bytes.
func peakMemory(pid int) (bytes int64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(strings.NewReader(string(status)))
	for lines.Scan() {
		if size, is := strings.CutPrefix(lines.Text(), "VmHWM:"); is {
			kib, err := strconv.ParseInt(strings.Fields(size)[0], 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("/proc does not say how much memory the console has")
}
