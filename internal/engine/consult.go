package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// strategyPatience is how long a strategy may take to answer. To answer is little work.
const strategyPatience = 5 * time.Second

// errThinking is returned while a strategy has not answered, and still has time to.
var errThinking = errors.New("job: the strategy has not answered yet")

// question is one question to a strategy. It has a goroutine of its own, because the
// strategy may be the user's: it may panic, call runtime.Goexit or never return, and the
// controller goes on. Nothing waits for a goroutine that never returns.
type question struct {
	strategy.Request
	asked  clocks.Moment
	spent  bool          // the answer was used, and must not be used again
	waited chan bool     // receives once whether the controller waited until the answer came
	done   chan struct{} // closed when the strategy has answered

	// Set before done is closed:
	owners []string
	err    error
	took   time.Duration
}

// newQuestion asks a strategy. weigh fills in the loads of the instances; it is nil if the
// strategy does not want them. late is called if the answer comes after the controller has
// stopped waiting for it.
func newQuestion(name string, s strategy.Strategy, r strategy.Request, weigh func([]strategy.Instance), late func()) *question {
	q := &question{Request: r, asked: clocks.Now(), waited: make(chan bool, 1), done: make(chan struct{})}
	// Copies, because the strategy may keep or change what it is given.
	r.Instances, r.Previous = slices.Clone(r.Instances), slices.Clone(r.Previous)
	go func() {
		q.err = fmt.Errorf("sharding of job %q: strategy %s called runtime.Goexit", q.Job, short(name))
		defer func() {
			if v := recover(); v != nil {
				q.owners, q.err = nil, fmt.Errorf("sharding of job %q: strategy %s panicked: %s", q.Job, short(name), short(fmt.Sprint(v)))
			}
			q.took = clocks.Since(q.asked)
			close(q.done)
			if !<-q.waited {
				late()
			}
		}()
		if weigh != nil {
			weigh(r.Instances)
		}
		q.owners = slices.Clone(s.Assign(r)) // a copy, because the strategy may change its own later
		q.err = nil
	}()
	return q
}

func (q *question) answered() bool {
	select {
	case <-q.done:
		return true
	default:
		return false
	}
}

// slow reports whether the strategy took too long. It must have answered.
func (q *question) slow() bool { return q.took >= strategyPatience }

// is reports whether the question is the same as r.
func (q *question) is(r strategy.Request) bool {
	return q.Job == r.Job && q.Total == r.Total && slices.Equal(q.Instances, r.Instances) && slices.Equal(q.Previous, r.Previous)
}

// consult asks the strategy of the job, and waits for strategyPatience. If the answer comes
// later, consult returns it when the same question is asked again: once, or each time if
// the strategy was slow. A strategy that has not answered is not asked anything else. After
// a slow answer consult does not wait for the next one.
func (c *controller) consult(r strategy.Request, weigh func([]strategy.Instance)) ([]string, error) {
	name := c.settings.Strategy
	patience := strategyPatience
	if q := c.questions[name]; q != nil {
		if !q.answered() {
			return nil, c.thinking(name, q)
		}
		if !q.spent && q.is(r) {
			q.spent = !q.slow() || q.err != nil
			return q.owners, q.err
		}
		if q.slow() {
			patience = 0
		}
		delete(c.questions, name)
	}
	q := newQuestion(name, c.settings.strategy, r, weigh, c.poke)
	inTime := c.awaitAnswer(q, patience)
	q.waited <- inTime
	if inTime {
		return q.owners, q.err
	}
	c.questions[name] = q
	return nil, c.thinking(name, q)
}

// thinking is the error for a strategy that has not answered.
func (c *controller) thinking(name string, q *question) error {
	if left := strategyPatience - clocks.Since(q.asked); left > 0 {
		c.wakeIn(left)
		return errThinking
	}
	return fmt.Errorf("sharding of job %q: strategy %s has not answered within %v; the items stay where they are", q.Job, short(name), strategyPatience)
}

// awaitAnswer waits for an answer, and reports whether it came in time. It returns early if
// a shutdown is asked for.
func (c *controller) awaitAnswer(q *question, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	poked := false
	defer func() {
		if poked {
			c.poke()
		}
	}()
	for {
		select {
		case <-q.done:
			return true
		case <-c.wake:
			if poked = true; !c.isShutdown() {
				continue
			}
		case <-timer.C:
		}
		return q.answered()
	}
}
