package zk_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
)

// soon is enough for a Dial that has a second, or is told at once, also if the machine stands still
// meanwhile.
const soon = 30 * time.Second

// wantDialError dials, and expects it to fail in time and to name all servers.
func wantDialError(t *testing.T, cfg zk.Config, within time.Duration, want error) {
	t.Helper()
	cfg.Namespace = namespace(t)
	begin := time.Now()
	r, err := zk.Dial(t.Context(), cfg)
	if err == nil {
		_ = r.Close(t.Context()) // the test has failed
	}
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
	if took := time.Since(begin); took > within {
		t.Errorf("took %v, more than %v", took, within)
	}
	for _, server := range cfg.Servers {
		if !strings.Contains(err.Error(), server) {
			t.Errorf("the error %q does not name %s", err, server)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	wantDialError(t, zk.Config{Servers: []string{nowhere(t), nowhere(t)}, DialTimeout: time.Second}, soon, coord.ErrUnavailable)
}

func TestDialIntoABlackHole(t *testing.T) {
	t.Parallel()
	hole := newLink(t, sharedServer(t))
	hole.BlackHole()
	wantDialError(t, zk.Config{Servers: []string{hole.Addr()}, DialTimeout: time.Second}, soon, coord.ErrUnavailable)
}

func TestDialWithDeadServersAmongThem(t *testing.T) {
	t.Parallel()
	hole := newLink(t, sharedServer(t))
	hole.BlackHole()
	for range 5 { // the order is random
		r := dial(t, zk.Config{Servers: []string{nowhere(t), hole.Addr(), sharedServer(t).Addr()}, DialTimeout: 9 * time.Second})
		commit(t, r, coord.Put("a", nil))
	}
}

// A server that has just been started may take a connect request and never answer it. There
// has to be time for another one.
func TestDialToAServerThatSwallowsARequest(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := sharedServer(t).Addr()
	var serving sync.WaitGroup
	forward := func(c net.Conn) {
		defer c.Close()
		s, err := net.Dial("tcp", server)
		if err != nil {
			return // the client sees it
		}
		defer s.Close()
		serving.Go(func() {
			defer s.Close()
			_, _ = io.Copy(s, c) // it ends with one of the connections
		})
		_, _ = io.Copy(c, s) // it ends with one of the connections
	}
	serving.Go(func() {
		for swallowed := false; ; swallowed = true {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if swallowed {
				serving.Go(func() { forward(c) })
			} else {
				defer c.Close()
			}
		}
	})
	t.Cleanup(serving.Wait)
	t.Cleanup(func() { l.Close() })
	r := dial(t, zk.Config{Servers: []string{l.Addr().String()}, DialTimeout: 20 * time.Second})
	commit(t, r, coord.Put("a", nil))
}

func TestNamespaceWithSlashes(t *testing.T) {
	deep := dial(t, zk.Config{Namespace: namespace(t) + "/jobs/eu"})
	commit(t, deep, coord.Create("a/b", []byte("v")))
	shallow := dial(t, zk.Config{Namespace: namespace(t)})
	if n, err := shallow.Get(t.Context(), "jobs/eu/a/b"); err != nil || string(n.Value) != "v" {
		t.Errorf("got %+v, %v", n, err)
	}
}

func TestTLSByNameAndByAddress(t *testing.T) {
	t.Parallel()
	server := secureServer(t)
	_, port, _ := strings.Cut(server.TLSAddr(), ":")
	for _, host := range []string{"127.0.0.1", "localhost"} {
		r := dial(t, zk.Config{Servers: []string{host + ":" + port}, TLS: &tls.Config{RootCAs: server.Authority()}})
		commit(t, r, coord.Put("a", nil))
	}
	wantDialError(t, zk.Config{
		Servers: []string{"127.0.0.1:" + port},
		TLS:     &tls.Config{RootCAs: server.Authority(), ServerName: "elsewhere"}, DialTimeout: 2 * soon,
	}, soon, coord.ErrDenied)
}

// Everything that a registry creates belongs to its user: the namespace and its parents,
// parents of nodes, ephemeral nodes, candidates of latches, the clock's node.
func TestEveryNodeBelongsToTheUser(t *testing.T) {
	r := dial(t, zk.Config{Namespace: namespace(t) + "/jobs", Digest: rightPassword})
	commit(t, r, coord.Create("a/b/c", nil), coord.CreateEphemeral("e/f", nil), coord.Absent("x/y/z"), coord.Put("p/q", nil))
	l, err := r.Latch("l/m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitClock(t, r, "known", coord.Clock.Known)

	conn := dialBare(t, sharedServer(t).Addr(), rightPassword)
	stranger := dialBare(t, sharedServer(t).Addr(), "")
	want := zookeeper.DigestACL(zookeeper.PermAll, "user", "right")
	var seen []string
	var walk func(path string)
	walk = func(path string) {
		seen = append(seen, path)
		acl, _, err := conn.GetACL(path)
		if err != nil || !slices.Equal(acl, want) {
			t.Errorf("%s: ACL %v, %v", path, acl, err)
		}
		if _, _, err := stranger.Get(path); !errors.Is(err, zookeeper.ErrNoAuth) {
			t.Errorf("%s: a stranger's read: %v", path, err)
		}
		names, _, err := conn.Children(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			walk(path + "/" + name)
		}
	}
	walk("/" + namespace(t))
	if len(seen) != 14 {
		t.Errorf("%d nodes: %q", len(seen), seen)
	}
}

func TestANamespaceOfAnotherUser(t *testing.T) {
	dial(t, zk.Config{Digest: rightPassword})
	for _, digest := range []string{wrongPassword, ""} {
		wantDialError(t, zk.Config{Servers: []string{sharedServer(t).Addr()}, Digest: digest, DialTimeout: 2 * soon}, soon, coord.ErrDenied)
	}
}

// A part of the tree may belong to somebody else.
func TestForbiddenNodes(t *testing.T) {
	r := dial(t, zk.Config{})
	other := dialBare(t, sharedServer(t).Addr(), "other:secret")
	if _, err := other.Create("/"+namespace(t)+"/theirs", nil, 0, zookeeper.AuthACL(zookeeper.PermAll)); err != nil {
		t.Fatal(err)
	}
	_, err := r.Get(t.Context(), "theirs")
	wantErr(t, err, coord.ErrDenied, "theirs")
	_, err = r.Commit(t.Context(), coord.Put("mine", nil), coord.Set("theirs", nil))
	wantErr(t, err, coord.ErrDenied, "theirs")
	_, err = r.Commit(t.Context(), coord.Create("theirs/a", nil))
	wantErr(t, err, coord.ErrDenied, "theirs/a")
	_, err = r.View(t.Context(), "theirs", coord.AllLevels)
	wantErr(t, err, coord.ErrDenied, "theirs")
	if _, err := r.Get(t.Context(), "mine"); !errors.Is(err, coord.ErrNoNode) {
		t.Errorf("a part of a refused commit was done: %v", err)
	}
}

func wantErr(t testing.TB, err, want error, names ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
		return
	}
	for _, name := range names {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error %q does not name %q", err, name)
		}
	}
}

func TestHandshake(t *testing.T) {
	answer := []byte{
		0, 0, 0, 36, // length
		0, 0, 0, 0, // protocol version
		0, 0, 0x0f, 0xa0, // time-out: 4000 ms
		1, 2, 3, 4, 5, 6, 7, 8, // session
		0, 0, 0, 16, // length of the password
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	}
	for n := range answer {
		if _, _, _, ok := zk.ParseHandshake(answer[:n]); ok {
			t.Fatalf("complete after %d of %d bytes", n, len(answer))
		}
	}
	session, timeout, password, ok := zk.ParseHandshake(answer)
	if !ok || session != 0x0102030405060708 || timeout != 4*time.Second || !bytes.Equal(password, answer[24:]) {
		t.Errorf("got session %#x, time-out %v, password %v, %v", session, timeout, password, ok)
	}
}

// The length of an answer may be any number if the server is not ZooKeeper.
func TestSomethingElseListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			// The other side may close the connection before all is written.
			_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			c.Close()
		}
	}()
	wantDialError(t, zk.Config{Servers: []string{l.Addr().String()}, DialTimeout: time.Second}, soon, coord.ErrUnavailable)
	l.Close()
	<-done
}

func TestTLSWhereThereIsNone(t *testing.T) {
	plain := sharedServer(t).Addr()
	wantDialError(t, zk.Config{Servers: []string{plain}, DialTimeout: time.Second, TLS: &tls.Config{}}, soon, coord.ErrUnavailable)
}
