package jvmmember

import (
	"context"
	"errors"
	"sync"
	"time"
)

// fire is one run of the job. What goes wrong in it ends it, as an exception does, and the
// scheduler goes on: so the error is dropped here.
func (m *Member) fire(tick time.Time) { _ = m.execute(tick) }

// shares are the items of a run.
type shares struct {
	items  []int
	source Source
	tick   time.Time
}

func (m *Member) execute(tick time.Time) error {
	d, err := m.load(true)
	if err != nil {
		return err
	}
	if err := m.checkTime(); err != nil {
		return err
	}
	s, err := m.share(tick)
	if err != nil {
		return err
	}
	if runs, err := m.runs(s.items); err != nil {
		return err
	} else if runs {
		m.setMisfire(s.items)
		return nil
	}
	if err := m.process(d, s); err != nil {
		return err
	}
	for {
		again, err := m.misfired(s.items)
		if err != nil {
			return err
		}
		if !again || m.ctx.Err() != nil {
			break
		}
		m.clearMisfire(s.items)
		s.source = Misfire
		if err := m.process(d, s); err != nil {
			return err
		}
	}
	if d, err := m.load(true); err != nil {
		return err
	} else if d.Failover {
		m.takeOver()
	}
	return nil
}

// checkTime compares the clocks if the configuration wants it. Too large a difference is told to
// the error handler, and the run goes on: so all that is left of it is the node.
func (m *Member) checkTime() error {
	d, err := m.load(true)
	if err == nil && d.MaxTimeDiffSeconds >= 0 {
		m.persist("systemTime/current", "")
	}
	return err
}

// share finds out which items the run is for.
func (m *Member) share(tick time.Time) (shares, error) {
	d, err := m.load(true)
	if err != nil {
		return shares{}, err
	}
	if d.Failover {
		items, err := m.ownFailovers()
		if err != nil {
			return shares{}, err
		}
		if len(items) > 0 {
			return m.notRunning(shares{items, Failover, time.Time{}})
		}
	}
	if err := m.shardIfNecessary(); err != nil {
		return shares{}, err
	}
	items, err := m.ownItems()
	if err != nil {
		return shares{}, err
	}
	if d.Failover {
		if items, err = m.withoutTaken(items); err != nil {
			return shares{}, err
		}
	}
	items = m.without(items, "disabled")
	source := Normal
	if tick.IsZero() {
		source = Trigger
	}
	return m.notRunning(shares{items, source, tick})
}

// withoutTaken leaves out the items that somebody has taken over. ElasticJob asks again which
// items are its own.
func (m *Member) withoutTaken(items []int) ([]int, error) {
	again, err := m.ownItems()
	if err != nil {
		return nil, err
	}
	taken := make(map[int]bool)
	for _, i := range again {
		taken[i] = m.exists(itemNode(i, "failover"))
	}
	var left []int
	for _, i := range items {
		if !taken[i] {
			left = append(left, i)
		}
	}
	return left, nil
}

// notRunning leaves out the items that run, and puts the others into the order of the run.
func (m *Member) notRunning(s shares) (shares, error) {
	d, err := m.load(false)
	if err != nil {
		return shares{}, err
	}
	if d.MonitorExecution {
		s.items = m.without(s.items, "running")
	}
	s.items = inMapOrder(s.items)
	return s, nil
}

// misfired reports whether the items of the run are to run once more.
func (m *Member) misfired(items []int) (bool, error) {
	d, err := m.load(true)
	if err != nil || !d.Misfire || m.needsSharding() {
		return false, err
	}
	found := false
	for _, i := range items {
		found = m.exists(itemNode(i, "misfire")) || found
	}
	return found, nil
}

// process runs the items and waits for all of them.
func (m *Member) process(d document, s shares) error {
	if len(s.items) == 0 {
		return nil
	}
	if err := m.begin(s.items); err != nil {
		return err
	}
	var failed failures
	if !m.work(d, s, &failed) {
		m.busy.Store(false)
		return errInterrupted
	}
	return m.complete(s.items, failed.list())
}

// failures are the items of a run that have failed.
type failures struct {
	mu    sync.Mutex
	items []int
}

func (f *failures) add(item int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.items = append(f.items, item)
}

func (f *failures) list() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.items
}

// errInterrupted is how a run ends whose thread was interrupted while it waited for the pool: the
// thread keeps the mark, so all its requests fail, and nothing is written down.
var errInterrupted = errors.New("the run was interrupted")

// work calls the handler: for one item in the scheduler's thread, for several in the pool. It
// reports whether it has waited for all of them.
func (m *Member) work(d document, s shares, failed *failures) bool {
	ctx, cancel := context.WithCancel(m.ctx)
	defer cancel()
	m.timer.working(cancel)
	defer m.timer.working(nil)
	if len(s.items) == 1 {
		m.call(ctx, s, s.items[0], failed)
		return true
	}
	if m.poolShut.Load() {
		return true
	}
	size := len(s.items)
	if d.pool() == "SINGLE_THREAD" {
		size = 1
	}
	slots := make(chan struct{}, size)
	ended := make(chan struct{}, len(s.items))
	for _, item := range s.items {
		m.tasks.Go(func() {
			slots <- struct{}{}
			m.call(m.pool, s, item, failed)
			<-slots
			ended <- struct{}{}
		})
	}
	for range s.items {
		select {
		case <-ended:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// call runs one item. ElasticJob gives an error to its handler, which logs it, and the item
// counts as ended.
func (m *Member) call(ctx context.Context, s shares, item int, failed *failures) {
	if ctx.Err() != nil {
		return
	}
	if err := m.config.Work(ctx, Execution{Member: m.id, Item: item, Source: s.source, Tick: s.tick}); err != nil {
		failed.add(item)
	}
}
