package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/internal/testserver/child"
)

var update = flag.Bool("update", false, "write what scripts compare with cmp anew")

// noSleep keeps the race detector from sleeping for a second at the end of each process.
const noSleep = "atexit_sleep_ms=0"

// Every script runs on etcd, and on ZooKeeper unless its first lines say why not. Beside what testscript knows, it has
//
//	worker [IP]               runs the jobs of worker_test.go until the script ends
//	exits CODE COMMAND…       runs a command, which ends with that code
//	await PATTERN COMMAND…    runs a command until its output matches
//	fetch PATTERN URL         reads a page until it matches
func TestScripts(t *testing.T) {
	for _, kind := range []string{"etcd", "zookeeper"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			address := servers.store(t, kind)
			testscript.Run(t, testscript.Params{
				Dir: "testdata", UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
				Setup: func(e *testscript.Env) error {
					namespace := "scripts/" + strings.TrimPrefix(filepath.Base(e.WorkDir), "script-")
					e.Setenv("ADDRESS", address)
					e.Setenv("NAMESPACE", namespace)
					e.Setenv("ELASTICJOB_STORE", address+"/"+namespace)
					e.Setenv("ELASTICJOB_CONFIG", filepath.Join(e.WorkDir, "config.yaml"))
					e.Setenv("ELASTICJOB_BY", "anna")
					e.Setenv("TZ", "UTC")
					e.Setenv("GORACE", noSleep)
					_, server, _ := strings.Cut(address, "://")
					e.Setenv("SERVER", server)
					free, err := child.FreePorts(1)
					if err != nil {
						return err
					}
					e.Setenv("FREE", child.Address(free[0]))
					return nil
				},
				Condition: func(name string) (bool, error) {
					if name == "etcd" || name == "zookeeper" {
						return name == kind, nil
					}
					return false, fmt.Errorf("no condition %q", name)
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){"worker": scriptWorker(t), "exits": scriptExits, "await": scriptAwait, "fetch": scriptFetch},
			})
		})
	}
}

func scriptWorker(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) > 1 {
			ts.Fatalf("usage: worker [IP]")
		}
		ip := "10.0.0.1"
		if len(args) == 1 {
			ip = args[0]
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		w, err := startWorker(ctx, ts.Getenv("ELASTICJOB_STORE"), ip, strings.TrimPrefix(ts.Getenv("ELASTICJOB_HISTORY"), "sqlite:"))
		ts.Check(err)
		ts.Defer(func() {
			if err := w.end(); err != nil {
				t.Errorf("worker: %v", err)
			}
		})
	}
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		failed, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v: %v", args[1:], err)
		}
		got = failed.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func scriptAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await PATTERN COMMAND…")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		if err := ts.Exec(args[1], args[2:]...); err == nil && pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if !sleep.For(ctx, 50*time.Millisecond) {
			ts.Fatalf("not seen in %v: %s", patience, args[0])
		}
	}
}

func scriptFetch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fetch PATTERN URL")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		page, err := get(client, args[1])
		if pattern.Match(page) {
			return
		}
		if !sleep.For(ctx, 50*time.Millisecond) {
			ts.Fatalf("not seen in %v: %s; the page is %s, %v", patience, args[0], page, err)
		}
	}
}

func get(client http.Client, url string) ([]byte, error) {
	answer, err := client.Get(url)
	if err != nil {
		return nil, err // nobody listens yet
	}
	page, err := io.ReadAll(answer.Body)
	return page, errors.Join(err, answer.Body.Close())
}
