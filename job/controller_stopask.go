package job

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// moveTime is how long an item whose handler has returned so that it can move is left to its
// next owner. If it has none by then, it goes on here.
const moveTime = 3 * time.Second

// askToStop tells the handlers that ask (StopAsked) whether their items are to go on here. It
// writes nothing. The strategy is asked only if somebody wants to know.
func (c *controller) askToStop(w *decide.World) error {
	var asking []*run
	for _, r := range c.runs {
		if r.phase == executing && r.wishes.asks() {
			asking = append(asking, r)
		}
	}
	if len(asking) == 0 {
		return nil
	}
	if c.isLeaving() {
		for _, r := range asking {
			r.wishes.tell(ErrShutdown)
		}
		return nil
	}
	owners, _ := c.desired(w) // if the strategy fails, the leader reports it, and nothing moves
	for _, r := range asking {
		var reason error
		switch w.Stop(&r.Run, owners) {
		case decide.Moves:
			reason = ErrItemMoves
		case decide.Disabled:
			reason = ErrDisabled
		}
		r.wishes.tell(reason)
	}
	return nil
}
