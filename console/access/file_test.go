package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.yaml.in/yaml/v4"
)

func write(t *testing.T, f File, mode os.FileMode, text string) {
	t.Helper()
	if err := errors.Join(os.WriteFile(string(f), []byte(text), mode), os.Chmod(string(f), mode)); err != nil {
		t.Fatal(err)
	}
}

func TestFileRefuses(t *testing.T) {
	const hash = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$VmIyDtHR6tyzHEMMDrRNWEv4r9fmSMcj2hQDkgKmRnc"
	sum := strings.Repeat("0a", 32)
	for name, tt := range map[string]struct{ text, want string }{
		"another key":      {"users: {anna: {passwort: " + hash + "}}", "field passwort not found"},
		"at the top":       {"user: {}", "field user not found"},
		"a list":           {"users: [anna]", "line 1"},
		"twice":            {"users:\n  anna: {}\n  anna: {}\n", "line 3"},
		"two documents":    {"users: {}\n---\nusers: {}\n", "one document is allowed"},
		"empty user":       {"users: {anna: }", "user \"anna\": it is empty"},
		"name":             {"users: {'oidc:anna': {}}", "letters, digits"},
		"long name":        {"users: {" + strings.Repeat("a", 101) + ": {}}", "letters, digits"},
		"password":         {"users: {anna: {password: hunter2-hunter2}}", "user \"anna\": the hash of a password is not usable"},
		"role":             {"users: {anna: {grants: [{role: root}]}}", "allowed are viewer, operator and admin"},
		"no role":          {"users: {anna: {grants: [{}]}}", "grants[0]"},
		"empty pattern":    {"users: {anna: {grants: [{role: viewer, jobs: ['']}]}}", "jobs[0]"},
		"hash of a token":  {"users: {anna: {tokens: {t: {hash: hunter2-hunter2}}}}", "token \"t\": hash is no SHA-256"},
		"big letters":      {"users: {anna: {tokens: {t: {hash: " + strings.ToUpper(sum) + "}}}}", "small letters"},
		"empty token":      {"users: {anna: {tokens: {t: }}}", "token \"t\": it is empty"},
		"name of a token":  {"users: {anna: {tokens: {'a b': {hash: " + sum + "}}}}", "letters, digits"},
		"the same token":   {"users: {anna: {tokens: {t: {hash: " + sum + "}}}, ben: {tokens: {u: {hash: " + sum + "}}}}", "the same as token \"t\""},
		"a time":           {"users: {anna: {created: hunter2-hunter2}}", "parsing time"},
		"no YAML":          {"users: {", "did not find expected node content"},
		"a value with `":   {"users: {anna: {disabled: 'hunter2-`hunter2'}}", "line 1"},
		"an alias of many": {"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nusers: *b", "field a not found"},
	} {
		f := File(filepath.Join(t.TempDir(), "users.yaml"))
		write(t, f, 0o600, tt.text)
		users, err := f.Read()
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), string(f)) {
			t.Errorf("%s: %v, %v; want %s", name, users, err, tt.want)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "VmIyDtHR") {
			t.Errorf("%s: the error has a value: %v", name, err)
		}
		if err := f.Change(t.Context(), func(*Users) error { return nil }); err == nil {
			t.Errorf("%s: a change writes over it", name)
		}
	}
	if _, err := File(filepath.Join(t.TempDir(), "none")).Read(); !errors.Is(err, ErrNoFile) {
		t.Error(err)
	}
	if _, err := File(t.TempDir()).Read(); err == nil {
		t.Error("a folder is read")
	}
}

