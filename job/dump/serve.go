package dump

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
)

// Serve answers on a listener, the line as well as HTTP, until ctx ends. Then it closes the
// listener, cuts answers to lines short, lets those over HTTP come to their end, for 5 s at most,
// and waits for everything that it has started.
//
// The caller listens, so that an address that cannot be had is the caller's error:
//
//	l, err := net.Listen("tcp", "127.0.0.1:9888")
//
// Errors: those of the listener.
func (s *Service) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: s.times.ask, ReadTimeout: 2 * s.times.ask,
		WriteTimeout: s.times.work + s.times.answer, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelWarn),
	}
	server.SetKeepAlivesEnabled(false) // nobody asks often, and an idle connection is one of few
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.Listener(l)) }()
	select {
	case err := <-ended: // the listener is broken
		return errors.Join(fmt.Errorf("dump: %s: %w", l.Addr(), err), server.Close())
	case <-ctx.Done():
	}
	parting, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.times.end)
	defer cancel()
	var err error
	if server.Shutdown(parting) != nil { // answers are under way
		err = server.Close()
	}
	<-ended
	if err != nil {
		return fmt.Errorf("dump: %s: %w", l.Addr(), err)
	}
	return nil
}
