package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dataflow"
)

// The instances: one works all the time, one freezes, and one leaves.
const (
	worker  = "north"
	freezer = "south"
	leaver  = "west"
)

// patience bounds the story.
const patience = 5 * time.Minute

// story is what happens to the instances while they work.
type story struct {
	settings
	out   io.Writer
	begun time.Time

	// Each is closed when that has happened.
	someArePaid, allArePaid chan struct{}
	othersGoOn              chan struct{} // with the item in which an instance is frozen
	awake                   chan struct{}

	mu         sync.Mutex
	instances  map[string]*instance
	paid       int
	who        [items]string // has paid last, of each item
	frozen     *instance     // nil: none is frozen yet
	frozenItem int
	late       error // what the frozen instance got when it woke up
}

// tell lets three instances pay all orders.
func tell(ctx context.Context, db *sql.DB, s settings, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the orders are not paid after %v", patience))
	defer cancel()
	st := &story{
		settings: s, out: out, begun: time.Now(), instances: map[string]*instance{},
		someArePaid: make(chan struct{}), allArePaid: make(chan struct{}), othersGoOn: make(chan struct{}), awake: make(chan struct{}),
	}
	st.say("%d orders in a table of SQLite; %d items share them, and three instances share the items", s.orders, items)
	store := memory.NewStore(memory.Options{})
	defer store.Close()
	defer func() { err = errors.Join(err, st.end(ctx)) }()
	for _, name := range []string{worker, freezer, leaver} {
		if err := st.join(ctx, store, shop{db, name}); err != nil {
			return err
		}
	}
	if err := await(ctx, st.someArePaid); err != nil {
		return err
	}
	st.say("%s is asked to leave", leaver)
	if err := st.leave(ctx, leaver); err != nil {
		return err
	}
	st.say("%s has ended its batches, and left", leaver)
	if err := errors.Join(await(ctx, st.awake), await(ctx, st.allArePaid)); err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if !errors.Is(st.late, errLost) {
		return fmt.Errorf("%s was not refused when it woke up, but got: %v", freezer, st.late)
	}
	return nil
}

func await(ctx context.Context, happens <-chan struct{}) error {
	select {
	case <-happens:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// join starts an instance, with its part in the story.
func (st *story) join(ctx context.Context, store *memory.Store, s shop) error {
	process := s.process
	if s.name == freezer {
		process = st.frozenOnce(ctx, s)
	}
	flow := dataflow.WithCursor(s.fetch, func(ctx context.Context, sc job.ShardingContext, orders []order) error {
		if err := process(ctx, sc, orders); err != nil {
			return err
		}
		st.havePaid(s.name, sc.Item, orders)
		pace := time.NewTimer(st.pace)
		defer pace.Stop()
		select {
		case <-pace.C:
		case <-ctx.Done(): // the orders are paid all the same
		}
		return nil
	})
	in, err := join(ctx, store, s.name, st.page, flow)
	if err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.instances[s.name] = in
	return nil
}

func (st *story) leave(ctx context.Context, name string) error {
	st.mu.Lock()
	in := st.instances[name]
	delete(st.instances, name)
	st.mu.Unlock()
	return in.leave(ctx)
}

// end lets those leave that are still there.
func (st *story) end(ctx context.Context) error {
	st.mu.Lock()
	left := st.instances
	st.instances = nil
	st.mu.Unlock()
	var errs []error
	for _, in := range left {
		errs = append(errs, in.leave(ctx))
	}
	return errors.Join(errs...)
}

// frozenOnce returns what an instance does that is frozen in one of its batches, as a process
// is that was stopped. When it wakes up, others have gone on with its item.
func (st *story) frozenOnce(ctx context.Context, s shop) dataflow.Process[order] {
	over := ctx // the end of the program
	return func(ctx context.Context, sc job.ShardingContext, orders []order) error {
		if !st.freezes(sc.Item) {
			return s.process(ctx, sc, orders)
		}
		if err := await(over, st.othersGoOn); err != nil {
			return err
		}
		// It has not seen yet that its context has ended. The table has to refuse it.
		err := s.process(context.WithoutCancel(ctx), sc, orders)
		st.say("%s wakes up, and wants to pay these orders, too: %v", s.name, err)
		st.wakes(err)
		return err
	}
}

// freezes reports whether it is time to freeze, and cuts the connection if so.
func (st *story) freezes(item int) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	in := st.instances[freezer]
	if in == nil || st.frozen != nil || st.paid < st.orders/8 {
		return false
	}
	st.say("%s freezes in a batch of item %d", freezer, item)
	st.frozen, st.frozenItem = in, item
	in.reg.Link().BlackHole()
	return true
}

// wakes connects the frozen instance again.
func (st *story) wakes(late error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.frozen.reg.Link().Heal()
	st.late = late
	close(st.awake)
}

// havePaid notes that an instance has paid orders.
func (st *story) havePaid(name string, item int, orders []order) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if before := st.who[item]; before != name && before != "" {
		st.say("%s goes on with item %d at order %d, where %s was", name, item, orders[0].id, before)
		if st.frozen != nil && item == st.frozenItem {
			once(st.othersGoOn)
		}
	}
	st.who[item] = name
	st.paid += len(orders)
	if st.paid >= st.orders/4 {
		once(st.someArePaid)
	}
	if st.paid >= st.orders {
		once(st.allArePaid)
	}
}

// once closes a channel that may be closed. The caller holds mu.
func once(happens chan struct{}) {
	select {
	case <-happens:
	default:
		close(happens)
	}
}

func (st *story) say(format string, args ...any) {
	fmt.Fprintf(st.out, "%5.1f s  %s\n", time.Since(st.begun).Seconds(), fmt.Sprintf(format, args...))
}
