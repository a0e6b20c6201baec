package job

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/engine"
)

// show follows the session, and keeps the announcement of the Runner up, also while there is no job,
// until ctx ends or the registry is closed.
func (r *Runner) show(ctx context.Context) {
	for {
		session, err := r.reg.Session(ctx)
		if err != nil {
			return
		}
		r.server.SessionBegan(session)
		for ctx.Err() == nil && session.Context().Err() == nil {
			r.announceOnce(ctx, session)
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// announceOnce writes the announcement if that is needed, and waits until it may be needed again.
func (r *Runner) announceOnce(ctx context.Context, session coord.Session) {
	left, err := r.pool.Announcement.Announce(session, r.reg, r.pool.Items.Total(), clocks.Now())
	if err != nil {
		r.paired.Logger.Debug("operators are not told what this runner offers", zap.Error(brief.Error(err)))
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

// removeAnnouncement removes the announcement when the Runner has ended.
func (r *Runner) removeAnnouncement() {
	r.pool.Announcement.Offer(nil, nil, nil)
	ctx, cancel := context.WithTimeout(context.Background(), engine.HandoverTimeout)
	defer cancel()
	if session, err := r.reg.Session(ctx); err == nil { // else it has gone
		r.pool.Announcement.Remove(session, r.reg)
	}
}
