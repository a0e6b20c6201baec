package job

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// WithStartRetry makes [Schedule] and [OneOff] wait for a store that is away, until their
// context ends. They ask it again after 50 ms, and then less often, every 2 s in the end.
// A warning in the log tells when that begins, and every 10 s that it lasts. Without this
// option, or for any other error, they return the error at once. The registry is not
// theirs: it has to be dialled before, which fails if the store is away then.
func WithStartRetry() Option {
	return func(o *options) error {
		o.startRetry = true
		return nil
	}
}

// toldEvery is how often the log says that the start still waits.
const toldEvery = 10 * time.Second

// insist makes a request of the start, and makes it again while the store is away, if
// that was asked for.
func (o *options) insist(ctx context.Context, job string, request func() error) error {
	var began, told time.Time
	var last error
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := request()
		switch {
		case !o.startRetry || err == nil:
			return err
		case !isAway(err):
			if ctx.Err() != nil {
				err = errors.Join(err, last) // why it has waited until its context ended
			}
			return err
		}
		last = err
		now := time.Now()
		if began.IsZero() {
			began = now
		}
		if told.IsZero() || now.Sub(told) >= toldEvery {
			told = now
			say(func() {
				o.logger.Warn("the start waits for the store", zap.String("job", job),
					zap.Duration("for", now.Sub(began)), zap.NamedError("cause", brief.Error(err)))
			})
		}
		if !sleep(ctx, pause/2+rand.N(pause/2)) {
			return errors.Join(err, context.Cause(ctx))
		}
	}
}

// isAway reports whether an error may be over when the store is there again, or when the
// registry has a new session.
func isAway(err error) bool {
	return errors.Is(err, coord.ErrUnavailable) || errors.Is(err, coord.ErrSessionLost)
}

// openView opens the view of a job.
func openView(ctx context.Context, reg coord.Registry, job string, o *options) (view coord.View, err error) {
	err = o.insist(ctx, job, func() (err error) {
		view, err = reg.View(ctx, job)
		return err
	})
	return view, err
}
