package assign

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// patience is how long a strategy may take to answer. To answer is little work.
const patience = 5 * time.Second

// ErrNotAnswered is returned while a strategy has not answered, and still has time to.
var ErrNotAnswered = errors.New("job: the strategy has not answered yet")

// question is one question to a strategy. It has a goroutine of its own, because the
// strategy may be the user's: it may panic, call runtime.Goexit or never return, and the job
// goes on. Nothing waits for a goroutine that never returns.
type question struct {
	strategy.Request
	asked  clocks.Moment
	used   bool          // the answer was used, and must not be used again
	waited chan bool     // receives once whether somebody waited until the answer came
	done   chan struct{} // closed when the strategy has answered

	// Set before done is closed:
	owners []string
	err    error
	took   time.Duration
}

// newQuestion asks a strategy. fillLoads fills in the loads of the instances; it is nil if the strategy does not
// want them. late is called if the answer comes when nobody waits for it any more.
func newQuestion(name string, s strategy.Strategy, r strategy.Request, fillLoads func([]strategy.Instance), late func()) *question {
	q := &question{Request: r, asked: clocks.Now(), waited: make(chan bool, 1), done: make(chan struct{})}
	// Copies, because the strategy may keep or change what it is given.
	r.Instances, r.Previous = slices.Clone(r.Instances), slices.Clone(r.Previous)
	go func() {
		q.err = fmt.Errorf("sharding of job %q: strategy %s called runtime.Goexit", q.Job, brief.Text(name))
		defer func() {
			if v := recover(); v != nil {
				q.owners, q.err = nil, fmt.Errorf("sharding of job %q: strategy %s panicked: %s", q.Job, brief.Text(name), brief.Text(fmt.Sprint(v)))
			}
			q.took = clocks.Since(q.asked)
			close(q.done)
			if !<-q.waited {
				late()
			}
		}()
		if fillLoads != nil {
			fillLoads(r.Instances)
		}
		q.owners = slices.Clone(s.Assign(r)) // a copy, because the strategy may change its own later
		q.err = nil
	}()
	return q
}

// answered reports whether the strategy has answered.
func (q *question) answered() bool {
	select {
	case <-q.done:
		return true
	default:
		return false
	}
}

// slow reports whether the strategy took too long. It must have answered.
func (q *question) slow() bool { return q.took >= patience }

// is reports whether the question is the same as r.
func (q *question) is(r strategy.Request) bool {
	return q.Job == r.Job && q.Total == r.Total && slices.Equal(q.Instances, r.Instances) && slices.Equal(q.Previous, r.Previous)
}

// consult asks a strategy, and waits for patience. If the answer comes later, it is used when the same
// question is asked again: once, or each time if the strategy was slow. As long as a strategy has not
// answered, it is not asked anything else. After a slow answer consult does not wait for the next one.
func (a *Assigner) consult(s Strategy, r strategy.Request, fillLoads func([]strategy.Instance)) ([]string, error) {
	left := patience
	if q := a.questions[s.Name]; q != nil {
		if !q.answered() {
			return nil, a.notAnswered(s.Name, q)
		}
		if !q.used && q.is(r) {
			q.used = !q.slow() || q.err != nil
			return q.owners, q.err
		}
		if q.slow() {
			left = 0
		}
		delete(a.questions, s.Name)
	}
	q := newQuestion(s.Name, s.Strategy, r, fillLoads, a.config.Wake)
	inTime := a.await(q, left)
	q.waited <- inTime
	if inTime {
		return q.owners, q.err
	}
	a.questions[s.Name] = q
	return nil, a.notAnswered(s.Name, q)
}

// notAnswered is the error for a strategy that has not answered.
func (a *Assigner) notAnswered(name string, q *question) error {
	if left := patience - clocks.Since(q.asked); left > 0 {
		a.config.WakeIn(left)
		return ErrNotAnswered
	}
	return fmt.Errorf("sharding of job %q: strategy %s has not answered within %v; the items stay where they are", q.Job, brief.Text(name), patience)
}

// await waits for an answer, and reports whether it came in time. It returns early if a shutdown begins meanwhile.
func (a *Assigner) await(q *question, left time.Duration) bool {
	timer := time.NewTimer(left)
	defer timer.Stop()
	shutdown := a.config.Shutdown.Done()
	if a.config.Shutdown.Err() != nil {
		shutdown = nil
	}
	select {
	case <-q.done:
	case <-shutdown:
	case <-timer.C:
	}
	return q.answered()
}
