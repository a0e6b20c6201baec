package jvmmember

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// shortWait is how long ElasticJob waits between two looks at the registry.
const shortWait = 100 * time.Millisecond

// errEnded is why the member's context ends when its process is over.
var errEnded = errors.New("the process is over")

// Member is a process with one job.
type Member struct {
	config Config
	id     string

	ctx context.Context // ends with the process
	end context.CancelCauseFunc
	// listening ends when the job is shut down: then the run that goes on is the last thing.
	listening context.Context
	deafen    context.CancelFunc
	// pool ends when the threads for the items are interrupted.
	pool     context.Context
	drain    context.CancelFunc
	poolShut atomic.Bool // the pool takes no more items

	tasks sync.WaitGroup
	done  chan struct{}

	cache  cache
	timer  *timer
	shut   atomic.Bool  // the job is shut down; the process may go on
	busy   atomic.Bool  // the job runs here
	total  atomic.Int64 // how many items the member knows of
	known  atomic.Pointer[knownDocument]
	mu     sync.Mutex
	failed error
}

// Start starts a member as a program with a ScheduleJobBootstrap does: it returns when the
// instance is registered and the job scheduled. With an empty cron it is a OneOffJobBootstrap,
// which waits for triggers. ctx bounds the start only.
//
// Errors: a document that ElasticJob would not read, a job of another class, an invalid cron, and
// those of the registry.
func Start(ctx context.Context, c Config) (*Member, error) {
	if c.Order != nil && !knows(c.Order) {
		return nil, fmt.Errorf("job %s: an order has each listener once, not %v", c.Job, c.Order)
	}
	m := &Member{config: c, id: fmt.Sprintf("%s@-@%d", c.IP, c.PID), done: make(chan struct{})}
	m.ctx, m.end = context.WithCancelCause(context.WithoutCancel(ctx))
	m.listening, m.deafen = context.WithCancel(m.ctx)
	m.pool, m.drain = context.WithCancel(m.ctx)
	m.timer = newTimer(m)
	stop := context.AfterFunc(ctx, func() { m.end(context.Cause(ctx)) })
	err := m.start(ctx)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	go func() { // its owner is the member: Done says when it is over
		m.tasks.Wait()
		m.cache.close()
		m.end(errEnded)
		close(m.done)
	}()
	if err != nil {
		m.end(err)
		<-m.done
		return nil, fmt.Errorf("job %s: member %s: start: %w", c.Job, m.id, err)
	}
	return m, nil
}

// start does what ElasticJob does at the start, in its order.
func (m *Member) start(ctx context.Context) error {
	document, err := m.setUp()
	if err != nil {
		return err
	}
	if err := m.cache.open(ctx, m.config.Registry, m.config.Job, m.config.Lag != nil); err != nil {
		return err
	}
	m.total.Store(int64(document.ShardingTotalCount))
	m.tasks.Go(m.listen)
	m.tasks.Go(m.minded)
	m.electLeader()
	m.persistServer(!document.Disabled)
	m.persistInstance()
	m.tasks.Go(m.reconcile)
	m.removeOfflineServers()
	if document.Cron != "" {
		if err := m.timer.schedule(document.Cron, document.TimeZone); err != nil {
			return err
		}
	}
	m.tasks.Go(m.timer.run)
	return m.Err()
}

// ID is the id of the instance: {ip}@-@{pid}.
func (m *Member) ID() string { return m.id }

// Crash ends the process as kill -9 does: the contexts of its work end, and nothing more is
// written. The session is up to the caller, who ends it or lets it run out: a candidate in a
// queue goes with it, and only then Done is closed.
func (m *Member) Crash() { m.end(errEnded) }

// Done is closed when nothing of the member runs any more: after Exit or Crash, and when the job
// was shut down and its last run has ended.
func (m *Member) Done() <-chan struct{} { return m.done }

// Err says why the member has ended by itself: the registry was closed, or refused something.
// It is nil while the member lives, and after Exit, Crash and a shut-down.
func (m *Member) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed
}

// fail ends the process because of an error that a real one would not go on with.
func (m *Member) fail(err error) {
	m.mu.Lock()
	if m.failed == nil {
		m.failed = fmt.Errorf("job %s: member %s: %w", m.config.Job, m.id, err)
	}
	m.mu.Unlock()
	m.end(err)
}

// now is the time by the member's clock.
func (m *Member) now() time.Time { return time.Now().Add(m.config.Ahead) }

// sleep waits, and reports whether the process still lives.
func (m *Member) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return m.ctx.Err() == nil
	case <-m.ctx.Done():
		return false
	}
}
