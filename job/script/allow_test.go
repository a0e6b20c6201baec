//go:build linux

package script_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"strings"
	"syscall"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/allow"
	"github.com/elasticjob-go/elasticjob/job/script"
)

func TestAllow(t *testing.T) {
	t.Setenv("PAY_KEY", "k")
	t.Setenv("DB_PASSWORD", "geheim")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	list, err := allow.New(
		allow.Rule{Jobs: "*", Commands: []string{"/bin/ec*", "id"}, Variables: []string{"PAY_*"}, Environment: []string{"KEY"}},
		allow.Rule{Jobs: "as-*", User: me.Username})
	if err != nil {
		t.Fatal(err)
	}
	scripts := newType(t, script.Options{Allow: list})
	for _, tc := range []struct {
		job, line, name, value string // of one more property
		wrong                  string // the property that is; empty: it runs
	}{
		{"a", "/bin/echo x", "", "", ""},
		{"a", "id", "script.context.argument", "false", ""},
		{"a", "/bin/echo x", "script.env.KEY", "${env:PAY_KEY}", ""},
		{"a", "/bin/echo x", "script.inherit", "PATH,HOME,PAY_*", ""},
		{"as-me", "/bin/echo x", "script.user", me.Username, ""},
		{"a", "/bin/sh x", "", "", "script.command.line"},
		{"a", "/bin/echo x", "script.env.KEY", "${env:DB_PASSWORD}", "script.env.KEY"},
		{"a", "/bin/echo x", "script.env.KEY", "${file:/etc/hostname}", "script.env.KEY"},
		{"a", "/bin/echo x", "script.env.LD_PRELOAD", "x", "script.env.LD_PRELOAD"},
		{"a", "/bin/echo x", "script.inherit", "*", `script.inherit: "*"`},
		{"a", "/bin/echo x", "script.inherit", "P*", "script.inherit"},
		{"a", "/bin/echo x", "script.inherit", "none", ""},
		{"a", "/bin/echo x", "script.inherit", "LC_ALL", ""},
		{"a", "/bin/echo x", "script.user", me.Username, "script.user"},
		{"as-me", "/bin/echo x", "script.user", "somebody", "script.user"},
		{"as-me", "/bin/echo x", "script.group", "daemon", "script.group"},
	} {
		props := map[string]string{"script.command.line": tc.line}
		if tc.name != "" {
			props[tc.name] = tc.value
		}
		if tc.name == "script.group" {
			props["script.user"] = me.Username
		}
		h, err := scripts.Handler(job.Config{Name: tc.job, ShardingTotalCount: 1, Props: props})
		switch {
		case err == nil && tc.wrong == "":
			if err := h.Execute(t.Context(), job.ShardingContext{}); err != nil {
				t.Errorf("%+v: %v", tc, err)
			}
		case err == nil || tc.wrong == "" || !errors.Is(err, allow.ErrNotAllowed) || !strings.Contains(err.Error(), tc.wrong):
			t.Errorf("%+v: %v", tc, err)
		}
	}
}

// A script of the same user reads the environment of no process that runs it, nor the memory of the worker.
func TestScriptsDoNotSeeTheWorkersEnvironment(t *testing.T) {
	worker := exec.Command("/proc/self/exe", helperArgument, "spy")
	worker.Env = append(os.Environ(), "DB_PASSWORD=geheim", "GORACE=atexit_sleep_ms=0")
	if os.Geteuid() == 0 { // who may read everything
		worker.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		worker.Dir = "/"
	}
	output, err := worker.CombinedOutput()
	if text := string(output); err != nil || !strings.Contains(text, "it has looked") || strings.Contains(text, "geheim") || strings.Contains(text, "memory is readable") {
		t.Errorf("%v, %s", err, text)
	}
}

// spy is a worker whose script looks at all processes that it can.
func spy(s script.Supervisor) int {
	scripts, err := script.New(s, script.Options{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	e, err := underScheduler(context.Background(), scripts, job.Config{Name: "script", ShardingTotalCount: 1, Props: sh(
		`for p in /proc/[0-9]*; do tr '\0' '\n' <$p/environ; done 2>/dev/null | grep DB_PASSWORD
		worker=$(cut -d' ' -f4 /proc/$PPID/stat)
		if head -c 0 /proc/$worker/mem 2>/dev/null; then echo memory is readable; fi
		echo it has looked`)}, slog.DiscardHandler)
	fmt.Println(string(e.Output), e.Err, err)
	return 0
}
