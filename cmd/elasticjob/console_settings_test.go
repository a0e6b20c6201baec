package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/command"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/console/access"
)

const goodPassword = "plum-Kettle-77-x"

// admin makes a users file with anna, who may do everything, and returns its path, and that of her password.
func admin(t *testing.T) (users, password string) {
	t.Helper()
	folder := t.TempDir()
	users, password = filepath.Join(folder, "new", "users.yaml"), filepath.Join(folder, "password")
	if err := os.WriteFile(password, []byte(goodPassword+"\r\nand a comment\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var p person
	if code := p.run(t.Context(), "console", "user", "add", "anna", "--role", "admin", "--users", users, "--password-file", password); code != exit.Done {
		t.Fatalf("code %d: %s%s", code, &p.out, &p.err)
	}
	return users, password
}

// serveConsole runs a console of a store that is away, which a context marks as production, and returns where it listens. end ends it, and returns its log.
func serveConsole(t *testing.T, listeners int, args ...string) (urls []string, end func() (exit.Code, string)) {
	t.Helper()
	contexts := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(contexts, []byte("contexts: {prod: {store: \"etcd://127.0.0.1:1/away\", production: true}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	var code exit.Code
	var said strings.Builder
	var all sync.WaitGroup
	all.Go(func() {
		code = command.Run(ctx, command.Environment{In: strings.NewReader(""), Out: write, Err: write, Lookup: func(name string) (string, bool) {
			value := map[string]string{"ELASTICJOB_STORE": "etcd://127.0.0.1:1/away", "ELASTICJOB_CONFIG": contexts}[name]
			return value, value != ""
		}}, append([]string{"console", "--listen", "127.0.0.1:0"}, args...)...)
		_ = write.Close() // a pipe's never fails
	})
	lines := bufio.NewScanner(read)
	for len(urls) < listeners && lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if found := regexp.MustCompile(`url=(\S+)`).FindStringSubmatch(lines.Text()); found != nil {
			urls = append(urls, found[1])
		}
	}
	if len(urls) < listeners {
		cancel()
		t.Fatalf("it does not serve: %s", &said)
	}
	all.Go(func() {
		for lines.Scan() {
			said.WriteString(lines.Text() + "\n")
		}
	})
	end = sync.OnceValues(func() (exit.Code, string) {
		cancel()
		all.Wait()
		return code, said.String()
	})
	t.Cleanup(func() { end() })
	return urls, end
}

// What --config and the flags say counts: who may call, and how long a session lasts, and how it is kept.
func TestConsoleSettings(t *testing.T) {
	t.Parallel()
	users, _ := admin(t)
	var p person
	if code := p.run(t.Context(), "console", "token", "create", "anna", "t", "--users", users, "-o", "name"); code != exit.Done {
		t.Fatalf("code %d: %s", code, &p.err)
	}
	token := strings.TrimSpace(p.out.String())
	config := filepath.Join(t.TempDir(), "console.yaml")
	if err := os.WriteFile(config, []byte("hosts: [127.0.0.1]\norigins: [\"https://front.example\"]\nsessions: {absolute: 1h}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	urls, end := serveConsole(t, 2, "--users", users, "--config", config, "--insecure-http", "--metrics-listen", "127.0.0.1:0")
	here, metrics := urls[0], urls[1]
	page := httptest.NewRequest("GET", here+"/metrics", nil)
	if answer := do(t, page); answer.StatusCode == http.StatusOK {
		here, metrics = metrics, here // they begin at the same time
	}
	request := func(method, path, body string, headers ...string) *http.Response {
		t.Helper()
		r := httptest.NewRequest(method, here+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
				r.Host = headers[i+1]
			}
		}
		return do(t, r)
	}
	const login = `{"name":"anna","password":"` + goodPassword + `"}`
	for name, tt := range map[string]struct {
		answer *http.Response
		want   int
	}{
		"another name":             {request("GET", "/api/v1/me", "", "Host", "rebound.example"), http.StatusMisdirectedRequest},
		"metrics, for nobody":      {request("GET", "/metrics", ""), http.StatusUnauthorized},
		"metrics, for anna":        {request("GET", "/metrics", "", "Authorization", "Bearer "+token), http.StatusOK},
		"metrics, where they open": {do(t, httptest.NewRequest("GET", metrics+"/metrics", nil)), http.StatusOK},
		"page of a stranger":       {request("POST", "/api/v1/login", login, "Origin", "https://evil.example"), http.StatusForbidden},
		"page that is trusted":     {request("POST", "/api/v1/login", login, "Origin", "https://front.example"), http.StatusOK},
	} {
		if tt.answer.StatusCode != tt.want {
			t.Errorf("%s: %d, want %d", name, tt.answer.StatusCode, tt.want)
		}
		if tt.want != http.StatusOK {
			continue
		}
		if hsts := tt.answer.Header.Get("Strict-Transport-Security"); hsts == "" && !strings.Contains(name, "open") {
			t.Errorf("%s: browsers are not told to stay with TLS: %v", name, tt.answer.Header)
		}
		if cookies := tt.answer.Cookies(); strings.Contains(name, "trusted") && (len(cookies) != 1 || cookies[0].Name != "__Host-elasticjob-"+here[strings.LastIndexByte(here, ':')+1:] || !cookies[0].Secure) {
			t.Errorf("%s: cookies %v", name, cookies)
		}
	}
	shown, err := io.ReadAll(request("GET", "/namespaces/away", "", "Authorization", "Bearer "+token, "Accept", "text/html").Body)
	if err != nil || !strings.Contains(string(shown), `"production":true`) || !strings.Contains(string(shown), `>Production</span>`) {
		t.Errorf("the page does not show the mark of the context: %s, %v", shown, err)
	}
	var sessions struct {
		Rows []struct{ Begun, Expires time.Time }
	}
	answer := request("GET", "/api/v1/sessions", "", "Authorization", "Bearer "+token)
	if err := json.NewDecoder(answer.Body).Decode(&sessions); err != nil || len(sessions.Rows) != 1 || sessions.Rows[0].Expires.Sub(sessions.Rows[0].Begun) != time.Hour {
		t.Errorf("%+v, %v: not an hour", sessions, err)
	}
	code, said := end()
	if code != exit.Done || strings.Contains(said, goodPassword) || strings.Contains(said, token) {
		t.Errorf("code %d: %s", code, said)
	}
	trail := readFile(t, users+".log")
	for _, want := range []string{`"kind":"user added"`, `"kind":"token created"`, `"kind":"logged in","by":"anna","address":"127.0.0.1"`} {
		if !strings.Contains(trail, want) {
			t.Errorf("no %s in %s", want, trail)
		}
	}
	if used := readFile(t, users+".used"); !strings.Contains(used, `":"20`) {
		t.Errorf("the use of the token is not written at the end: %s", used)
	}
}

// do sends a request, as a client would send what a server gets.
func do(t *testing.T, r *http.Request) *http.Response {
	t.Helper()
	r.RequestURI = ""
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		t.Fatal(err)
	}
	answer.Body = io.NopCloser(strings.NewReader(string(body)))
	return answer
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Flags that say two things are refused, before anything is done.
func TestConsoleFlags(t *testing.T) {
	t.Parallel()
	users, password := admin(t)
	proxy := filepath.Join(t.TempDir(), "console.yaml")
	if err := os.WriteFile(proxy, []byte("proxy: {user: X-User, from: [127.0.0.1]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience) // one that serves all the same
	defer cancel()
	before := readFile(t, users)
	for name, args := range map[string][]string{
		"demo and users":            {"console", "--demo", "--users", users},
		"demo and connections":      {"console", "--demo", "--connections", "x"},
		"demo and config":           {"console", "--demo", "--config", "x"},
		"demo and context":          {"console", "--demo", "--context", "x"},
		"TLS and none":              {"console", "--users", users, "--tls-cert", "c", "--tls-key", "k", "--insecure-http"},
		"key alone":                 {"console", "--users", users, "--tls-key", "k"},
		"users that are not there":  {"console", "--users", users + "x", "--config", proxy, "--listen", "127.0.0.1:0"},
		"an argument":               {"console", "--users", users, "x"},
		"two passwords":             {"console", "user", "add", "ben", "--users", users, "--no-password", "--password-file", password},
		"no name":                   {"console", "user", "add", "--users", users, "--no-password"},
		"a name that none can be":   {"console", "user", "add", "oidc:ben", "--users", users, "--no-password"},
		"days, and none":            {"console", "token", "create", "anna", "t", "--users", users, "--days", "3", "--never-expires"},
		"no days":                   {"console", "token", "create", "anna", "t", "--users", users, "--days", "0"},
		"a name of a token":         {"console", "token", "create", "anna", "a b", "--users", users},
		"a password as a flag":      {"console", "user", "add", "ben", "--users", users, "--password", goodPassword},
		"a password as an argument": {"console", "user", "password", "anna", goodPassword, "--users", users},
	} {
		p := person{answers: map[bool]string{true: goodPassword, false: "y"}}
		says := map[string]string{"TLS and none": "insecure-http", "users that are not there": "no such file"}[name]
		if code := p.run(ctx, args...); code != exit.Usage || strings.Contains(p.out.String()+p.err.String(), goodPassword) || !strings.Contains(p.err.String(), says) {
			t.Errorf("%s: code %d: %s%s", name, code, &p.out, &p.err)
		}
	}
	if after := readFile(t, users); after != before {
		t.Errorf("the file has become %s", after)
	}
}

// What the commands do is done: a user logs in with his password of a file, and not any more when he is disabled.
func TestConsoleUserCommands(t *testing.T) {
	t.Parallel()
	users, password := admin(t)
	for path, want := range map[string]fs.FileMode{users: 0o600, users + ".log": 0o600, filepath.Dir(users): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
	control, err := access.Open(access.Options{File: access.File(users)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := control.Close(); err != nil {
			t.Error(err)
		}
	}()
	run := func(args ...string) string {
		t.Helper()
		var p person
		if code := p.run(t.Context(), append(append([]string{"console"}, args...), "--users", users)...); code != exit.Done {
			t.Fatalf("%v: code %d: %s%s", args, code, &p.out, &p.err)
		}
		return p.out.String()
	}
	logIn := func(want bool) {
		t.Helper()
		if _, err := control.BeginByPassword(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil), "ben", goodPassword); (err == nil) != want {
			t.Errorf("log-in: %v", err)
		}
	}
	asked := person{answers: map[bool]string{true: goodPassword}}
	if code := asked.run(t.Context(), "console", "user", "password", "ben", "--users", users); code != exit.NotFound || strings.Contains(asked.err.String(), "New password") {
		t.Errorf("the password of nobody: code %d, %s", code, &asked.err)
	}
	run("user", "add", "ben", "--role", "viewer", "--no-password")
	logIn(false)
	run("user", "password", "ben", "--password-file", password)
	logIn(true)
	run("user", "logout", "ben", "--dry-run")
	if n := len(control.Sessions("ben")); n != 1 {
		t.Errorf("%d sessions, after a dry run", n)
	}
	run("user", "logout", "ben")
	if left := control.Sessions("ben"); len(left) != 0 {
		t.Errorf("sessions after the log-out: %v", left)
	}
	run("user", "set", "ben", "--disable")
	logIn(false)
	run("user", "set", "ben", "--enable", "--role", "operator")
	logIn(true)
	for name, args := range map[string][]string{
		"remove": {"user", "remove", "anna", "--dry-run", "--yes"}, "password": {"user", "password", "ben", "--password-file", password, "--dry-run"},
		"set": {"user", "set", "ben", "--role", "viewer", "--dry-run"}, "token": {"token", "create", "ben", "t", "--dry-run"},
	} {
		before := readFile(t, users) + readFile(t, users+".log")
		var p person
		p.run(t.Context(), append(append([]string{"console"}, args...), "--users", users)...)
		if after := readFile(t, users) + readFile(t, users+".log"); after != before || strings.Contains(p.out.String(), "ej_") {
			t.Errorf("dry run of %s: %s; the files have become %s", name, &p.out, after)
		}
	}
	secret := strings.TrimSpace(run("token", "create", "ben", "t", "-o", "name"))
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Authorization", "Bearer "+secret)
	if who, err := control.Authenticate(r); err != nil || who.Name != "ben (token t)" || !who.MayEverywhere(access.Operator) {
		t.Errorf("%+v, %v", who, err)
	}
	if err := control.Close(); err != nil {
		t.Error(err)
	}
	if list := run("token", "list"); !regexp.MustCompile(`ben +t .*20\d\d-.* 20\d\d-`).MatchString(list) {
		t.Errorf("no last use in %s", list)
	}
	trail := readFile(t, users+".log")
	for _, want := range []string{
		`"kind":"password changed","by":`, `"kind":"session ended","by":`, `"user":"ben","detail":"disabled"}`, `"user":"ben","detail":"operator enabled"}`, `"kind":"token created","by":`,
	} {
		if !strings.Contains(trail, want) {
			t.Errorf("no %s in %s", want, trail)
		}
	}
}

// A password that is typed otherwise the second time is none, and is asked for without being shown.
func TestConsolePasswordIsTypedTwice(t *testing.T) {
	t.Parallel()
	users := filepath.Join(t.TempDir(), "users.yaml")
	var said strings.Builder
	typed := []string{goodPassword, goodPassword + "y"}
	e := command.Environment{In: strings.NewReader(""), Out: &said, Err: &said, Lookup: func(string) (string, bool) { return "", false },
		Ask: func(_ context.Context, _ string, isSecret bool) (string, error) {
			next := typed[0]
			if typed = typed[1:]; !isSecret {
				t.Error("it is shown")
			}
			return next, nil
		}}
	if code := command.Run(t.Context(), e, "console", "user", "add", "anna", "--users", users); code != exit.Usage || !strings.Contains(said.String(), "differ") || strings.Contains(said.String(), goodPassword) {
		t.Errorf("code %d: %s", code, &said)
	}
	if _, err := os.Stat(users); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// The code of a test of a connection says why it has failed.
func TestConsoleConnectionCodes(t *testing.T) {
	t.Parallel()
	strangers := httptest.NewUnstartedServer(http.NotFoundHandler())
	strangers.Config.ErrorLog = log.New(io.Discard, "", 0)
	strangers.StartTLS()
	defer strangers.Close()
	folder := t.TempDir()
	file := filepath.Join(folder, "connections.yaml")
	if err := os.WriteFile(file, []byte("namespaces:\n  strangers: {kind: etcd, endpoints: ['"+strangers.Listener.Addr().String()+"'], namespace: n, tls: {}}\n"+
		"databases:\n  history: {driver: sqlite, address: "+filepath.Join(folder, "history.db")+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "history.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name []string
		want exit.Code
	}{
		{[]string{"strangers"}, exit.Denied}, {[]string{"nobody"}, exit.NotFound}, {[]string{"nobody", "--database"}, exit.NotFound}, {[]string{"history", "--database"}, exit.Done},
	} {
		var p person
		if code := p.run(t.Context(), append([]string{"console", "connection", "test", "--connections", file}, tt.name...)...); code != tt.want {
			t.Errorf("%v: code %d, want %d: %s%s", tt.name, code, tt.want, &p.out, &p.err)
		}
	}
}
