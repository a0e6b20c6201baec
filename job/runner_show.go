package job

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

// show follows the session, and keeps the sign of the Runner up, also while there is no job,
// until ctx ends or the registry is closed.
func (r *Runner) show(ctx context.Context) {
	for {
		session, err := r.reg.Session(ctx)
		if err != nil {
			return
		}
		r.mail.write(func(l *letters) { l.session = session })
		for ctx.Err() == nil && session.Context().Err() == nil {
			r.showOnce(ctx, session)
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// showOnce writes the sign if that is needed, and waits until it may be needed again.
func (r *Runner) showOnce(ctx context.Context, session coord.Session) {
	write, left := r.sign.due(session.ID(), r.items.sum(), clocks.Now())
	if write != nil {
		err := guarded(func() error {
			_, err := r.reg.Commit(session.Context(), *write)
			return err
		})
		r.sign.wrote(err, clocks.Now())
		if left = 0; err != nil {
			left = showEvery
			r.say(zap.DebugLevel, "operators are not told what this runner offers", zap.Error(brief.Error(err)))
		}
	}
	var later <-chan time.Time
	if left > 0 {
		timer := time.NewTimer(left)
		defer timer.Stop()
		later = timer.C
	}
	select {
	case <-later:
	case <-r.bell:
	case <-session.Context().Done():
	case <-ctx.Done():
	}
}

// takeSignDown removes the sign when the Runner has ended.
func (r *Runner) takeSignDown() {
	r.sign.keep(nil, nil, nil)
	ctx, cancel := context.WithTimeout(context.Background(), partingTime)
	defer cancel()
	if session, err := r.reg.Session(ctx); err == nil { // else it has gone
		r.sign.takeDown(r.reg, session)
	}
}
