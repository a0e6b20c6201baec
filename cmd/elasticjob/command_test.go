package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/command"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
)

// person runs the command as if at a terminal, or not.
type person struct {
	store    string
	env      map[string]string
	width    int
	answers  map[bool]string // to questions, and for passwords; nil is no terminal
	thinks   func()          // before an answer
	out, err strings.Builder
}

func (p *person) run(ctx context.Context, args ...string) exit.Code {
	p.out.Reset()
	p.err.Reset()
	e := command.Environment{
		In: strings.NewReader(""), Out: &p.out, Err: &p.err, Width: p.width, Patience: patience,
		Lookup: func(name string) (string, bool) {
			if name == "ELASTICJOB_STORE" && p.store != "" {
				return p.store, true
			}
			value, ok := p.env[name]
			if name == "ELASTICJOB_CONFIG" && !ok {
				return "/no/such/file", true
			}
			return value, ok
		},
	}
	if p.answers != nil {
		e.Ask = func(_ context.Context, question string, isSecret bool) (string, error) {
			p.err.WriteString(question)
			if p.thinks != nil {
				p.thinks()
			}
			return p.answers[isSecret], nil
		}
	}
	return command.Run(ctx, e, args...)
}

// On a server with users and TLS: where a password may come from, and how it ends without the right one.
func TestUsersAndTLS(t *testing.T) {
	t.Parallel()
	const password = "hunter2 with a space"
	server := etcdserver.Start(t, etcdserver.Config{TLS: true, Auth: &etcdserver.Auth{User: "ops", Password: password, Prefix: "/mine/"}})
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ca := server.AuthorityFile()
	at := "etcd+tls://" + server.Endpoints()[0]
	for name, tc := range map[string]struct {
		person person
		args   []string
		want   exit.Code
	}{
		"a file":                    {args: []string{"--store", at + "/mine", "--user", "ops", "--password-file", file, "--cacert", ca}},
		"the environment":           {args: []string{"--store", at + "/mine", "--cacert", ca}, person: person{env: map[string]string{"ELASTICJOB_USER": "ops", "ELASTICJOB_PASSWORD": password}}},
		"a user in the address":     {args: []string{"--store", "etcd+tls://ops@" + server.Endpoints()[0] + "/mine", "--password-file", file, "--cacert", ca}},
		"a question":                {args: []string{"--store", at + "/mine", "--user", "ops", "--cacert", ca}, person: person{answers: map[bool]string{true: password}}},
		"nobody to ask":             {args: []string{"--store", at + "/mine", "--user", "ops", "--cacert", ca}, want: exit.Usage},
		"a wrong password":          {args: []string{"--store", at + "/mine", "--user", "ops", "--cacert", ca}, person: person{env: map[string]string{"ELASTICJOB_PASSWORD": "hunter2"}}, want: exit.Denied},
		"another's namespace":       {args: []string{"--store", at + "/other", "--user", "ops", "--password-file", file, "--cacert", ca}, want: exit.Denied},
		"an authority of strangers": {args: []string{"--store", at + "/mine", "--user", "ops", "--password-file", file}, want: exit.Denied},
		"a server of another name":  {args: []string{"--store", at + "/mine", "--user", "ops", "--password-file", file, "--cacert", ca, "--server-name", "other"}, want: exit.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			got := tc.person.run(t.Context(), append([]string{"jobs", "--timeout", "1m"}, tc.args...)...)
			out := tc.person.out.String() + tc.person.err.String()
			if got != tc.want || strings.Contains(out, "hunter2") {
				t.Errorf("got %d, want %d, and no password in it: %s", got, tc.want, out)
			}
		})
	}
}

