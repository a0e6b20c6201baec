package target_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/internal/testserver/database"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// book is one whose entries may refer to files of the folder.
func book(t *testing.T, folders ...string) *connection.Book {
	t.Helper()
	keys, err := connection.ParseKeys(connection.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	b, err := connection.Open(connection.Options{
		File: filepath.Join(t.TempDir(), "connections.yaml"), Dial: target.Dial, OpenHistory: target.OpenHistory,
		Keys: keys, Allow: connection.Allow{Folders: folders},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return b
}

// reason returns why a test has failed, or "" if it has not. The password must not be in the error.
func reason(t *testing.T, err error, password string) connection.Reason {
	t.Helper()
	if err == nil {
		return ""
	}
	if strings.Contains(err.Error(), password) {
		t.Errorf("shows the password: %v", err)
	}
	e, ok := errors.AsType[*connection.TestError](err)
	if !ok {
		t.Errorf("no TestError: %v", err)
		return "?"
	}
	return e.Reason
}

// wantReason checks why a test fails, or with "" that it does not, and that it takes some 5 s at most. To one whose machine
// is slow, or stands still, any server is unreachable, and late: then it is asked again.
func wantReason(t *testing.T, want connection.Reason, password string, test func() error) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		begin := time.Now()
		err := test()
		got, took := reason(t, err, password), time.Since(begin)
		switch {
		case got == want && took <= 10*time.Second:
			return
		case attempt == 5 || got != want && got != connection.Unreachable:
			t.Errorf("%q after %v, want %q: %v", got, took, want, err)
			return
		}
	}
}

// silent listens, accepts, and never answers. It keeps what it is sent.
type silent struct {
	listener net.Listener
	wait     sync.WaitGroup

	mu   sync.Mutex
	sent []byte
}

func newSilent(t *testing.T, greeting string) *silent {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &silent{listener: listener}
	s.wait.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.wait.Go(func() { s.hear(conn, greeting) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close() // it was open
		s.wait.Wait()
	})
	return s
}

func (s *silent) hear(conn net.Conn, greeting string) {
	defer conn.Close()
	if _, err := io.WriteString(conn, greeting); err != nil {
		return
	}
	b := make([]byte, 4096)
	for {
		n, err := conn.Read(b)
		s.mu.Lock()
		s.sent = append(s.sent, b[:n]...)
		s.mu.Unlock()
		if err != nil || bytes.HasPrefix(b[:n], []byte(hangUp)) {
			return
		}
	}
}

// hangUp is how a message begins that has a password for PostgreSQL. Nobody waits for the answer then.
const hangUp = "p\x00\x00"

func nobody(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func TestNamespacesOfEtcd(t *testing.T) {
	t.Parallel()
	const password = "hunter2 with a space"
	server := etcdserver.Start(t, etcdserver.Config{TLS: true, Auth: &etcdserver.Auth{User: "ops", Password: password, Prefix: "/mine/"}})
	ca := server.AuthorityFile()
	b := book(t, filepath.Dir(ca))
	good := connection.Namespace{
		Name: "prod", Kind: connection.Etcd, Endpoints: server.Endpoints(), Path: "mine/jobs", User: "ops", Password: connection.Plain(password),
		TLS: &connection.TLS{CACert: ca},
	}
	for name, tt := range map[string]struct {
		change func(*connection.Namespace)
		want   connection.Reason
	}{
		"good":              {func(*connection.Namespace) {}, ""},
		"a wrong password":  {func(n *connection.Namespace) { n.Password = connection.Plain(password + "!") }, connection.Refused},
		"another namespace": {func(n *connection.Namespace) { n.Path = "other" }, connection.Denied},
		"a strange server":  {func(n *connection.Namespace) { n.TLS = &connection.TLS{} }, connection.Untrusted},
		"another name":      {func(n *connection.Namespace) { n.TLS = &connection.TLS{CACert: ca, ServerName: "other"} }, connection.Untrusted},
		"a silent server":   {func(n *connection.Namespace) { n.Endpoints = []string{newSilent(t, "").listener.Addr().String()} }, connection.Unreachable},
		"no path":           {func(n *connection.Namespace) { n.Path = "/" }, connection.Invalid},
		"a file elsewhere":  {func(n *connection.Namespace) { n.TLS = &connection.TLS{CACert: "/etc/passwd"} }, connection.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := good
			tt.change(&n)
			wantReason(t, tt.want, password, func() error { return b.TestNamespace(t.Context(), n) })
		})
	}
	if _, err := b.PutNamespace(t.Context(), good, connection.NoVersion); err != nil {
		t.Fatal(err)
	}
	o, err := b.Ops(t.Context(), "prod")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Removed(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNamespacesOfZooKeeper(t *testing.T) {
	t.Parallel()
	zkserver.Require(t)
	const password = "hunter2"
	server := zkserver.Start(t, zkserver.Config{})
	b := book(t)
	good := connection.Namespace{
		Name: "prod", Kind: connection.ZooKeeper, Endpoints: []string{server.Addr()}, Path: "jobs", User: "ops", Password: connection.Plain(password),
	}
	wantReason(t, "", password, func() error { return b.TestNamespace(t.Context(), good) })
	for name, tt := range map[string]struct {
		change func(*connection.Namespace)
		want   connection.Reason
	}{
		"the namespace is another user's": {func(n *connection.Namespace) { n.Password = connection.Plain(password + "!") }, connection.Refused},
		"a silent server":                 {func(n *connection.Namespace) { n.Endpoints = []string{newSilent(t, "").listener.Addr().String()} }, connection.Unreachable},
		"no grants":                       {func(n *connection.Namespace) { n.Grants = "digest:hunter2:r" }, connection.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := good
			tt.change(&n)
			wantReason(t, tt.want, password, func() error { return b.TestNamespace(t.Context(), n) })
		})
	}
}

func TestDatabases(t *testing.T) {
	t.Parallel()
	for driver, kind := range map[connection.Driver]database.Kind{connection.MySQL: database.MariaDB, connection.Postgres: database.PostgreSQL} {
		t.Run(string(driver), func(t *testing.T) {
			t.Parallel()
			database.Require(t, kind)
			server := database.Start(t, database.Config{Kind: kind})
			in, err := server.Create(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			user, password := login(t, in.DSN())
			b := book(t)
			good := connection.Database{
				Name: "history", Driver: driver, Address: server.Addr(), Schema: in.Name, User: user, Password: connection.Plain(password),
			}
			for name, tt := range map[string]struct {
				change func(*connection.Database)
				want   connection.Reason
			}{
				"good":             {func(*connection.Database) {}, ""},
				"a wrong password": {func(d *connection.Database) { d.Password = connection.Plain(password + "!") }, connection.Refused},
				"no TLS there":     {func(d *connection.Database) { d.TLS = &connection.TLS{} }, connection.Untrusted},
				"nobody there":     {func(d *connection.Database) { d.Address = nobody(t) }, connection.Unreachable},
				"a silent server":  {func(d *connection.Database) { d.Address = newSilent(t, "").listener.Addr().String() }, connection.Unreachable},
			} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					d := good
					tt.change(&d)
					wantReason(t, tt.want, password, func() error { return b.TestDatabase(t.Context(), d) })
				})
			}
			if _, err := b.PutDatabase(t.Context(), good, connection.NoVersion); err != nil {
				t.Fatal(err)
			}
			past, err := b.History("history")
			if err != nil {
				t.Fatal(err)
			}
			if names, err := past.JobNames(t.Context(), "", 1); err != nil && !errors.Is(err, connection.ErrDatabaseAway) {
				t.Errorf("%v, %v", names, err)
			}
		})
	}
}

