package dump

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// acceptAgain is when a listener that could not accept, for want of files for instance, is asked again.
const acceptAgain = time.Second

// ServeLines answers ElasticJob's line on a listener until ctx ends. Then it closes the listener and its connections,
// and waits for everything that it has started.
//
// The caller listens, so that an address that cannot be had is the caller's error:
//
//	l, err := net.Listen("tcp", "127.0.0.1:9888")
//
// Errors: the listener was closed by somebody else.
func (s *Service) ServeLines(ctx context.Context, l net.Listener) error {
	var speaking sync.WaitGroup
	defer speaking.Wait()
	serving, end := context.WithCancel(ctx)
	defer end()
	defer context.AfterFunc(serving, func() { _ = l.Close() })() // so that Accept returns
	places := make(chan struct{}, maxConnections)
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = c.Close() // nobody waits for its error
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("dump: %s: %w", l.Addr(), err)
		case err != nil:
			s.options.Slog.Warn("no connection can be accepted", slog.Any("error", err))
			sleep.For(ctx, acceptAgain)
			continue
		}
		select {
		case places <- struct{}{}:
			speaking.Go(func() {
				defer func() { <-places }()
				defer context.AfterFunc(serving, func() { _ = c.Close() })() // what reads or writes it returns
				s.speak(serving, c)
				_ = c.Close() // the client has the answer, or will have none
			})
		default: // there are too many
			_ = c.Close()
		}
	}
}
