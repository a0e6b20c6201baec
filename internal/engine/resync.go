package engine

import (
	"math/rand/v2"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// resync is when the view is to catch up, and the leader to remove servers that nobody uses, although nothing has
// changed: once in each ReconcileInterval. The interval varies by a tenth, so that the jobs of one process do not all do so at once.
type resync struct {
	at        clocks.Moment // zero before the first pass
	sweepsNow bool          // the leader has not swept yet
}

// isDue reports whether the time has come, and returns how long it is until it comes again.
func (r *resync) isDue(now clocks.Moment, interval time.Duration) (due bool, wait time.Duration) {
	due = !r.at.IsZero() && !now.Before(r.at)
	if r.at.IsZero() || due || r.at.After(now.Add(2*interval)) { // the interval was shortened
		r.at = now.Add(interval - interval/10 + rand.N(interval/5+1))
	}
	r.sweepsNow = r.sweepsNow || due
	return due, r.at.Sub(now)
}

// takeSweep reports whether the leader is to sweep, which it then does.
func (r *resync) takeSweep() bool {
	sweeps := r.sweepsNow
	r.sweepsNow = false
	return sweeps
}

// resyncIfDue makes the view catch up if it is time.
func (c *controller) resyncIfDue(w *decide.World) error {
	interval := c.settings.ReconcileInterval
	if interval <= 0 {
		return nil
	}
	due, wait := c.resync.isDue(w.Moment, interval)
	if due {
		c.commits.SetStale()
	}
	c.wakeIn(wait)
	return nil
}
