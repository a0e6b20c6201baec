package jvm

import (
	"context"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/commit"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const (
	// settleTime is how long no item may have been marked for failover before one is claimed: each JVM member
	// marks what it takes for cut short, item by item. maxSettleTime bounds the wait.
	settleTime    = 500 * time.Millisecond
	maxSettleTime = 3 * time.Second
	// releaseTime bounds an attempt to leave the queue. If it fails, the place ends with the session.
	releaseTime = 5 * time.Second
	queueStep   = "queue for failover"
)

// QueueConfig is what a queue is made with.
type QueueConfig struct {
	Registry coord.Registry
	Job      jobtree.Job
	Commits  *commit.Committer
	WakeIn   func(time.Duration) // has the job make a pass after that time
	Wake     func()              // has it make one soon; may be called in any goroutine
}

// Queue is this instance's place among those who fail over items beside JVM members, one after
// the other (ElasticJob's leader/failover/latch).
//
//	away ──► queuing ──► held: the view catches up ──► items are claimed ──► away
//	  ▲         │
//	  └─────────┘ nothing is left to be failed over, or the session has ended
type Queue struct {
	config QueueConfig

	// While queuing and held; nil when away.
	answers chan answer
	quit    context.CancelFunc
	held    coord.Held
	synced  int // how often the view had caught up when it was held

	// Items that wait: the number of the newest, and for how long it, and any, has been seen.
	newest       int64
	quiet, waits clocks.Condition

	acquiring sync.WaitGroup
}

// answer is what has become of a place in the queue.
type answer struct {
	held coord.Held
	err  error
}

// NewQueue returns a queue in which this instance has no place.
func NewQueue(c QueueConfig) *Queue { return &Queue{config: c} }

// FailOver commits claims of items that wait to be run again, when it is this instance's turn.
// session is the context of the session.
func (q *Queue) FailOver(session context.Context, w *decide.World, changes []decide.Change) {
	if len(changes) == 0 {
		q.Leave()
		q.isSettled(w)
		return
	}
	if q.isSettled(w) && q.hasTurn(session) {
		q.config.Commits.All(changes)
		q.Leave()
	}
}

// isSettled reports whether JVM members have marked what they had to.
func (q *Queue) isSettled(w *decide.World) bool {
	newest := int64(0)
	for _, f := range w.FailoverItems {
		newest = max(newest, f.Created)
	}
	waited := q.waits.Track(newest != 0, w.Moment)
	if newest != q.newest {
		q.newest, q.quiet = newest, clocks.Condition{}
	}
	quiet := q.quiet.Track(newest != 0, w.Moment)
	if newest == 0 || quiet >= settleTime || waited >= maxSettleTime {
		return true
	}
	q.config.WakeIn(settleTime - quiet)
	return false
}

// hasTurn reports whether this instance holds the latch, and the view shows what those before it
// have done. If it does not stand in the queue, it joins it.
func (q *Queue) hasTurn(session context.Context) bool {
	commits := q.config.Commits
	if q.answers == nil {
		if commits.MayAttempt(queueStep) {
			q.join(session)
		}
		return false
	}
	if q.held == nil {
		select {
		case a := <-q.answers:
			q.held = a.held
			if a.err != nil {
				q.quit()
				q.answers = nil
				commits.Failed(queueStep, a.err)
				return false
			}
			commits.Succeeded(queueStep)
			q.synced = commits.Syncs()
			commits.SetStale()
		default:
		}
		return false
	}
	if q.held.Context().Err() != nil {
		q.Leave()
		q.config.Wake()
		return false
	}
	return commits.Syncs() > q.synced
}

// join adds a place of this instance to the queue. When it is its turn, the job is woken.
func (q *Queue) join(session context.Context) {
	latch, err := q.config.Registry.Latch(q.config.Job.FailoverLatch())
	if err != nil { // the name of the job is valid, and so is the path
		q.config.Commits.Delay(queueStep, err)
		return
	}
	ctx, quit := context.WithCancel(session)
	answers := make(chan answer, 1)
	q.answers, q.quit = answers, quit
	q.acquiring.Go(func() {
		held, err := latch.Acquire(ctx)
		answers <- answer{held, err}
		q.config.Wake()
	})
}

// Leave gives this instance's place up, in a goroutine, because the store may be slow.
func (q *Queue) Leave() {
	if q.answers == nil {
		return
	}
	answers, held := q.answers, q.held
	q.quit()
	q.answers, q.held = nil, nil
	q.acquiring.Go(func() {
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

// Wait waits until all places are given up, after Leave.
func (q *Queue) Wait() { q.acquiring.Wait() }
