package client_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console"
	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/client"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
	"github.com/elasticjob-go/elasticjob/coord"
)

const password = "Tr0ub4dor-and-3"

// world is a console with users, in virtual time: also the network is.
type world struct {
	*apitest.World
	control   *access.Control
	transport *http.Transport
	wire      *wire
	tokens    map[string]string // anna may do everything, ben sees some jobs
}

func run(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	folder := t.TempDir()
	file := access.File(filepath.Join(folder, "users.yaml"))
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		all := &world{World: w, wire: newWire(), tokens: map[string]string{}}
		must(t, file.Change(t.Context(), func(u *access.Users) error {
			return errors.Join(
				u.Add("anna", password, []access.Grant{{Role: access.Admin}}),
				u.Add("ben", password, []access.Grant{{Role: access.Viewer, Namespaces: []string{"orders"}, Jobs: []string{"pay-*"}}}))
		}))
		var err error
		all.control, err = access.Open(access.Options{File: file})
		must(t, err)
		t.Cleanup(func() { must(t, all.control.Close()) })
		book, err := connection.Open(connection.Options{
			File: filepath.Join(folder, "connections.yaml"), Given: []connection.Given{{Namespace: connection.Namespace{Name: "orders"}, Ops: w.Ops}},
			Dial:        func(context.Context, connection.Namespace) (coord.Registry, error) { return nil, errors.New("refused") },
			OpenHistory: func(connection.Database) (connection.History, error) { return nil, errors.New("refused") },
			Slog:        slog.New(slog.DiscardHandler),
		})
		must(t, err)
		t.Cleanup(func() { must(t, book.Close(context.WithoutCancel(t.Context()))) })
		c, err := console.New(console.Options{
			Connections: book, Access: all.control, Version: "test", Slog: slog.New(slog.DiscardHandler),
		})
		must(t, err)
		server := &http.Server{Handler: c, ReadHeaderTimeout: time.Minute}
		var serving sync.WaitGroup
		serving.Go(func() { _ = server.Serve(all.wire) }) // it ends with the wire
		all.transport = &http.Transport{DialContext: all.wire.dial}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
			defer cancel()
			must(t, c.Close(ctx))
			all.transport.CloseIdleConnections()
			must(t, server.Shutdown(ctx))
			serving.Wait()
		})
		test(t, all)
	})
}

// as returns a client of somebody, by a token: a password takes long to check.
func (w *world) as(t *testing.T, name string) *client.Client {
	t.Helper()
	if w.tokens[name] == "" {
		c, err := client.New("http://127.0.0.1/", client.Options{Name: name, Password: password, HTTP: &http.Client{Transport: w.transport}})
		must(t, err)
		made, err := c.AddMyToken(t.Context(), client.NewToken{Name: "test"})
		must(t, err)
		w.tokens[name] = made.Token
	}
	c, err := client.New("http://127.0.0.1/", client.Options{Token: w.tokens[name], HTTP: &http.Client{Transport: w.transport}})
	must(t, err)
	c.Strict()
	return c
}

// wire is a network of two.
type wire struct {
	conns chan net.Conn
	done  chan struct{}
	close func()

	mu  sync.Mutex
	all []net.Conn
}

func newWire() *wire {
	w := &wire{conns: make(chan net.Conn), done: make(chan struct{})}
	w.close = sync.OnceFunc(func() { close(w.done) })
	return w
}

// end is an end of a connection, which has an address.
type end struct{ net.Conn }

func (end) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 9), Port: 4711} }

func (w *wire) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case w.conns <- end{far}:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = append(w.all, far)
		return near, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-w.done:
		return nil, net.ErrClosed
	}
}

// cut breaks all connections.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range w.all {
		_ = conn.Close() // it may be closed already
	}
	w.all = nil
}

func (w *wire) Accept() (net.Conn, error) {
	select {
	case conn := <-w.conns:
		return conn, nil
	case <-w.done:
		return nil, net.ErrClosed
	}
}

func (w *wire) Close() error   { w.close(); return nil }
func (w *wire) Addr() net.Addr { return end{}.RemoteAddr() }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