func TestFileMode(t *testing.T) {
	for mode, isAllowed := range map[os.FileMode]bool{
		0o600: true, 0o400: true, 0o640: true, 0o440: true, // Kubernetes gives secrets to a group
		0o644: false, 0o604: false, 0o660: false, 0o620: false, 0o666: false, 0o601: false,
	} {
		f := usersFile(t)
		if err := os.Chmod(string(f), mode); err != nil {
			t.Fatal(err)
		}
		_, err := f.Read()
		if isAllowed != (err == nil) || !isAllowed && !errors.Is(err, ErrExposed) {
			t.Errorf("%v: %v", mode, err)
		}
		if err := f.Change(t.Context(), func(u *Users) error { return u.Disable("ben", true) }); isAllowed != (err == nil) {
			t.Errorf("%v: a change: %v", mode, err)
		}
		if info, err := os.Stat(string(f)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%v has become %v, %v", mode, info.Mode(), err)
		}
	}
	f := File(filepath.Join(t.TempDir(), "new", "folder", "users.yaml"))
	if err := f.Change(t.Context(), func(u *Users) error { return u.Add("anna", "", nil) }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(string(f)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a new one has %v, %v", info.Mode(), err)
	}
}

// Many change the file at the same time, and through a link: no change is lost, and no reader sees half of one.
func TestFileChangesAtOnce(t *testing.T) {
	f := usersFile(t)
	link := File(filepath.Join(t.TempDir(), "link.yaml"))
	if err := os.Symlink(string(f), string(link)); err != nil {
		t.Fatal(err)
	}
	const many = 20
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			file := []File{f, link}[i%2]
			if err := file.Change(context.Background(), func(u *Users) error { return u.Add(fmt.Sprintf("u%d", i), "", nil) }); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := f.Read(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	users, err := f.Read()
	if err != nil || len(users.Users) != many+2 {
		t.Errorf("%d users, %v", len(users.Users), err)
	}
	if info, err := os.Lstat(string(link)); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is no link: %v", err)
	}
	if rest, err := filepath.Glob(filepath.Join(filepath.Dir(string(f)), ".*")); err != nil || len(rest) > 0 {
		t.Errorf("left: %v, %v", rest, err)
	}
}

func TestAddFirst(t *testing.T) {
	file := File(filepath.Join(t.TempDir(), "users.yaml"))
	passwords := make(chan string, 4)
	var adding sync.WaitGroup
	for i := range cap(passwords) {
		adding.Go(func() {
			password, err := file.AddFirst(t.Context(), fmt.Sprint("user", i))
			if err != nil {
				t.Error(err)
			}
			passwords <- password
		})
	}
	adding.Wait()
	close(passwords)
	given := 0
	for password := range passwords {
		if password != "" {
			given++
		}
	}
	if users, err := file.Read(); err != nil || len(users.Users) != 1 || given != 1 {
		t.Errorf("%d passwords, users %v, %v", given, users, err)
	}
	if _, err := File(filepath.Join(t.TempDir(), "users.yaml")).AddFirst(t.Context(), "an na"); err == nil {
		t.Error("a name that is not allowed was taken")
	}
}

func TestFileChangeFails(t *testing.T) {
	f := usersFile(t)
	before, err := os.ReadFile(string(f))
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("no")
	for name, change := range map[string]func(*Users) error{
		"an error": func(u *Users) error { return errors.Join(u.Remove("ben"), why) },
		"nonsense": func(u *Users) error { u.Users["ben"].Password = "hunter2"; return nil },
	} {
		if err := f.Change(t.Context(), change); err == nil || name == "an error" && !errors.Is(err, why) {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.ReadFile(string(f)); err != nil || string(after) != string(before) {
			t.Errorf("%s: the file has changed: %v", name, err)
		}
	}
	// Another process has the lock.
	held, release := make(chan struct{}), make(chan struct{})
	var holder sync.WaitGroup
	holder.Go(func() {
		if err := f.Change(context.Background(), func(*Users) error { close(held); <-release; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-held
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := f.Change(ctx, func(*Users) error { t.Error("two change it at once"); return nil }); !errors.Is(err, why) {
		t.Error(err)
	}
	close(release)
	holder.Wait()
}

func TestLastAdmin(t *testing.T) {
	all, some := []Grant{everything}, []Grant{{Role: Admin, Jobs: []string{"a*"}}}
	u := &Users{Users: map[string]*User{"anna": {Grants: all}, "ben": {Grants: some}, "eve": {Grants: all, Disabled: true}}}
	for name, change := range map[string]func() error{
		"remove":  func() error { return u.Remove("anna") },
		"disable": func() error { return u.Disable("anna", true) },
		"demote":  func() error { return u.SetGrants("anna", some) },
	} {
		if err := change(); !errors.Is(err, ErrLastAdmin) {
			t.Errorf("%s: %v", name, err)
		}
		if anna := u.Users["anna"]; anna == nil || !anna.isAdmin() || !anna.Ended.IsZero() {
			t.Errorf("%s: anna is %+v", name, anna)
		}
	}
	for _, change := range []func() error{
		func() error { return u.Remove("ben") },
		func() error { return u.SetGrants("anna", []Grant{{Role: Admin, Jobs: []string{"**"}}}) },
		func() error { return u.Disable("eve", false) },
		func() error { return u.Remove("anna") },
	} {
		if err := change(); err != nil {
			t.Error(err)
		}
	}
}

// A file that becomes bad does not change who may what, and that is a fault until it is good again.
func TestFileBecomesBad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told events
		f := usersFile(t)
		c := open(t, Options{File: f, Tell: told.tell})
		s := login(t, c, "ben")
		good, err := os.ReadFile(string(f))
		if err != nil {
			t.Fatal(err)
		}
		for name, spoil := range map[string]func() error{
			"no YAML": func() error { return os.WriteFile(string(f), []byte("users: {"), 0o600) },
			"gone":    func() error { return os.Remove(string(f)) },
			"exposed": func() error { return os.Chmod(string(f), 0o644) },
		} {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				wantWho(t, c, withCookie(c, s), "ben")
			}
			if err := c.Fault(); err == nil || !strings.Contains(err.Error(), string(f)) {
				t.Errorf("%s: fault %v", name, err)
			}
			if err := c.SetPassword(t.Context(), boss, "ben", another); name != "gone" && err == nil {
				t.Errorf("%s: it is changed", name)
			}
			write(t, f, 0o600, string(good))
			wantWho(t, c, withCookie(c, s), "ben")
			if err := c.Fault(); err != nil {
				t.Errorf("%s: fault %v", name, err)
			}
		}
		if got := told.kinds(); strings.Count(got, string(FileBad)) != 3 || strings.Count(got, string(FileGood)) != 3 {
			t.Error(got)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	f := File(filepath.Join(t.TempDir(), "users.yaml"))
	if _, err := Open(Options{File: f}); !errors.Is(err, ErrNoFile) {
		t.Error(err)
	}
	for name, o := range map[string]Options{
		"idle":           {Idle: -1},
		"hashes":         {Hashes: -1},
		"nobody trusted": {Proxy: Proxy{User: "X-Forwarded-User"}},
		"header":         {Proxy: Proxy{User: "a b", From: nets("10.0.0.0/8")}},
		"groups":         {Proxy: Proxy{Groups: "X-Groups", From: nets("10.0.0.0/8")}},
		"grants":         {Proxy: Proxy{User: "X-User", From: nets("10.0.0.0/8"), Grants: map[string][]Grant{"a": nil}}},
		"role":           {Proxy: Proxy{User: "X-User", Groups: "X-Groups", From: nets("10.0.0.0/8"), Grants: map[string][]Grant{"a": {{}}}}},
	} {
		if _, err := Open(o); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

func TestTrail(t *testing.T) {
	trail := Trail(filepath.Join(t.TempDir(), "users.yaml.log"))
	for i := range keptTrail + 3 {
		if err := trail.Append(t.Context(), Event{Kind: LoggedIn, User: fmt.Sprint("u", i), Time: time.Unix(0, 0).UTC()}); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(string(trail), maxTrail); err != nil { // as if it were full
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(string(trail) + "*")
	if err != nil || len(files) != keptTrail+1 {
		t.Errorf("%v, %v", files, err)
	}
	info, err := os.Stat(string(trail))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	last, err := os.ReadFile(string(trail))
	if err != nil || !strings.HasPrefix(string(last), `{"time":"1970-01-01T00:00:00Z","kind":"logged in","user":"u7"}`+"\n") {
		t.Errorf("%.100s, %v", last, err)
	}

	// A trail that cannot be written is a fault; log-ins go on.
	c := open(t, Options{File: usersFile(t), Trail: Trail(filepath.Join(t.TempDir(), "none", "trail"))})
	login(t, c, "ben")
	if err := c.Fault(); err == nil || !strings.Contains(err.Error(), "trail") {
		t.Error(err)
	}
}

// However many lines a user makes, and others from however many addresses who are not let in: they push out nobody
// else's.
func TestTrailIsFair(t *testing.T) {
	trail := Trail(filepath.Join(t.TempDir(), "users.yaml.log"))
	others := []Event{
		{Kind: UserAdded, By: "anna", User: "eve"},
		{Kind: LoggedIn, By: "ben", User: "ben", Address: "192.0.2.7"},
		{Kind: LogInRefused, User: "ben", Address: "192.0.2.8"},
		{Kind: FileBad, Detail: "users.yaml"},
	}
	for _, e := range others {
		if err := trail.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	flood := func(one func(n int) Event) {
		t.Helper()
		var lines []byte
		for n := 0; len(lines) < maxTrail; n++ {
			line, err := json.Marshal(one(n))
			if err != nil {
				t.Fatal(err)
			}
			lines = append(append(lines, line...), '\n')
		}
		if err := errors.Join(appendLine(string(trail), lines), trail.Append(t.Context(), Event{Kind: LoggedOut, By: "ben"})); err != nil {
			t.Fatal(err)
		}
	}
	why := strings.Repeat("x", 500)
	for range 2 { // each fills it twice
		flood(func(n int) Event {
			return Event{Kind: TokenCreated, By: fmt.Sprintf("eve (token t%d)", n), Address: fmt.Sprint("198.51.100.", n%256), Detail: why}
		})
		flood(func(n int) Event {
			return Event{Kind: LogInRefused, Address: fmt.Sprint("2001:db8::", n%1000), Detail: why}
		})
	}
	content, err := os.ReadFile(string(trail))
	if err != nil || len(content) > keepTrail+1000 {
		t.Errorf("%d bytes, %v", len(content), err)
	}
	for _, e := range others {
		if line, err := json.Marshal(e); err != nil || !strings.Contains(string(content), string(line)+"\n") {
			t.Errorf("%s is gone; %v", line, err)
		}
	}
	if n := strings.Count(string(content), `"by":"eve `); n < 1000 {
		t.Errorf("%d lines of eve", n)
	}
}

// Whatever is read is written again, and read the same.
func FuzzUsers(f *testing.F) {
	f.Add([]byte("users:\n  anna:\n    password: " + string(nobody) + "\n    grants:\n      - {role: admin, jobs: ['a*']}\n"))
	f.Add([]byte("users: {ben: {disabled: true, created: 2026-01-02, tokens: {t: {hash: " + strings.Repeat("0a", 32) + ", expires: 2026-11-02T00:00:00Z}}}}"))
	f.Add([]byte("users: &a {b: *a}"))
	f.Add([]byte("---\n...\n"))
	f.Fuzz(func(t *testing.T, document []byte) {
		users, err := decodeUsers(document)
		if err != nil {
			return
		}
		first, err := yaml.Marshal(users)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeUsers(first)
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		second, err := yaml.Marshal(again)
		if err != nil || string(first) != string(second) {
			t.Fatalf("%v\n%s\n%s", err, first, second)
		}
		newRoster(again)
	})
}
