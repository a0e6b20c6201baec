package etcd_test

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
)

// patience bounds whatever a test waits for. It finds what never comes.
const patience = 2 * time.Minute

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// dial opens a registry with a proxy before each member. Unless the configuration says otherwise its
// bounds are long: with etcd's own a request would fail, and a session be lost, whenever the machine
// stands still for a few seconds.
func dial(t *testing.T, server *etcdserver.Server, config etcd.Config) (*etcd.Registry, []*proxy.Proxy) {
	t.Helper()
	var links []*proxy.Proxy
	for _, endpoint := range server.Endpoints() {
		link, err := proxy.New(endpoint)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(link.Close)
		links = append(links, link)
		config.Endpoints = append(config.Endpoints, link.Addr())
	}
	if config.Namespace == "" {
		config.Namespace = "test"
	}
	config.SessionTimeout = cmp.Or(config.SessionTimeout, time.Minute)
	config.DialTimeout = cmp.Or(config.DialTimeout, 30*time.Second)
	config.RequestTimeout = cmp.Or(config.RequestTimeout, 30*time.Second)
	r, err := etcd.Dial(within(t), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, link := range links {
			link.Heal()
		}
		if err := r.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return r, links
}

func commit(t *testing.T, r coord.Registry, ops ...coord.Op) int64 {
	t.Helper()
	revision, err := r.Commit(within(t), ops...)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return revision
}

func open(t *testing.T, r coord.Registry, path string) coord.View {
	t.Helper()
	v, err := r.View(within(t), path, coord.AllLevels)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

func syncView(t *testing.T, v coord.View) coord.Snapshot {
	t.Helper()
	if err := v.Sync(within(t)); err != nil {
		t.Fatal(err)
	}
	return v.Snapshot()
}

func session(t *testing.T, r coord.Registry) coord.Session {
	t.Helper()
	s, err := r.Session(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// acquire waits for a latch.
func acquire(t *testing.T, r coord.Registry, path string) coord.Held {
	t.Helper()
	latch, err := r.Latch(path)
	if err != nil {
		t.Fatal(err)
	}
	held, err := latch.Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// awaitState waits for a state of a session.
func awaitState(t *testing.T, s coord.Session, want coord.SessionState) {
	t.Helper()
	ctx := within(t)
	for {
		state, changed := s.State()
		switch state {
		case want:
			return
		case coord.Lost:
			t.Fatalf("the session is lost: %v", context.Cause(s.Context()))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("the session stays %v", state)
		}
	}
}

// When a password is set all tokens are refused at once, as they are some time after their
// last use. The watch stream is logged in with the old token.
func TestLogsInAgain(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{Auth: &etcdserver.Auth{User: "u", Password: "p", Prefix: "/test/"}})
	r, _ := dial(t, server, etcd.Config{Username: "u", Password: "p", SessionTimeout: 15 * time.Second})
	s := session(t, r)
	v := open(t, r, "a")
	commit(t, r, coord.CreateEphemeral("a/e", nil))
	views := 1
	for range 3 {
		if _, err := server.Admin().UserChangePassword(within(t), "u", "p"); err != nil {
			t.Fatal(err)
		}
		commit(t, r, coord.Put("a/b", nil), coord.Owned("a/e"))
		commit(t, r, coord.DeleteTree("a/b"))
		another := open(t, r, "a") // on the stream with the dead token
		views++
		commit(t, r, coord.Put("a/b", nil))
		if !syncView(t, v).Exists("a/b") || !syncView(t, another).Exists("a/b") {
			t.Error("a view lacks what was committed")
		}
		held := acquire(t, r, "latch")
		// A watch that is cancelled before the server has confirmed it stays on its stream.
		awaitWatches(t, server, v, 1+views+1) // of the session's key, of the views, and of the latch's node
		if err := held.Release(within(t)); err != nil {
			t.Error(err)
		}
		awaitWatches(t, server, v, 1+views)
	}
	// The keep-alive stream logs in again, too.
	renewed(t, s, s.Deadline())
	if state, _ := s.State(); state != coord.Connected {
		t.Errorf("the session is %v", state)
	}
}

// renewed waits until a session has been renewed since its deadline was this.
func renewed(t *testing.T, s coord.Session, deadline time.Time) {
	t.Helper()
	ctx := within(t)
	ticker := time.NewTicker(20 * time.Millisecond) // a renewal is told nobody
	defer ticker.Stop()
	for !s.Deadline().After(deadline) {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatal("the session is not renewed")
		}
	}
}

// awaitWatches waits until the server has so many watches. Syncing v is the pause between
// two looks.
func awaitWatches(t *testing.T, server *etcdserver.Server, v coord.View, want int) {
	t.Helper()
	for ctx := within(t); ; syncView(t, v) {
		watches, err := server.Watches(t.Context())
		if watches == want {
			return
		}
		if err != nil || ctx.Err() != nil {
			t.Fatalf("%d watches, %v; want %d", watches, err, want)
		}
	}
}

func TestPasswordChanged(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{Auth: &etcdserver.Auth{User: "u", Password: "p"}})
	r, _ := dial(t, server, etcd.Config{Username: "u", Password: "p", SessionTimeout: 2 * time.Second})
	s := session(t, r)
	if _, err := server.Admin().UserChangePassword(within(t), "u", "other"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Get(within(t), "a"); !errors.Is(err, coord.ErrDenied) {
		t.Errorf("get: %v", err)
	}
	if _, err := r.Commit(within(t), coord.Put("a", nil)); !errors.Is(err, coord.ErrDenied) || errors.Is(err, coord.ErrUnknownOutcome) {
		t.Errorf("commit: %v", err)
	}
	if _, err := r.View(within(t), "a", coord.AllLevels); !errors.Is(err, coord.ErrDenied) {
		t.Errorf("view: %v", err)
	}
	<-s.Context().Done()
	if _, err := server.Admin().UserChangePassword(within(t), "u", "p"); err != nil {
		t.Fatal(err)
	}
	if session(t, r).ID() == s.ID() {
		t.Error("the session came back")
	}
}

// A user whose role may read and write the prefix of the namespace needs no other right.
func TestUserOfOneNamespace(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{Auth: &etcdserver.Auth{User: "u", Password: "p", Prefix: "/shop/jobs/"}})
	r, _ := dial(t, server, etcd.Config{Username: "u", Password: "p", Namespace: "shop/jobs"})
	v, part := open(t, r, ""), open(t, r, "a/b")
	commit(t, r, coord.Put("a/b/c", nil), coord.CreateEphemeral("e", nil))
	if !syncView(t, v).Exists("e") || !syncView(t, part).Exists("a/b/c") {
		t.Error("a view lacks what was committed")
	}
	if _, err := r.List(within(t), ""); err != nil {
		t.Error(err)
	}

	_, err := etcd.Dial(within(t), etcd.Config{Endpoints: server.Endpoints(), Username: "u", Password: "p", Namespace: "shop"})
	if !errors.Is(err, coord.ErrDenied) {
		t.Errorf("another namespace: %v", err)
	}
	leases, err := server.Admin().Leases(within(t))
	if err != nil || len(leases.Leases) != 1 {
		t.Errorf("%d leases, %v; want only that of the registry that was let in", len(leases.Leases), err)
	}
}

func TestClientCertificate(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{ClientCertificates: true})
	r, _ := dial(t, server, etcd.Config{TLS: server.ClientTLS()})
	commit(t, r, coord.Put("a", nil))
	awaitClock(t, r, coord.Clock.Known)
	without := server.ClientTLS()
	without.Certificates = nil
	for name, config := range map[string]etcd.Config{
		"no certificate": {TLS: without},
		"https":          {Endpoints: []string{"https://" + server.Endpoints()[0]}}, // whose authority the system does not know
		"untrusting":     {TLS: server.UntrustingTLS()},
	} {
		config.Namespace = "test"
		config.DialTimeout = 30 * time.Second // a server that closes may cut off its own alert: a later attempt gets it
		if config.Endpoints == nil {
			config.Endpoints = server.Endpoints()
		}
		if _, err := etcd.Dial(within(t), config); !errors.Is(err, coord.ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One side speaks TLS and the other does not: what breaks a connection does not say so, but the error does.
func TestTLSOnOneSideOnly(t *testing.T) {
	for hint, secured := range map[string]bool{"it probably requires TLS": true, "it probably has no TLS": false} {
		server := etcdserver.Start(t, etcdserver.Config{TLS: secured})
		config := etcd.Config{Endpoints: server.Endpoints(), Namespace: "test", DialTimeout: time.Second}
		if !secured {
			config.TLS = &tls.Config{}
		}
		if _, err := etcd.Dial(within(t), config); !errors.Is(err, coord.ErrUnavailable) || !strings.Contains(err.Error(), hint) {
			t.Errorf("the error does not say %q: %v", hint, err)
		}
	}
}

func TestLosesItsMemberAndTheLeader(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{Members: 3})
	r, _ := dial(t, server, etcd.Config{RequestTimeout: 3 * time.Second, SessionTimeout: 20 * time.Second})
	s := session(t, r)
	v := open(t, r, "a")
	held := acquire(t, r, "latch")
	commit(t, r, coord.CreateEphemeral("a/e", nil))

	for round := range 3 { // every member once, wherever the streams are
		leader := server.Leader(t.Context())
		for leader < 0 {
			leader = server.Leader(t.Context())
		}
		server.StopMember(leader)
		put(t, r, "a/b", byte(round))
		if n, _ := syncView(t, v).Get("a/b"); len(n.Value) != 1 || n.Value[0] != byte(round) {
			t.Errorf("round %d: the view shows %v", round, n.Value)
		}
		if err := server.RestartMember(within(t), leader); err != nil {
			t.Fatal(err)
		}
	}
	insist(t, r, coord.Owned("a/e")) // the leader may change once more
	if s.Context().Err() != nil || held.Context().Err() != nil {
		t.Errorf("session %v, latch %v", context.Cause(s.Context()), context.Cause(held.Context()))
	}
}

// put writes, and tries again if the outcome is unknown: the write may be done twice.
func put(t *testing.T, r coord.Registry, path string, value byte) {
	t.Helper()
	insist(t, r, coord.Put(path, []byte{value}))
}

// insist commits again until there is an answer.
func insist(t *testing.T, r coord.Registry, op coord.Op) {
	t.Helper()
	ctx := within(t)
	for {
		_, err := r.Commit(ctx, op)
		if err == nil {
			return
		}
		if ctx.Err() != nil || !errors.Is(err, coord.ErrUnknownOutcome) && !errors.Is(err, coord.ErrUnavailable) {
			t.Fatal(err)
		}
	}
}

// A silent connection is not closed, so only a keep-alive without an answer tells in time
// that it is broken.
func TestSessionOutlivesASilentConnection(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{})
	r, links := dial(t, server, etcd.Config{SessionTimeout: 20 * time.Second}) // the silence is noticed after two thirds of it
	s := session(t, r)
	v := open(t, r, "a")
	commit(t, r, coord.CreateEphemeral("a/e", nil))
	links[0].Strand()
	awaitState(t, s, coord.Suspended)
	awaitState(t, s, coord.Connected)
	commit(t, r, coord.Owned("a/e"), coord.Put("a/b", nil))
	if !syncView(t, v).Exists("a/b") {
		t.Error("the view lacks what was committed")
	}
}

// An Acquire whose answer was lost leaves no candidate in the queue.
func TestLatchIsNotBlockedByACandidateWithoutAnAnswer(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, links := dial(t, server, etcd.Config{SessionTimeout: 20 * time.Second})
	other, _ := dial(t, server, etcd.Config{})
	s := session(t, r)
	latch, err := r.Latch("latch")
	if err != nil {
		t.Fatal(err)
	}
	view := open(t, other, "latch")
	changed := view.Changed()
	links[0].DropAnswers()
	ctx, cancel := context.WithCancel(within(t))
	result := make(chan error, 1)
	go func() {
		_, err := latch.Acquire(ctx)
		result <- err
	}()
	<-changed // the candidate stands in the queue, and does not know it
	cancel()
	if err := <-result; !errors.Is(err, coord.ErrUnknownOutcome) || !errors.Is(err, context.Canceled) {
		t.Errorf("acquire: %v", err)
	}
	links[0].Heal()
	held := acquire(t, other, "latch")
	if s.Context().Err() != nil {
		t.Error("the latch was free only because the session was lost")
	}
	if err := held.Release(within(t)); err != nil {
		t.Error(err)
	}
}

// A watch stream does not answer progress requests while one of its watches begins at a
// later revision than the store's, as after a reconnect while nobody writes.
func TestSyncAfterAReconnectToAStoreThatStandsStill(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, links := dial(t, server, etcd.Config{SessionTimeout: time.Hour}) // no keep-alive comes to help
	other, _ := dial(t, server, etcd.Config{})
	a, b := open(t, r, "a"), open(t, r, "b")
	commit(t, other, coord.Put("b/x", nil))
	syncView(t, b)
	changed := a.Changed()
	links[0].Cut()
	links[0].Heal()
	if n := syncView(t, a).Len(); n != 0 {
		t.Errorf("%d nodes", n)
	}
	select {
	case <-changed:
		t.Error("told of a change, but there was none")
	default:
	}
	commit(t, other, coord.Put("a/x", nil))
	if !syncView(t, a).Exists("a/x") {
		t.Error("the view lacks what was committed")
	}
}

func TestQuietLog(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.InfoLevel)
	server := etcdserver.Start(t, etcdserver.Config{})
	r, links := dial(t, server, etcd.Config{Logger: zap.New(core), SessionTimeout: 10 * time.Second}) // a busy machine must not suspend it
	v := open(t, r, "")
	for range 10 {
		commit(t, r, coord.Put("a", nil))
		syncView(t, v)
	}
	if _, err := r.Commit(within(t), coord.Create("a", nil)); !errors.Is(err, coord.ErrConflict) {
		t.Errorf("got the error %v", err)
	}
	links[0].Cut()
	<-session(t, r).Context().Done()
	links[0].Heal()
	session(t, r)
	want := []string{"session opened", "session suspended", "session lost", "session opened"}
	var got []string
	for _, entry := range logs.All() {
		got = append(got, entry.Message)
	}
	if len(got) != len(want) {
		t.Fatalf("logged %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("logged %q, want %q", got, want)
		}
	}
}

// A thousand views that are opened at the same moment are slow, but no failure. None of
// them has a goroutine, and what is written to one of them shows.
func TestAThousandViewsAtOnce(t *testing.T) {
	const views = 1_000
	server := etcdserver.Start(t, etcdserver.Config{})
	r, links := dial(t, server, etcd.Config{RequestTimeout: 15 * time.Second}) // a bound that each has
	opened := make([]coord.View, views)
	before := runtime.NumGoroutine()
	open := func(from, to int) {
		var opening sync.WaitGroup
		for i := from; i < to; i++ {
			opening.Go(func() {
				v, err := r.View(within(t), fmt.Sprintf("job-%d", i), coord.AllLevels)
				if err != nil {
					t.Error(err)
					return
				}
				opened[i] = v
			})
		}
		opening.Wait()
		if t.Failed() {
			t.FailNow()
		}
	}
	open(0, views)
	for ctx := within(t); runtime.NumGoroutine() > before+views/10; runtime.Gosched() { // those of the requests are ending
		if ctx.Err() != nil {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
	follows(t, r, opened[views/2], fmt.Sprintf("job-%d/x", views/2))
	changed := opened[7].Changed()
	links[0].Cut()
	links[0].Heal()
	put(t, r, "job-7/x", 1)
	select {
	case <-changed:
	case <-within(t).Done():
		t.Error("the view shows nothing after the stream broke")
	}
	follows(t, r, opened[views-1], fmt.Sprintf("job-%d/x", views-1))
}

// A thousand idle views send nothing: a registry that has them sends no more than an idle
// one without views.
func TestIdleViewsAreSilent(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{})
	const timeout = 4 * time.Second // a session that is lost sends more
	without, links := dial(t, server, etcd.Config{SessionTimeout: timeout})
	with, busy := dial(t, server, etcd.Config{SessionTimeout: timeout})
	const views = 300
	for range views {
		v, err := with.View(within(t), "a", coord.AllLevels)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
	}
	links = append(links, busy...)
	var before, after [2]int64
	for i, link := range links {
		sent, answered := link.Traffic()
		before[i] = sent + answered
	}
	for _, r := range []coord.Registry{without, with} { // a whole session time-out each
		lived, cancel := context.WithDeadline(within(t), session(t, r).Deadline())
		<-lived.Done()
		cancel()
	}
	for i, link := range links {
		sent, answered := link.Traffic()
		after[i] = sent + answered
	}
	idle, idleWithViews := after[0]-before[0], after[1]-before[1]
	if idle == 0 || idleWithViews > 2*idle {
		t.Errorf("%d bytes without views, %d with %d", idle, idleWithViews, views)
	}
}
