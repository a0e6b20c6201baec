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
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Soon is a job of which nobody has a worker, with a tick each half minute.
const Soon = "ring-the-bell"

// Away starts a console of its own until the end of a test, with the users of the world, one namespace and the job Soon in it. It
// reaches its store over a link, which the test can break. It returns the address of the console.
func Away(t testing.TB) (url string, link *proxy.Proxy) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	t.Cleanup(cancel)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("a world of its own: %v", err)
		}
	}
	server := etcdserver.Start(t, etcdserver.Config{})
	link, err := proxy.New(server.Endpoints()[0])
	must(err)
	t.Cleanup(link.Close)
	reg, err := dial(ctx, server.Endpoints(), Namespace)
	must(err)
	defer reg.Close(ctx)
	must(ops.New(reg).By("setup").Create(ctx, ops.CreateRequest{Config: jobtype.Config{Name: Soon, Cron: "0/30 * * * * ?", ShardingTotalCount: 1}, Implementation: "nobody.Offers"}))

	users := access.File(filepath.Join(t.TempDir(), "users.yaml"))
	must(users.Change(ctx, addUsers))
	who, err := access.Open(access.Options{File: users, Trail: access.TrailOf(string(users))})
	must(err)
	t.Cleanup(func() { must(who.Close()) })
	log := slog.New(slog.DiscardHandler)
	over := func(ctx context.Context) (coord.Registry, error) { return dial(ctx, []string{link.Addr()}, Namespace) }
	book, err := connection.Open(connection.Options{
		Given: []connection.Given{{Namespace: connection.Namespace{Name: Namespace, Kind: "etcd", Endpoints: []string{link.Addr()}, Path: Namespace}, Dial: over}},
		Dial:  func(ctx context.Context, n connection.Namespace) (coord.Registry, error) { return over(ctx) },
		OpenHistory: func(d connection.Database) (connection.History, error) {
			return nil, fmt.Errorf("the tests have no %s", d.Driver)
		},
		Slog: log,
	})
	must(err)
	served, err := console.New(console.Options{Connections: book, Access: who, Version: "test", Slog: log})
	must(err)
	site := httptest.NewServer(served)
	t.Cleanup(func() {
		end, cancel := context.WithTimeout(context.Background(), startTime)
		defer cancel()
		link.Heal()
		must(served.Close(end))
		site.Close()
		must(book.Close(end))
	})
	return site.URL, link
}