func TestDangerousCommandsAsk(t *testing.T) {
	t.Parallel()
	store := servers.store(t, "etcd")
	p := person{store: store + "/asked"}
	run := func(want exit.Code, args ...string) {
		t.Helper()
		if got := p.run(t.Context(), args...); got != want {
			t.Fatalf("%v: got %d, want %d: %s%s", args, got, want, &p.out, &p.err)
		}
	}
	run(exit.Done, "create", "old", "--set", "shardingTotalCount=1")
	run(exit.Usage, "remove", "old")
	p.answers = map[bool]string{false: ""}
	run(exit.Failed, "remove", "old")
	if text := p.err.String(); !strings.HasPrefix(text, "store "+store+", namespace asked: remove job old, with configuration") || !strings.Contains(text, "? [y/N] ") {
		t.Errorf("the question is %q", text)
	}
	run(exit.Done, "remove", "old", "--dry-run")
	run(exit.Done, "get", "old")
	p.answers[false] = "Y"
	run(exit.Done, "remove", "old")
	run(exit.NotFound, "get", "old")

	// Of several jobs once, with a list.
	for _, name := range []string{"a", "b"} {
		run(exit.Done, "create", name, "--set", "shardingTotalCount=1")
	}
	for what, want := range map[string]string{"pause": "pause 2 jobs (a, b)? ", "remove": "remove 2 jobs (a, b), with configuration, records and instances? "} {
		p.answers[false] = "n"
		run(exit.Failed, what, "--all")
		if text := p.err.String(); !strings.Contains(text, want) || strings.Count(text, "? ") != 1 {
			t.Errorf("the question is %q", text)
		}
		p.answers[false] = "y"
		run(exit.Done, what, "--all", "--dry-run")
	}
	p.answers = nil
	run(exit.Usage, "pause", "a", "b")
	run(exit.Done, "pause", "a", "b", "--yes")
	run(exit.Conflict, "pause", "a", "b", "--yes")
	run(exit.Done, "audit", "b", "--action", "pause", "-o", "json") // one entry of both
	if text := strings.Join(strings.Fields(p.out.String()), ""); strings.Count(text, `"action"`) != 1 || !strings.Contains(text, `"a"`) || !strings.Contains(text, `"b"`) {
		t.Errorf("the audit is %s", text)
	}
	run(exit.Usage, "resume", "a", "--make-up=perhaps")
	for job, says := range map[string]string{"a": "--make-up", "b": "--make-up=false"} {
		run(exit.Done, "resume", job, says)
		run(exit.Done, "tree", job, "--values")
		if got := strings.Contains(p.out.String(), "makeUpTo"); got != (job == "a") {
			t.Errorf("resume %s %s: %s", job, says, &p.out)
		}
	}
}

// Each change of a production context asks for its namespace, and a terminal shows where that is in red.
func TestProductionAsks(t *testing.T) {
	t.Parallel()
	store := servers.store(t, "etcd")
	p := person{env: map[string]string{"ELASTICJOB_CONFIG": filepath.Join(t.TempDir(), "config.yaml")}, width: 200, answers: map[bool]string{false: "y"}}
	run := func(want exit.Code, args ...string) {
		t.Helper()
		if got := p.run(t.Context(), args...); got != want {
			t.Fatalf("%v: got %d, want %d: %s%s", args, got, want, &p.out, &p.err)
		}
	}
	where := "context prod (production), store " + store + ", namespace guarded"
	red := func(text string) string { return "\x1b[1;97;41m" + text + "\x1b[0m" }
	run(exit.Done, "context", "set", "prod", "--store", store+"/guarded", "--production")
	for _, change := range [][]string{{"create", "old", "--set", "shardingTotalCount=1"}, {"pause", "old"}, {"remove", "old"}} {
		p.answers[false] = "y"
		run(exit.Failed, change...)
		if text := p.err.String(); !strings.HasPrefix(text, red(where+": ")) || !strings.Contains(text, "? Type the namespace to go on: ") {
			t.Errorf("the question is %q", text)
		}
		p.answers[false] = "guarded"
		run(exit.Done, change...)
		if text := p.out.String(); strings.Count(text, where) != 1 || !strings.HasPrefix(text, red(where)+"\n"+change[0]+" old") {
			t.Errorf("%v: %q", change, text)
		}
	}
	p.answers[false] = "y"
	run(exit.Done, "create", "one", "--set", "shardingTotalCount=1", "--yes=guarded")
	run(exit.Failed, "pause", "--all")
	run(exit.Usage, "pause", "--all", "--yes")
	run(exit.Done, "pause", "--all", "--yes=guarded")
	// It is the same place by flags, in the environment, and by another context.
	run(exit.Usage, "pause", "one", "--yes", "--store", store+"/guarded")
	run(exit.Usage, "pause", "one", "--yes", "--store", store+"/other", "--namespace", "guarded")
	run(exit.Usage, "migrate", "--yes", "--from", store+"/guarded", "--to", store+"/dev")
	run(exit.Usage, "migrate", "--yes", "--from", store+"/dev", "--to", store+"/guarded")
	run(exit.Done, "context", "set", "dev", "--store", store+"/dev")
	p.env["ELASTICJOB_CONTEXT"], p.env["ELASTICJOB_NAMESPACE"] = "dev", "guarded"
	run(exit.Usage, "pause", "one", "--yes")
	if text := p.err.String(); !strings.Contains(text, "allowed is --yes=guarded") {
		t.Errorf("by another context: %s", text)
	}
	delete(p.env, "ELASTICJOB_CONTEXT")
	delete(p.env, "ELASTICJOB_NAMESPACE")
	run(exit.NotFound, "pause", "one", "--yes", "--store", store+"/dev") // another namespace of that store

	p.answers[false] = "guarded"
	run(exit.Done, "resume", "--all")
	if text := p.err.String(); strings.Count(text, "Type the namespace") != 1 {
		t.Errorf("the question is %q", text)
	}
	p.env["NO_COLOR"] = "1"
	run(exit.Done, "readmit", "old")
	if text := p.out.String() + p.err.String(); strings.Contains(text, "\x1b") || !strings.HasPrefix(p.err.String(), where+": elasticjob readmit old? ") {
		t.Errorf("without colours: %q", text)
	}
}

