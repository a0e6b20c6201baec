package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/httpx"
)

// Site is what is served, and where.
type Site struct {
	// Listen is host:port.
	Listen string
	// Certificate is nil for HTTP in the clear.
	Certificate *Certificate
	Handler     http.Handler
	// Most bounds how long a request may take to come, and its answer to be taken. 0: the handler sees to that.
	Most time.Duration
	// Close ends what streams: the server waits for all requests, and would for those. May be nil.
	Close func(context.Context) error
	// Ready is told where the site is, once it listens. May be nil.
	Ready func(url string)
	// Grace is how long requests have that go on when the site ends. Default 10 s.
	Grace time.Duration
	Log   *slog.Logger
}

// How long a connection may take.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10 // bytes
)

const defaultGrace = 10 * time.Second

// Run serves all sites until ctx ends, or one of them fails, and returns when all have ended.
//
// Errors: an address that cannot be listened on; requests that were cut off.
func Run(ctx context.Context, sites ...Site) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var listeners []net.Listener
	for _, s := range sites {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Listen)
		if err != nil {
			for _, l := range listeners {
				err = errors.Join(err, l.Close())
			}
			return fmt.Errorf("listen: %w", err)
		}
		listeners = append(listeners, l)
	}
	ended := make(chan error)
	for i, s := range sites {
		go func() { ended <- s.serve(ctx, listeners[i]) }()
	}
	var err error
	for range sites {
		err = errors.Join(err, <-ended)
		cancel() // the others end, too
	}
	return err
}

// suites are those of TLS 1.2 without CBC, for which every client that is still in use has another one.
func suites() []uint16 {
	var ids []uint16
	for _, s := range tls.CipherSuites() {
		if !strings.Contains(s.Name, "_CBC_") {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

func (s Site) serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s.Handler, ReadTimeout: s.Most, WriteTimeout: s.Most, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog:                     slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
		DisableGeneralOptionsHandler: true, // OPTIONS * goes through the guard as all requests do
	}
	serve := server.Serve
	scheme := "http"
	if s.Certificate != nil {
		server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, CipherSuites: suites(), GetCertificate: s.Certificate.Get}
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
		scheme = "https"
	}
	url := scheme + "://" + l.Addr().String()
	s.Log.Info("console: serving", "url", url)
	if s.Ready != nil {
		s.Ready(url)
	}
	failed := make(chan error, 1)
	go func() { failed <- serve(l) }()
	select {
	case err := <-failed:
		return errors.Join(fmt.Errorf("%s: %w", l.Addr(), err), s.end(server))
	case <-ctx.Done():
	}
	err := s.end(server)
	<-failed // http.ErrServerClosed
	return err
}

// end ends a server in order.
func (s Site) end(server *http.Server) error {
	grace := s.Grace
	if grace == 0 {
		grace = defaultGrace
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), grace, fmt.Errorf("not through within %v", grace))
	defer cancel()
	s.Log.Info("console: ending")
	closed := make(chan error, 1)
	server.RegisterOnShutdown(func() { // by Shutdown, when nobody is accepted any more
		if s.Close == nil {
			closed <- nil
			return
		}
		closed <- s.Close(ctx)
	})
	cut := server.Shutdown(ctx)
	err := <-closed
	if cut != nil {
		err = errors.Join(err, fmt.Errorf("requests were cut off: %w", context.Cause(ctx)), server.Close())
	}
	return err
}

// IsLoopback reports whether only this machine reaches an address, host:port.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && httpx.IsLoopback(host)
}
