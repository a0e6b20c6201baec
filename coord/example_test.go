package coord_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
)

// dial opens the registry that an example runs on: one in memory, where a program dials
// etcd or ZooKeeper.
func dial(ctx context.Context) (coord.Registry, error) {
	return memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "shop"})
}

// A commit does all of its operations, or none if one condition does not hold.
func ExampleRegistry_commit() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	if _, err := reg.Commit(ctx,
		coord.Create("stock/apples", []byte("3")),
		coord.CreateEphemeral("tills/1", nil), // lives with this registry's session
	); err != nil {
		fmt.Println(err)
		return
	}

	apples, err := reg.Get(ctx, "stock/apples")
	if err != nil {
		fmt.Println(err)
		return
	}
	sell := []coord.Op{
		coord.Owned("tills/1"), // this session still has the till
		coord.SetAt("stock/apples", []byte("2"), apples.Version), // nobody has sold one meanwhile
		coord.Create("sales/1", []byte("apple")),
	}
	_, err = reg.Commit(ctx, sell...)
	fmt.Println("first:", err)

	// The same again is refused, and says what did not hold.
	_, err = reg.Commit(ctx, sell...)
	if conflict, ok := errors.AsType[*coord.ConflictError](err); ok {
		fmt.Println("second:", conflict.Op.Kind, conflict.Op.Path+":", conflict.Reason)
	}
	fmt.Println(errors.Is(err, coord.ErrConflict), errors.Is(err, coord.ErrVersion))
	// Output:
	// first: <nil>
	// second: set at version stock/apples: version differs
	// true true
}

// The loop around a view: take the channel, look at the newest state, decide, wait. A
// view is no log of events, so each round decides from the newest state alone.
func ExampleView() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	view, err := reg.View(ctx, "queue", coord.AllLevels)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer view.Close()

	const all = 3
	var others sync.WaitGroup
	defer others.Wait()
	others.Go(func() {
		for i := range all {
			if _, err := reg.Commit(ctx, coord.Create("queue/"+strconv.Itoa(i), nil)); err != nil {
				fmt.Println(err)
			}
		}
	})

	for {
		changed := view.Changed()
		if waiting := view.Snapshot().Children("queue"); len(waiting) == all {
			fmt.Println(waiting)
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			fmt.Println(context.Cause(ctx))
			return
		}
		if err := view.Err(); err != nil { // the view has ended
			fmt.Println(err)
			return
		}
	}
	// Output: [0 1 2]
}

// One candidate at a time holds a latch, until its context ends.
func ExampleLatch() {
	ctx := context.Background()
	reg, err := dial(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	latch, err := reg.Latch("stocktaking")
	if err != nil {
		fmt.Println(err)
		return
	}
	first, err := latch.Acquire(ctx) // waits for its turn
	if err != nil {
		fmt.Println(err)
		return
	}
	// Work under first.Context(), which ends when the latch can no longer be trusted, and
	// give first.Token() to the systems that you write to.
	fmt.Println("held:", first.Context().Err() == nil)

	if err := first.Release(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("afterwards:", context.Cause(first.Context()))

	second, err := latch.Acquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer second.Release(ctx)
	fmt.Println("the token has grown:", second.Token() > first.Token())
	// Output:
	// held: true
	// afterwards: latch released
	// the token has grown: true
}

// When a session is lost its ephemeral nodes go. The registry opens another session by
// itself; the program creates its ephemeral nodes again.
func ExampleSession() {
	ctx := context.Background()
	store := memory.NewStore(memory.Options{})
	reg, err := store.Dial(ctx, memory.Config{Namespace: "shop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	session, err := reg.Session(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := reg.Commit(ctx, coord.CreateEphemeral("tills/1", nil)); err != nil {
		fmt.Println(err)
		return
	}

	store.Expire(session.ID()) // as after a long partition
	<-session.Context().Done()
	fmt.Println(context.Cause(session.Context()))

	next, err := reg.Session(ctx) // waits for it
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = reg.Get(ctx, "tills/1")
	fmt.Println(next.ID() != session.ID(), errors.Is(err, coord.ErrNoNode))
	// Output:
	// session lost
	// true true
}