// A question is about the place where the change is made, also if somebody chooses another context before the answer.
func TestContextChosenMeanwhile(t *testing.T) {
	t.Parallel()
	store := servers.store(t, "etcd")
	p := person{env: map[string]string{"ELASTICJOB_CONFIG": filepath.Join(t.TempDir(), "config.yaml")}, answers: map[bool]string{false: "y"}}
	other := p
	run := func(p *person, want exit.Code, args ...string) {
		t.Helper()
		if got := p.run(t.Context(), args...); got != want {
			t.Fatalf("%v: got %d, want %d: %s%s", args, got, want, &p.out, &p.err)
		}
	}
	for _, name := range []string{"first", "second"} {
		run(&other, exit.Done, "context", "set", name, "--store", store+"/meanwhile/"+name)
		run(&other, exit.Done, "create", "settle", "--set", "shardingTotalCount=1", "--context", name)
	}
	p.thinks = func() { run(&other, exit.Done, "context", "use", "second") }
	run(&p, exit.Done, "clear", "misfires", "settle")
	if asked, done := p.err.String(), p.out.String(); !strings.HasPrefix(asked, "context first, ") || !strings.HasPrefix(done, "context first, ") {
		t.Errorf("asked: %s, and done: %s", asked, done)
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	p := person{store: servers.store(t, "etcd") + "/interrupted"}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupt signal received"))
	if got := p.run(ctx, "watch"); got != exit.Interrupted || !strings.Contains(p.err.String(), "interrupt") || strings.Count(p.err.String(), "\n") != 1 {
		t.Errorf("got %d: %s", got, &p.err)
	}
}

// Whoever watches is told that the store does not answer, since when, and when that is over.
func TestWatchOfAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{})
	link, err := proxy.New(server.Endpoints()[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	p := person{store: "etcd://" + server.Endpoints()[0] + "/away"}
	if got := p.run(t.Context(), "create", "settle", "--set", "shardingTotalCount=1"); got != exit.Done {
		t.Fatalf("create: %d: %s", got, &p.err)
	}
	for name, args := range map[string][]string{"jobs": {"watch"}, "a job": {"watch", "settle"}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			out, outWriter := io.Pipe()
			said, errWriter := io.Pipe()
			ended := make(chan exit.Code, 1)
			go func() {
				defer outWriter.Close()
				defer errWriter.Close()
				ended <- command.Run(ctx, command.Environment{
					In: strings.NewReader(""), Out: outWriter, Err: errWriter, Patience: patience, Lookup: func(string) (string, bool) { return "", false },
				}, append(args, "--store", "etcd://"+link.Addr()+"/away")...)
			}()
			shown, warnings := bufio.NewScanner(out), bufio.NewScanner(said)
			for shown.Scan() && !strings.Contains(shown.Text(), "settle") {
			}
			go func() { _, _ = io.Copy(io.Discard, out) }() // until the end of the command
			link.Cut()
			for _, want := range []string{"may be old, since 20", "up to date again"} {
				if !warnings.Scan() || !strings.Contains(warnings.Text(), want) {
					t.Errorf("the warning is %q, want one that says %q", warnings.Text(), want)
				}
				link.Heal()
			}
			cancel()
			go func() { _, _ = io.Copy(io.Discard, said) }()
			if got := <-ended; got != exit.Interrupted {
				t.Errorf("ended with %d", got)
			}
		})
	}
}

