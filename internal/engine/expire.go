package engine

import (
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/commit"
	"github.com/elasticjob-go/elasticjob/internal/removal"
)

// expireAtOnce bounds how many commits of one pass remove items. There may be thousands, and the
// leader has to do other things, too.
const expireAtOnce = 8 * commit.AtOnce

// expire removes a job that has expired, if its configuration wants that. Once its configuration is
// gone, this instance leaves as all do.
func (c *controller) expire(w *decide.World) error {
	if d := w.ExpiresIn(); d > 0 {
		c.wakeIn(d)
	}
	changes := w.Expire(c.work)
	if len(changes) == 0 {
		return nil
	}
	goesInParts := len(changes[0].Parts) > 0
	c.blocked = goesInParts // items that are gone are not assigned again
	if !c.commits.All(changes[:min(len(changes), expireAtOnce)]) {
		return nil
	}
	c.commits.SetStale() // the next pass goes on by a view that shows what is gone
	if goesInParts {
		return nil
	}
	c.log.Info("expired, and removed", zap.String("note", c.job.Removal()))
	if removal.IsToTrim(c.job) {
		_ = removal.Trim(c.session.Context(), c.reg, removal.MaxKept) // the job is gone; whoever removes the next one may trim
	}
	return nil
}
