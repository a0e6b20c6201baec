package world

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/elasticjob-go/elasticjob/console"
	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Soon is a job of which nobody has a worker, with a tick each half minute.
const Soon = "ring-the-bell"

// Remote is a console of a test alone, with the users of the world, one namespace and the job Soon in it. What leads to it, and
// from it to its store, can be broken.
type Remote struct {
	// URL is the address of the console, over Front.
	URL string
	// Front is the link to the console, and Store the one from it to its store.
	Front, Store *proxy.Proxy
	// Access are its users, after Restart too.
	Access *access.Control

	t     testing.TB
	users access.File
	kind  string
	dial  func(ctx context.Context, address string) (coord.Registry, error)
	close func()
}

// Away starts a console of its own, with a store of a kind, until the end of a test.
func Away(t testing.TB, kind string) *Remote {
	t.Helper()
	r := &Remote{t: t, kind: kind, users: access.File(filepath.Join(t.TempDir(), "users.yaml"))}
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	t.Cleanup(cancel)
	var address string
	if kind == "etcd" {
		address = etcdserver.Start(t, etcdserver.Config{}).Endpoints()[0]
		r.dial = func(ctx context.Context, address string) (coord.Registry, error) {
			return dial(ctx, []string{address}, Namespace)
		}
	} else {
		address = zkserver.Start(t, zkserver.Config{}).Addr()
		r.dial = func(ctx context.Context, address string) (coord.Registry, error) {
			reg, err := zk.Dial(ctx, zk.Config{Servers: []string{address}, Namespace: Namespace, SessionTimeout: sessionTimeout})
			if err != nil {
				return nil, err // reg would be a nil pointer
			}
			return reg, nil
		}
	}
	reg, err := r.dial(ctx, address)
	r.must(err)
	defer reg.Close(ctx)
	r.must(ops.New(reg).By("setup").Create(ctx, ops.CreateRequest{Config: jobtype.Config{Name: Soon, Cron: "0/30 * * * * ?", ShardingTotalCount: 1}, Implementation: "nobody.Offers"}))
	r.must(r.users.Change(ctx, addUsers))
	r.Store = r.link(address)
	r.Front = r.link(r.open())
	t.Cleanup(func() { r.close() })
	r.URL = "http://" + r.Front.Addr()
	return r
}

// Restart ends the console, and begins it anew, with the users, sessions and jobs that there were.
func (r *Remote) Restart() {
	r.t.Helper()
	r.Front.Cut()
	r.close()
	r.Front.Redirect(r.open())
	r.Front.Heal()
}

// open begins the console.
func (r *Remote) open() (address string) {
	r.t.Helper()
	who, err := access.Open(access.Options{File: r.users, Trail: access.TrailOf(string(r.users))})
	r.must(err)
	r.Access = who
	log := slog.New(slog.DiscardHandler)
	over := func(ctx context.Context) (coord.Registry, error) { return r.dial(ctx, r.Store.Addr()) }
	book, err := connection.Open(connection.Options{
		Given: []connection.Given{{Namespace: connection.Namespace{Name: Namespace, Kind: connection.Kind(r.kind), Endpoints: []string{r.Store.Addr()}, Path: Namespace}, Dial: over}},
		Dial:  func(ctx context.Context, n connection.Namespace) (coord.Registry, error) { return over(ctx) },
		OpenHistory: func(d connection.Database) (connection.History, error) {
			return nil, fmt.Errorf("the tests have no %s", d.Driver)
		},
		Slog: log,
	})
	r.must(err)
	served, err := console.New(console.Options{Connections: book, Access: who, Version: "test", Slog: log})
	r.must(err)
	site := httptest.NewServer(served)
	r.close = func() {
		end, cancel := context.WithTimeout(context.Background(), startTime)
		defer cancel()
		r.Store.Heal()
		r.must(served.Close(end))
		site.Close()
		r.must(book.Close(end))
		r.must(who.Close())
	}
	return site.Listener.Addr().String()
}

func (r *Remote) link(to string) *proxy.Proxy {
	r.t.Helper()
	link, err := proxy.New(to)
	r.must(err)
	r.t.Cleanup(link.Close)
	return link
}

func (r *Remote) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatalf("a console of its own: %v", err)
	}
}
