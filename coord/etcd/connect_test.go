package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
)

func TestOldServers(t *testing.T) {
	for version, minimum := range map[string]string{
		"3.4.40":      "3.5.33",
		"3.5.0":       "3.5.33",
		"3.5.32":      "3.5.33",
		"3.5.33":      "",
		"3.6.13":      "3.6.14",
		"3.6.14":      "",
		"3.7.0":       "3.7.1",
		"3.7.0-rc.1":  "3.7.1",
		"3.7.3":       "",
		"3.8.0":       "",
		"4.0.0":       "",
		"2.3.8":       "3.5.33",
		"no version":  "",
		"3.10.0-beta": "",
	} {
		got, old := tooOld(version)
		if old != (minimum != "") || old && got != minimum {
			t.Errorf("%s: got the minimum %q, %v; want %q", version, got, old, minimum)
		}
	}
}

// When members are replaced one by one, a registry finds the new ones by the addresses that
// they advertise.
func TestEndpointsAreRefreshed(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	server := etcdserver.Start(t, etcdserver.Config{Members: 3})
	link, err := proxy.New(server.Endpoints()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	r, err := Dial(ctx, Config{Endpoints: []string{link.Addr()}, Namespace: "test", SyncInterval: 20 * time.Millisecond, DialTimeout: 30 * time.Second, RequestTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close(context.Background()) }() // its first endpoint may be cut off
	for reachable := false; !reachable && ctx.Err() == nil; {
		endpoints := r.client.Endpoints()
		reachable = !slices.ContainsFunc(server.Endpoints(), func(e string) bool { return !slices.Contains(endpoints, e) })
		_, _ = r.Commit(ctx, coord.Put("a", nil)) // the pause between two looks; after the restart another leader may be elected
	}
	link.Cut()
	for {
		_, err := r.Commit(ctx, coord.Put("b", nil))
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%v; the endpoints are %q", err, r.client.Endpoints())
		}
	}
}

func TestAdvertisedAddressesAreAdded(t *testing.T) {
	for _, c := range []struct{ configured, advertised, want []string }{
		{[]string{"a:1"}, nil, []string{"a:1"}},
		{[]string{"a:1"}, []string{"http://b:1", "http://a:1"}, []string{"a:1", "b:1"}},
		{[]string{"https://a:1", "https://c:1"}, []string{"https://b:1", "https://a:1", "https://b:1"}, []string{"https://a:1", "https://c:1", "https://b:1"}},
		{[]string{"a:1"}, []string{"", "http://", "unix:///x", "http://b"}, []string{"a:1"}},
	} {
		if got := withAdvertised(c.configured, c.advertised); !slices.Equal(got, c.want) {
			t.Errorf("%q and %q: got %q, want %q", c.configured, c.advertised, got, c.want)
		}
	}
}

// Connections that have ended are forgotten, however many addresses come and go.
func TestConnectionsAreForgotten(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	server := etcdserver.Start(t, etcdserver.Config{})
	dialled := 0
	conns := connections{dialled: func() { dialled++ }}
	for range 5 {
		link, err := proxy.New(server.Endpoints()[0])
		if err != nil {
			t.Fatal(err)
		}
		conn, err := conns.dial(ctx, link.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if len(conns.newest) != 1 {
			t.Errorf("%d connections are known", len(conns.newest))
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		link.Close()
	}
	if len(conns.newest) != 0 || dialled != 5 {
		t.Errorf("%d connections are known, %d were dialled", len(conns.newest), dialled)
	}
}

func TestOldRevision(t *testing.T) {
	for newest, want := range map[int64]int64{1: 1, muchHistory: 1, muchHistory + 7: 7} {
		if got := oldRevision(newest); got != want {
			t.Errorf("%d: got %d, want %d", newest, got, want)
		}
	}
}

// A store that compacts no longer has old revisions. One that has them all is warned of when its database is large.
func TestHistoryThatIsKept(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	core, log := observer.New(zapcore.WarnLevel)
	r, err := Dial(t.Context(), Config{Endpoints: server.Endpoints(), Namespace: "test", RequestTimeout: 30 * time.Second, Logger: zap.New(core)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close(context.Background()) }() // how it ends is not the question
	var revisions []int64
	for i := range 10 {
		revision, err := r.Commit(t.Context(), coord.Put(fmt.Sprint(i), nil))
		if err != nil {
			t.Fatal(err)
		}
		revisions = append(revisions, revision)
	}
	if err := r.readOld(t.Context(), revisions[0]); err != nil {
		t.Errorf("a store that was not compacted: %v", err)
	}
	warnings := func() int { return log.FilterMessageSnippet("keep its whole history").Len() }
	if r.warnOfHistory(largeDatabase - 1); warnings() != 0 {
		t.Error("the log warns of a small database")
	}
	if r.warnOfHistory(largeDatabase); warnings() != 1 {
		t.Error("the log does not warn of a large database")
	}
	if _, err := server.Admin().Compact(t.Context(), slices.Max(revisions)); err != nil {
		t.Fatal(err)
	}
	if err := r.readOld(t.Context(), revisions[0]); !errors.Is(err, errCompacted) {
		t.Errorf("a store that was compacted: %v", err)
	}
	if r.warnOfHistory(largeDatabase); warnings() != 1 {
		t.Error("the log warns of a store that was compacted")
	}
}
