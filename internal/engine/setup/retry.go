package setup

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// warnEvery is how often the log says that the start still waits.
const warnEvery = 10 * time.Second

// Retry makes a request of the start. With WithStartRetry it makes it again while the store
// does not answer.
func (o *Options) Retry(ctx context.Context, job string, request func() error) error {
	var began, told clocks.Moment
	var last error
	for backoff := (sleep.Backoff{}); ; {
		err := request()
		switch {
		case !o.StartRetry || err == nil:
			return err
		case !health.IsAway(err):
			if ctx.Err() != nil {
				err = errors.Join(err, last) // last says why it has waited until ctx ended
			}
			return err
		}
		last = err
		now := clocks.Now()
		if began.IsZero() {
			began = now
		}
		if told.IsZero() || now.Sub(told) >= warnEvery {
			told = now
			o.Logger.Warn("the start waits for the store", zap.String("job", job),
				zap.Duration("for", now.Sub(began)), zap.NamedError("cause", brief.Error(err)))
		}
		if !backoff.Wait(ctx) {
			return errors.Join(err, context.Cause(ctx))
		}
	}
}
