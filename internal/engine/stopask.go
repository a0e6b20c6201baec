package engine

import (
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// askToStop tells the handlers that ask (StopAsked) whether their items are to go on here. It
// writes nothing. The strategy is asked only if somebody wants to know.
func (c *controller) askToStop(w *decide.World) error {
	var asking []*run
	for _, r := range c.runs {
		if r.phase == executing && r.signals.Asks() {
			asking = append(asking, r)
		}
	}
	if len(asking) == 0 {
		return nil
	}
	if c.isLeaving() {
		for _, r := range asking {
			r.signals.Stop(ErrShutdown)
		}
		return nil
	}
	owners, _ := c.desired(w) // if the strategy fails, the leader reports it, and nothing moves
	for _, r := range asking {
		var reason error
		switch w.Stop(c.work, &r.Run, owners) {
		case decide.Moves:
			reason = ErrItemMoves
		case decide.Disabled:
			reason = ErrDisabled
		}
		r.signals.Stop(reason)
	}
	return nil
}