// A terminal gets no line that is longer than it is wide; a file gets all.
func TestTablesFitTheTerminal(t *testing.T) {
	t.Parallel()
	p := person{store: servers.store(t, "etcd") + "/wide", width: 80}
	long := strings.Repeat("very-long-", 15)
	if got := p.run(t.Context(), "create", long, "--set", "shardingTotalCount=1"); got != exit.Done {
		t.Fatalf("create: %d: %s", got, &p.err)
	}
	for _, args := range [][]string{{"jobs"}, {"audit"}, {"items", long}, {"instances"}} {
		if got := p.run(t.Context(), args...); got != exit.Done {
			t.Fatalf("%v: %d: %s", args, got, &p.err)
		}
		for line := range strings.Lines(p.out.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > p.width {
				t.Errorf("%v: a line of %d characters: %s", args, n, line)
			}
		}
	}
	p.width = 0
	if p.run(t.Context(), "jobs"); !strings.Contains(p.out.String(), long) {
		t.Errorf("a file does not get all: %s", &p.out)
	}
}

// A terminal shows no secret that the store has in clear text; a file gets it, because it may be applied.
func TestSecretsOnATerminal(t *testing.T) {
	t.Parallel()
	p := person{store: servers.store(t, "etcd") + "/secrets"}
	if got := p.run(t.Context(), "create", "own", "--set", "shardingTotalCount=1", "--set", "props.own.password=CLEAR", "--set", "props.own.token=${env:TOKEN}"); got != exit.Done {
		t.Fatalf("create: %d: %s", got, &p.err)
	}
	for _, args := range [][]string{{"export", "own"}, {"get", "own"}, {"get", "own", "-o", "json"}} {
		for _, p.width = range []int{0, 80} {
			if got := p.run(t.Context(), args...); got != exit.Done || !strings.Contains(p.err.String(), `"job own: own.password"`) {
				t.Fatalf("%v: %d: %s", args, got, &p.err)
			}
			if text := p.out.String(); strings.Contains(text, "CLEAR") != (p.width == 0) || strings.Contains(text, "***") != (p.width > 0) || !strings.Contains(text, "${env:TOKEN}") {
				t.Errorf("%v, %d columns: %s", args, p.width, text)
			}
		}
	}
}

// On ZooKeeper the nodes belong to the user who has made them.
func TestUsersOfZooKeeper(t *testing.T) {
	t.Parallel()
	p := person{store: servers.store(t, "zookeeper") + "/owned", env: map[string]string{"ELASTICJOB_USER": "ops", "ELASTICJOB_PASSWORD": "hunter2"}}
	if got := p.run(t.Context(), "create", "mine", "--set", "shardingTotalCount=1"); got != exit.Done {
		t.Fatalf("create: %d: %s", got, &p.err)
	}
	for password, want := range map[string]exit.Code{"hunter2": exit.Done, "hunter3": exit.Denied} {
		p.env["ELASTICJOB_PASSWORD"] = password
		if got := p.run(t.Context(), "get", "mine", "--timeout", "1m"); got != want || strings.Contains(p.err.String(), "hunter") {
			t.Errorf("with the password %s: got %d, want %d: %s", password, got, want, &p.err)
		}
	}
}

// At a terminal, the password of a user of the console is asked for twice, and never shown.
func TestConsoleUserIsAsked(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "users.yaml")
	add := []string{"console", "user", "add", "anna", "--role", "admin", "--users", file}
	for _, tt := range []struct {
		answer, want string
		code         exit.Code
	}{
		{"hunter2", "it has 7 bytes", exit.Usage},
		{"plum-Kettle-77-x", "New password of anna: Again: ", exit.Done},
		{"plum-Kettle-77-x", "there is one of that name already", exit.Conflict}, // before it asks
	} {
		p := person{answers: map[bool]string{true: tt.answer}}
		code := p.run(t.Context(), add...)
		if said := p.out.String() + p.err.String(); code != tt.code || !strings.Contains(said, tt.want) || strings.Contains(said, tt.answer) {
			t.Errorf("code %d, %s; want %d, %s", code, said, tt.code, tt.want)
		}
	}
	p := person{answers: map[bool]string{false: "n"}}
	if code := p.run(t.Context(), "console", "user", "remove", "anna", "--users", file); code != exit.Failed || !strings.Contains(p.err.String(), "not confirmed") {
		t.Errorf("code %d, %s", code, &p.err)
	}
}