// login returns the user and the password of a DSN of a test.
func login(t *testing.T, dsn string) (user, password string) {
	t.Helper()
	if u, err := url.Parse(dsn); err == nil && u.User != nil {
		password, _ = u.User.Password()
		return u.User.Username(), password
	}
	before, _, _ := strings.Cut(dsn, "@")
	user, password, _ = strings.Cut(before, ":")
	return user, password
}

func TestSQLite(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "history.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := book(t, folder)
	for address, want := range map[string]connection.Reason{
		path:                                 "",
		filepath.Join(folder, "none.db"):     connection.Invalid,
		"/etc/passwd":                        connection.Invalid,
		path + "?_pragma=writable_schema(1)": connection.Invalid,
		folder:                               connection.Invalid,
	} {
		err := b.TestDatabase(t.Context(), connection.Database{Name: "history", Driver: connection.SQLite, Address: address})
		if got := reason(t, err, "hunter2"); got != want {
			t.Errorf("%s: %q, want %q: %v", address, got, want, err)
		}
	}
}

// A server that somebody names gets no password that the environment has for other servers.
func TestNothingOfTheEnvironment(t *testing.T) {
	const secret = "hunter2-of-the-environment"
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".pgpass"), []byte("*:*:*:*:"+secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"PGPASSWORD": secret, "PGOPTIONS": "-c x=" + secret, "PGAPPNAME": secret, "HOME": home, "PGPASSFILE": filepath.Join(home, ".pgpass")} {
		t.Setenv(name, value)
	}
	const askForPassword = "R\x00\x00\x00\x08\x00\x00\x00\x03" // in clear text
	server := newSilent(t, askForPassword)
	b := book(t)
	err := b.TestDatabase(t.Context(), connection.Database{
		Name: "history", Driver: connection.Postgres, Address: server.listener.Addr().String(), Schema: "jobs", User: "ops",
	})
	if got := reason(t, err, secret); got == "" {
		t.Error("it has logged in")
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if text := string(server.sent); !strings.Contains(text, "jobs") || strings.Contains(text, secret) {
		t.Errorf("sent %q", text)
	}
}
