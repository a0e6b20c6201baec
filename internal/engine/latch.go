package engine

import (
	"context"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// latching is this instance's place in the queue of those who take over items beside JVM members, one after
// the other (ElasticJob's leader/failover/latch).
//
//	away ──► queuing ──► held: the view catches up ──► items are claimed ──► away
//	  ▲         │
//	  └─────────┘ nothing is left to be taken over, or the session has ended
type latching struct {
	// While queuing and held; nil when away. joinQueue and leaveQueue change them.
	answers chan latchAnswer
	quit    context.CancelFunc
	held    coord.Held
	synced  int // how often the view had caught up when it was held: hasTurn
	// Items that wait: the number of the newest, and since when it, and any, has been seen. isSettled changes them.
	newest       int64
	quiet, waits since
	queuing      sync.WaitGroup // depart waits for it
}

// latchAnswer is what has become of a place in the queue.
type latchAnswer struct {
	held coord.Held
	err  error
}

const (
	// flagTime is how long no item may have been put up before one is taken over beside JVM members: each of
	// them puts up what it takes for cut short, item by item. mostFlagTime bounds the wait.
	flagTime     = 500 * time.Millisecond
	mostFlagTime = 3 * time.Second
	// releaseTime bounds an attempt to leave the queue. If it fails, the place ends with the session.
	releaseTime = 5 * time.Second
)

// takeOverInTurn commits claims of items that wait to be run again, when it is this instance's turn.
func (c *controller) takeOverInTurn(w *decide.World, changes []decide.Change) {
	if len(changes) == 0 {
		c.leaveQueue()
		c.isSettled(w)
		return
	}
	if c.isSettled(w) && c.hasTurn() {
		c.commitAll(changes)
		c.leaveQueue()
	}
}

// isSettled reports whether JVM members have put up what they had to.
func (c *controller) isSettled(w *decide.World) bool {
	newest := int64(0)
	for _, f := range w.FailoverItems {
		newest = max(newest, f.Created)
	}
	waited := c.waits.hold(newest != 0, w.Moment)
	if newest != c.latching.newest {
		c.latching.newest, c.quiet = newest, since{}
	}
	quiet := c.quiet.hold(newest != 0, w.Moment)
	if newest == 0 || quiet >= flagTime || waited >= mostFlagTime {
		return true
	}
	c.wakeIn(flagTime - quiet)
	return false
}

// hasTurn reports whether this instance holds the latch, and the view shows what those before it have
// done. If it does not stand in the queue, it joins it.
func (c *controller) hasTurn() bool {
	const step = "queue for failover"
	if c.answers == nil {
		if c.attempt(step) {
			c.joinQueue()
		}
		return false
	}
	if c.held == nil {
		select {
		case a := <-c.answers:
			c.held = a.held
			if a.err != nil {
				c.quit()
				c.answers = nil
				c.failed(step, a.err)
				return false
			}
			c.troubles.over(step)
			c.synced, c.stale = c.syncs, true
		default:
		}
		return false
	}
	if c.held.Context().Err() != nil {
		c.leaveQueue()
		c.poke()
		return false
	}
	return c.syncs > c.synced
}

// joinQueue adds a place of this instance to the queue. Whoever has waited for it is told by poke.
func (c *controller) joinQueue() {
	latch, err := c.reg.Latch(c.job.FailoverLatch())
	if err != nil { // the name of the job is valid, and so is the path
		c.meet("queue for failover", err, firstPause, lastPause, 0)
		return
	}
	ctx, quit := context.WithCancel(c.session.Context())
	answers := make(chan latchAnswer, 1)
	c.answers, c.quit = answers, quit
	c.queuing.Go(func() {
		held, err := latch.Acquire(ctx)
		answers <- latchAnswer{held, err}
		c.poke()
	})
}

// leaveQueue gives this instance's place up, in a goroutine, because the store may be slow.
func (c *controller) leaveQueue() {
	if c.answers == nil {
		return
	}
	answers, held := c.answers, c.held
	c.quit()
	c.answers, c.held = nil, nil
	c.queuing.Go(func() {
		if held == nil {
			held = (<-answers).held // its Acquire has ended, or ends now
		}
		if held == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
		defer cancel()
		_ = held.Release(ctx) // if it fails, the place ends with the session
	})
}
