package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/docs"
	"github.com/elasticjob-go/elasticjob/internal/mdpage"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// Every page that shows commands with their output is walked as it is written, in a folder and against an etcd of its
// own: its files, its commands, and their output, in which … stands for any text, and a space for several. The page
// with the most commands is walked on ZooKeeper, too. The reader has a context already, which is the current one: no
// page touches its namespace.
func TestWalks(t *testing.T) {
	pages, err := mdpage.Embedded("../..", docs.Pages)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var longest mdpage.Page
	for _, page := range pages {
		commands := commandsOf(page)
		if len(commands) == 0 || seen[strings.Join(commands, "\n")] { // a translation
			continue
		}
		seen[strings.Join(commands, "\n")] = true
		if len(commands) > len(commandsOf(longest)) {
			longest = page
		}
		t.Run(page.Name, func(t *testing.T) {
			t.Parallel()
			server, err := etcdserver.Run(t.Context(), etcdserver.Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(server.Stop) // after all that uses it
			walkPage(t, page, "etcd", strings.TrimPrefix(server.Endpoints()[0], "http://"))
		})
	}
	t.Run("zookeeper", func(t *testing.T) {
		t.Parallel()
		_, address, _ := strings.Cut(servers.store(t, "zookeeper"), "://")
		walkPage(t, longest, "zookeeper", address)
	})
}

// commandsOf returns the commands of a page.
func commandsOf(page mdpage.Page) (commands []string) {
	for _, block := range page.Blocks("console") {
		for _, s := range steps(block.Text) {
			commands = append(commands, s.command)
		}
	}
	return commands
}

// step is a command of a walk, and what it prints.
type step struct{ command, output string }

func steps(console string) (list []step) {
	for text := range strings.SplitSeq("\n"+console, "\n$ ") {
		command, output, _ := strings.Cut(text, "\n")
		for strings.HasSuffix(command, `\`) {
			var more string
			more, output, _ = strings.Cut(output, "\n")
			command = strings.TrimSuffix(command, `\`) + strings.TrimSpace(more)
		}
		if command != "" {
			list = append(list, step{command, strings.TrimSuffix(output, "\n")})
		}
	}
	return list
}

// unhurried are settings of a registry by which a worker stays where it is while the machine stands still.
const unhurried = "sessionTimeout: 30s, dialTimeout: 2m, requestTimeout: 2m, "

// walkPage runs a page in a folder of its own, with another store and other ports than it names.
func walkPage(t *testing.T, page mdpage.Page, kind, address string) {
	servers, settings := map[string]string{"etcd": "endpoints", "zookeeper": "servers"}[kind], unhurried
	if strings.Contains(page.Text, "sessionTimeout") {
		settings = ""
	}
	text := strings.NewReplacer(
		`etcd: {endpoints: ["127.0.0.1:2379"]`, kind+": {"+settings+servers+`: ["`+address+`"]`,
		"etcd://127.0.0.1:2379", kind+"://"+address,
		"127.0.0.1:2379", address,
	).Replace(page.Text)
	ports := map[string]string{}
	text = regexp.MustCompile(`(127\.0\.0\.1:|localhost:|listen:? "?:)(\d{4,5})\b`).ReplaceAllStringFunc(text, func(match string) string {
		i := strings.LastIndex(match, ":") + 1
		where, port := match[:i], match[i:]
		if where+port == address || strings.HasSuffix(address, ":"+port) {
			return match
		}
		if ports[port] == "" {
			ports[port] = freePort(t)
		}
		return where + ports[port]
	})
	w := newWalk(t, page)
	before := w.ownJobs(kind + "://" + address + "/own")
	defer func() {
		if after := w.run(ownTree); after != before {
			t.Errorf("%s: the namespace of the context that was the current one had\n%s\nand has\n%s", page.Name, before, after)
		}
	}()
	for _, block := range (mdpage.Page{Name: page.Name, Text: text}).Blocks("yaml", "console") {
		w.line = block.Line
		if block.Language == "console" {
			for _, s := range steps(block.Text) {
				w.step(s.command, s.output)
			}
			continue
		}
		if name := block.File(); name != "" {
			path := filepath.Join(w.folder, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(block.Text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// freePort returns a port that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // nobody has connected
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// walk is a shell in a folder of its own.
type walk struct {
	*testing.T
	page   mdpage.Page
	line   int // of the current block
	folder string
	env    []string
	last   *exec.Cmd // what runs in the background since the last command that ends in &
	killed map[int]bool
}

func newWalk(t *testing.T, page mdpage.Page) *walk {
	w := &walk{T: t, page: page, folder: t.TempDir(), killed: map[int]bool{}}
	w.env = append(os.Environ(), "HOME="+w.folder, "XDG_CONFIG_HOME="+w.folder, "TZ=UTC", "GORACE="+noSleep)
	return w
}

// ownTree shows all nodes of the context that the reader of a page has already.
const ownTree = "elasticjob tree --values -o json --context own"

// ownJobs gives the reader a context, and jobs of the names that pages have, and returns the nodes of its namespace.
func (w *walk) ownJobs(store string) (nodes string) {
	w.Helper()
	w.run("elasticjob context set own --store " + store)
	for _, name := range []string{"settle", "report", "ping"} {
		w.run("elasticjob create " + name + " --set shardingTotalCount=1 --set 'cron=0 0 3 * * ?' --set implementation=com.example.Own")
	}
	return w.run(ownTree)
}

// run runs a command of the test.
func (w *walk) run(command string) string {
	w.Helper()
	out, err := w.shell(w.Context(), command).CombinedOutput()
	if err != nil {
		w.Fatalf("$ %s\n%s%v", command, out, err)
	}
	return string(out)
}

// step runs a command until its output is as it should be: what a command has asked for takes a moment.
func (w *walk) step(command, want string) {
	w.Helper()
	if inBackground, ok := strings.CutSuffix(command, " &"); ok {
		w.start(inBackground)
		return
	}
	if strings.Contains(command, "$!") && w.last != nil { // of a worker that is killed
		command = strings.ReplaceAll(command, "$!", strconv.Itoa(w.last.Process.Pid))
		w.killed[w.last.Process.Pid] = true
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
	var before string
	for {
		out, err := w.shell(ctx, command).CombinedOutput()
		got := 0
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			got = failed.ExitCode()
		} else if err != nil {
			w.Fatalf("$ %s\n%v", command, err)
		}
		if got == code && pattern.MatchString(spaces.ReplaceAllString(strings.TrimRight(string(out), "\n"), " ")) {
			return
		}
		text := fmt.Sprintf("%s[exit %d]", out, got)
		if ctx.Err() != nil {
			text = before // of an attempt that was not cut short
		}
		before = text
		// A trigger that finds no instance has changed nothing: the worker may not have taken the job up yet.
		isToBeTried := looks.MatchString(command) || strings.Contains(string(text), "no instance available")
		if !isToBeTried || !sleep.For(ctx, 100*time.Millisecond) {
			w.Fatalf("%s: $ %s\n%s\nwant\n%s\n[exit %d]", w.page.At(w.line), command, text, want, code)
		}
	}
}

// looks matches commands that change nothing.
var looks = regexp.MustCompile(`^(\w+=\S+ )*(elasticjob (audit|describe|diff|doctor|dump|events|get|history|instances|items|jobs|logs|processes|removed|requests|servers|tree|watch|why)\b|curl\b|cat\b|tail\b|grep\b)`)

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
	w.last = cmd
	w.Cleanup(func() {
		signalled := cmd.Process.Signal(os.Interrupt)
		if err := errors.Join(signalled, cmd.Wait()); err != nil && !w.killed[cmd.Process.Pid] {
			w.Errorf("$ %s\n%s%v", line, &out, err)
		}
	})
}
