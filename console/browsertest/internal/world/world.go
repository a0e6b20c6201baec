package world

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console"
	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Users of the console, who all have the same password.
const (
	Admin    = "anna"  // may do everything
	Operator = "oscar" // may operate the jobs op-*, and see all
	Viewer   = "vera"  // may see all

	Password = "a password of 1000 weeks"
)

// startTime bounds how long the world takes to start, and to end, on a busy machine.
const startTime = 2 * time.Minute

// World is there once it was started. It is safe for use by several goroutines.
type World struct {
	once func() error
	ends []func(context.Context) error // the last one first

	ops  *ops.Ops
	crew *crew
	site *httptest.Server
}

// New returns a world that has not been started yet. Close it.
func New() *World {
	w := &World{}
	w.once = sync.OnceValue(w.start)
	return w
}

// Start starts it, unless that was done, and returns the address of the console. Some jobs have been running
// by then, or do so soon.
func (w *World) Start(t testing.TB) (url string) {
	t.Helper()
	if err := w.once(); err != nil {
		t.Fatalf("the world: %v", err)
	}
	return w.site.URL
}

// Ops are the operations on Namespace, for tests that look at what the console has done.
func (w *World) Ops(t testing.TB) *ops.Ops {
	t.Helper()
	w.Start(t)
	return w.ops
}

func (w *World) start() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	folder, err := os.MkdirTemp("", "elasticjob-world-")
	if err != nil {
		return err
	}
	w.end(func(context.Context) error { return os.RemoveAll(folder) })
	server, err := etcdserver.Run(ctx, etcdserver.Config{})
	if err != nil {
		return err
	}
	w.end(func(context.Context) error {
		server.Stop()
		return nil
	})
	file := filepath.Join(folder, "history.db")
	past, err := openHistory(file)
	if err != nil {
		return err
	}
	w.end(func(context.Context) error { return past.Close() })
	if err := past.Migrate(ctx); err != nil {
		return err
	}
	reg, err := dial(ctx, server.Endpoints(), Namespace)
	if err != nil {
		return err
	}
	w.end(reg.Close)
	w.ops = ops.New(reg).By("setup")
	if err := create(ctx, w.ops); err != nil {
		return err
	}
	w.crew = &crew{orders: orders{Endpoints: server.Endpoints(), History: file}}
	w.end(func(context.Context) error {
		w.crew.close()
		return nil
	})
	for number := range Workers {
		if err := w.crew.start(number); err != nil {
			return err
		}
	}
	if err := w.serve(ctx, folder, file, server.Endpoints()); err != nil {
		return err
	}
	return w.complete()
}

// complete waits until all workers have all jobs.
func (w *World) complete() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	return w.ready(ctx, Quick, Failing, Long, Script, Once)
}

// serve starts the console.
func (w *World) serve(ctx context.Context, folder, history string, endpoints []string) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	users := access.File(filepath.Join(folder, "users.yaml"))
	if err := users.Change(ctx, addUsers); err != nil {
		return err
	}
	// Each tab has a session, and the tests that run at a time share three users.
	who, err := access.Open(access.Options{File: users, Trail: access.TrailOf(string(users)), SessionsOfUser: 1000})
	if err != nil {
		return err
	}
	w.end(func(context.Context) error { return who.Close() })
	given := func(name, database string) connection.Given {
		return connection.Given{
			Namespace: connection.Namespace{Name: name, Kind: "etcd", Endpoints: endpoints, Path: name, Database: database, Production: name == Namespace},
			Dial:      func(ctx context.Context) (coord.Registry, error) { return dial(ctx, endpoints, name) },
		}
	}
	keys, err := connection.ParseKeys(connection.NewKey())
	if err != nil {
		return err
	}
	book, err := connection.Open(connection.Options{
		File: filepath.Join(folder, "connections.yaml"), Keys: keys,
		Given: []connection.Given{given(Namespace, "history"), given(Empty, "")},
		GivenDatabases: []connection.GivenDatabase{{
			Database: connection.Database{Name: "history", Driver: connection.SQLite, Address: history},
			Open: func() (connection.History, error) {
				past, err := openHistory(history)
				if err != nil {
					return nil, err // past would be a nil pointer
				}
				return past, nil
			},
		}},
		Dial: func(ctx context.Context, n connection.Namespace) (coord.Registry, error) {
			return dial(ctx, n.Endpoints, n.Path)
		},
		OpenHistory: func(d connection.Database) (connection.History, error) {
			return nil, fmt.Errorf("the tests have no %s", d.Driver)
		},
		Slog: log,
	})
	if err != nil {
		return err
	}
	w.end(book.Close)
	served, err := console.New(console.Options{Connections: book, Access: who, Version: "test", Slog: log})
	if err != nil {
		return err
	}
	w.site = httptest.NewServer(served)
	w.end(func(ctx context.Context) error {
		err := served.Close(ctx)
		w.site.Close()
		return err
	})
	return nil
}

func addUsers(u *access.Users) error {
	return errors.Join(
		u.Add(Admin, Password, []access.Grant{{Role: access.Admin}}),
		u.Add(Operator, Password, []access.Grant{{Role: access.Viewer}, {Role: access.Operator, Jobs: []string{"op-*"}}}),
		u.Add(Viewer, Password, []access.Grant{{Role: access.Viewer}}),
	)
}

// end has something done by Close.
func (w *World) end(do func(context.Context) error) { w.ends = append(w.ends, do) }

// Close ends all that was started, and removes what was written. Tests must have ended.
func (w *World) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	var errs []error
	for i := len(w.ends) - 1; i >= 0; i-- {
		errs = append(errs, w.ends[i](ctx))
	}
	return errors.Join(errs...)
}
