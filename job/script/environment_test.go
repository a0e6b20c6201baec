//go:build linux

package script_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/user"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
)

// environmentOf returns the variables of a program by name. None may be there twice.
func environmentOf(t *testing.T, r result) map[string]string {
	t.Helper()
	env := map[string]string{}
	for line := range strings.Lines(string(r.Output)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if _, twice := env[name]; twice {
			t.Errorf("%s is there twice", name)
		}
		env[name] = value
	}
	if len(env) == 0 {
		t.Fatalf("no environment: %v", r.Err)
	}
	return env
}

func TestEnvironment(t *testing.T) {
	t.Setenv("PASSWORD_OF_WORKER", "x")
	t.Setenv("PASSWORT", "y")
	t.Setenv("LC_ALL", "C")
	t.Setenv("ELASTICJOB_TOKEN", "wrong")
	secret := t.TempDir() + "/secret"
	if err := os.WriteFile(secret, []byte("geheim\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(more ...string) map[string]string {
		props := sh("", more...)
		props["script.command.args"] = program("env")
		return environmentOf(t, runProps(t, props))
	}

	env := run("script.env.SECRET", "${file:"+secret+"}", "script.env.PRICE", "5$ or $${5", "script.env.EMPTY", "", "script.env.LC_ALL", "de")
	for name, want := range map[string]string{
		"SECRET": "geheim", "PRICE": "5$ or ${5", "EMPTY": "", "PATH": os.Getenv("PATH"), "LC_ALL": "de",
		"ELASTICJOB_JOB_NAME": "script", "ELASTICJOB_ITEM": "0", "ELASTICJOB_TOTAL": "1", "ELASTICJOB_ITEM_PARAMETER": "Beijing",
		"ELASTICJOB_JOB_PARAMETER": "all", "ELASTICJOB_SOURCE": "MANUAL", "ELASTICJOB_ATTEMPT": "1",
	} {
		if got, ok := env[name]; !ok || got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"TOKEN", "TASK_ID", "INSTANCE_ID", "SCHEDULED_TIME"} {
		if got := env["ELASTICJOB_"+name]; got == "" || got == "wrong" {
			t.Errorf("ELASTICJOB_%s is %q", name, got)
		}
	}
	for _, name := range []string{"PASSWORD_OF_WORKER", "PASSWORT", "GOGC", "GOMAXPROCS"} {
		if value, ok := env[name]; ok {
			t.Errorf("the program has %s=%s", name, value)
		}
	}
	if env := run(); env["LC_ALL"] != "C" {
		t.Errorf("LC_ALL is %q", env["LC_ALL"])
	}
	if env := run("script.inherit", "PASSWORD_*"); env["PASSWORD_OF_WORKER"] != "x" || env["PASSWORT"] != "" || env["PATH"] != "" {
		t.Errorf("with a list: %v", env)
	}
	if env := run("script.inherit", "*"); env["PASSWORD_OF_WORKER"] != "x" || env["ELASTICJOB_TOKEN"] == "wrong" || env["GOMAXPROCS"] != os.Getenv("GOMAXPROCS") {
		t.Errorf("with all: %v", env)
	}
	for name := range run("script.inherit", "none") {
		if !strings.HasPrefix(name, "ELASTICJOB_") {
			t.Errorf("with none it has %s", name)
		}
	}
}

// What a scope has the execution pass on is in the environment, whatever the worker has there. What
// the properties say counts more. The lines that the script prints go to the log handler, although
// the scheduler's log drops them.
func TestPropagated(t *testing.T) {
	t.Setenv("TRACEPARENT", "of the worker")
	var lines bytes.Buffer
	scope := job.WithScope(func(ctx context.Context, _ job.Event) (context.Context, func(job.Event)) {
		for name, value := range map[string]string{"traceparent": "00-1", "X-Tenant-Id": "a b", "own": "no", "ELASTICJOB_ITEM": "7"} {
			var err error
			if ctx, err = job.Propagate(ctx, name, value); err != nil {
				t.Error(err)
			}
		}
		return job.LogTo(ctx, slog.NewTextHandler(&lines, nil)), nil
	})
	props := sh("", "script.inherit", "*", "script.env.OWN", "yes")
	props["script.command.args"] = program("env")
	e, err := underScheduler(t.Context(), newType(t, script.Options{}), job.Config{Name: "script", ShardingTotalCount: 1, Props: props}, slog.DiscardHandler, scope)
	if err != nil {
		t.Fatal(err)
	}
	env := environmentOf(t, result{Event: e})
	for name, want := range map[string]string{"TRACEPARENT": "00-1", "X_TENANT_ID": "a b", "OWN": "yes", "ELASTICJOB_ITEM": "0"} {
		if got := env[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if !strings.Contains(lines.String(), "TRACEPARENT=00-1") {
		t.Errorf("the log handler got %s", lines.String())
	}
}

// References are looked up at the start and at each run, and where the program says. Their values are not in
// errors.
func TestLookup(t *testing.T) {
	values := []string{"at the start", "first", "second", "zero\x00byte"}
	o := script.Options{Lookup: func(name string) (string, bool, error) {
		if name != "vault:token" {
			return "", false, nil
		}
		value := values[0]
		values = values[1:]
		return value, true, nil
	}}
	_, err := newType(t, o).Handler(job.Config{Name: "script", ShardingTotalCount: 1, Props: sh("", "script.env.TOKEN", "${vault:other}")})
	if err == nil || !strings.Contains(err.Error(), `props: script.env.TOKEN: reference "${vault:other}" is not known`) {
		t.Errorf("got %v", err)
	}
	h := newHandler(t, o, sh(`test "$TOKEN" = `+"second", "script.env.TOKEN", "${vault:token}"))
	for _, want := range []string{`script: "/bin/sh": exit code 1`, "", "script: script.env.TOKEN: it has a zero byte"} {
		err := h.Execute(t.Context(), job.ShardingContext{})
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A program runs as the user of the worker, or, if that is root, as any other.
func TestUser(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	r := runProps(t, sh("id -un; id -u", "script.user", me.Uid))
	if want := me.Username + "\n" + me.Uid + "\n"; r.Err != nil || string(r.Output) != want {
		t.Errorf("as oneself: got %q (%v), want %q", r.Output, r.Err, want)
	}

	held := newHeld(t)
	r = runProps(t, sh(`exec 9>$HOLD; id -un; id -gn; id -G; echo $USER $LOGNAME $HOME; echo late >/dev/stdout; sleep 1000 &`,
		"script.user", "nobody", "script.group", "daemon", "script.env.HOLD", held.path, "script.directory", "/", "script.grace", "10ms"))
	held.mustBeGone(t)
	if os.Geteuid() != 0 {
		if r.Err == nil || !strings.HasSuffix(r.Err.Error(), `run as user "nobody": only root may run programs as another user`) {
			t.Errorf("got %v", r.Err)
		}
		return
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(r.Output), "\n")
	if r.Err != nil || len(lines) != 6 {
		t.Fatalf("got %q (%v)", r.Output, r.Err)
	}
	if lines[0] != "nobody" || lines[1] != "daemon" || slices.Contains(strings.Fields(lines[2]), "0") || lines[3] != "nobody nobody "+nobody.HomeDir || lines[4] != "late" {
		t.Errorf("got %q", lines)
	}
	r = runProps(t, sh("true", "script.user", "nobody", "script.directory", secretFolder(t)))
	if !errors.Is(r.Err, os.ErrPermission) {
		t.Errorf("a folder that the user may not enter: %v", r.Err)
	}
}

func secretFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	return folder
}
