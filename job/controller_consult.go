package job

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/strategy"
)

// strategyPatience is how long a strategy is waited for. What it is asked is little work.
const strategyPatience = 5 * time.Second

// errThinking is the answer of a strategy that has more time to answer.
var errThinking = errors.New("job: the strategy has not answered yet")

// question is what a strategy is asked. It is asked in a goroutine of its own, because it
// may be the user's: what it does to its goroutine, it does not do to the controller's. It
// may never return; nothing waits for that goroutine then.
type question struct {
	strategy.Request
	asked  time.Time
	spent  bool      // its answer was used, and is good for no other time
	waited chan bool // says once whether it was answered in time
	done   chan struct{}

	// Once done is closed:
	owners []string
	err    error
	took   time.Duration
}

// newQuestion asks a strategy. late is called if its answer comes when nobody waits for it
// any more.
func newQuestion(name string, s strategy.Strategy, r strategy.Request, late func()) *question {
	q := &question{Request: r, asked: time.Now(), waited: make(chan bool, 1), done: make(chan struct{})}
	// The strategy may keep, or change, what it is given.
	r.Instances, r.Previous = slices.Clone(r.Instances), slices.Clone(r.Previous)
	go func() {
		q.err = fmt.Errorf("sharding of job %q: strategy %s called runtime.Goexit", q.Job, short(name))
		defer func() {
			if v := recover(); v != nil {
				q.owners, q.err = nil, fmt.Errorf("sharding of job %q: strategy %s panicked: %s", q.Job, short(name), short(fmt.Sprint(v)))
			}
			q.took = time.Since(q.asked)
			close(q.done)
			if !<-q.waited {
				late()
			}
		}()
		q.owners = slices.Clone(s.Assign(r)) // it may use its own again
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

// slow reports whether the answer, which is there, took too long.
func (q *question) slow() bool { return q.took >= strategyPatience }

func (q *question) is(r strategy.Request) bool {
	return q.Job == r.Job && q.Total == r.Total && slices.Equal(q.Instances, r.Instances) && slices.Equal(q.Previous, r.Previous)
}

// consult asks the strategy of the job, and waits for its answer for a while. One that has not
// answered is not asked again before it has. The answer of a slow one is good for the same
// question, and the next question to it is not waited for.
func (c *controller) consult(r strategy.Request) ([]string, error) {
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
	q := newQuestion(name, c.settings.strategy, r, c.poke)
	inTime := c.awaitAnswer(q, patience)
	q.waited <- inTime
	if inTime {
		return q.owners, q.err
	}
	c.questions[name] = q
	return nil, c.thinking(name, q)
}

// thinking is what is said of a strategy that has not answered.
func (c *controller) thinking(name string, q *question) error {
	if left := strategyPatience - time.Since(q.asked); left > 0 {
		c.wakeIn(left)
		return errThinking
	}
	return fmt.Errorf("sharding of job %q: strategy %s has not answered within %v; the items stay where they are", q.Job, short(name), strategyPatience)
}

// awaitAnswer waits until a question is answered, and reports false if that takes too long.
// A shutdown does not wait for it.
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
