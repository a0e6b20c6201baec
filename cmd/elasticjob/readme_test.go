package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// The walk of README.md is run as it is written, on both stores: its files, its commands, and their
// output, in which … stands for any text, and a space for several.
func TestReadmeWalk(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## The command\n")
	section, _, ok := strings.Cut(section, "\n## ")
	if !ok {
		t.Fatal("README.md has no section about the command")
	}
	for _, kind := range []string{"etcd", "zookeeper"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			_, address, _ := strings.Cut(servers.store(t, kind), "://")
			section := strings.NewReplacer(
				"etcd://127.0.0.1:2379", kind+"://"+address,
				`etcd: {endpoints: ["127.0.0.1:2379"]`, kind+": {"+unhurried+map[string]string{"etcd": "endpoints", "zookeeper": "servers"}[kind]+`: ["`+address+`"]`,
			).Replace(section)
			newWalk(t).run(section)
		})
	}
}

// unhurried are settings of a registry by which a worker stays where it is while the machine stands still.
const unhurried = "sessionTimeout: 30s, dialTimeout: 2m, requestTimeout: 2m, "

// walk is a shell in a folder of its own.
type walk struct {
	*testing.T
	folder string
	env    []string
}

func newWalk(t *testing.T) *walk {
	w := &walk{T: t, folder: t.TempDir()}
	w.env = append(os.Environ(), "HOME="+w.folder, "XDG_CONFIG_HOME="+w.folder, "TZ=UTC", "GORACE="+noSleep)
	return w
}

// run writes the files of a section, and runs its commands.
func (w *walk) run(section string) {
	for _, file := range blocks(section, "yaml") {
		name, _, _ := strings.Cut(strings.TrimPrefix(file, "# "), "\n")
		if err := os.WriteFile(filepath.Join(w.folder, name), []byte(file), 0o600); err != nil {
			w.Fatal(err)
		}
	}
	commands := 0
	for _, console := range blocks(section, "console") {
		for step := range strings.SplitSeq("\n"+console, "\n$ ") {
			if line, output, _ := strings.Cut(step, "\n"); line != "" {
				commands++
				w.step(line, strings.TrimSuffix(output, "\n"))
			}
		}
	}
	if commands < 10 {
		w.Errorf("only %d commands", commands)
	}
}

func blocks(section, language string) (list []string) {
	for _, match := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)\n```\n").FindAllStringSubmatch(section, -1) {
		list = append(list, match[1]+"\n")
	}
	return list
}

// step runs a command until its output is as it should be: what a command has asked for takes a moment.
func (w *walk) step(line, want string) {
	w.Helper()
	if command, ok := strings.CutSuffix(line, " &"); ok {
		w.start(command)
		return
	}
	code := 0
	if i := strings.LastIndex(want, "[exit "); i >= 0 {
		code, _ = strconv.Atoi(strings.TrimSuffix(want[i+len("[exit "):], "]")) // 0 then, and that is wrong
		want = strings.TrimSuffix(want[:i], "\n")
	}
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	spaces := regexp.MustCompile(" +")
	pattern := regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(spaces.ReplaceAllString(want, " ")), "…", ".*") + "$")
	for attempt := 0; ; attempt++ {
		out, err := w.shell(ctx, line).CombinedOutput()
		got := 0
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			got = failed.ExitCode()
		} else if err != nil {
			w.Fatalf("$ %s\n%v", line, err)
		}
		if got == code && pattern.MatchString(spaces.ReplaceAllString(strings.TrimRight(string(out), "\n"), " ")) {
			return
		}
		isLook := regexp.MustCompile(`^elasticjob (jobs|history|logs|doctor)`).MatchString(line)
		if !isLook || !sleep.For(ctx, 100*time.Millisecond) {
			w.Fatalf("$ %s\n%s[exit %d]\nwant\n%s\n[exit %d]", line, out, got, want, code)
		}
	}
}

func (w *walk) shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = w.folder, w.env
	return cmd
}

// start runs a command until the end of the test.
func (w *walk) start(line string) {
	cmd := w.shell(context.Background(), "exec "+line)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		if err := errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()); err != nil {
			w.Errorf("$ %s\n%s%v", line, &out, err)
		}
	})
}
