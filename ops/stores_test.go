package ops_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/ops"
)

// storeOf is a store of a test.
type storeOf struct {
	store    *memory.Store
	attempts atomic.Int32
	hangs    atomic.Bool // until the context ends
}

func (s *storeOf) connect(ctx context.Context, namespace string) (coord.Registry, error) {
	s.attempts.Add(1)
	if s.hangs.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.store.Dial(ctx, memory.Config{Namespace: namespace})
}

// given runs a test with two stores, in virtual time.
func given(t *testing.T, test func(t *testing.T, all *ops.Stores, near, far *storeOf)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		list := map[string]*storeOf{"near": {}, "far": {}}
		connects := map[string]ops.Connect{}
		for name, s := range list {
			s.store = memory.NewStore(memory.Options{})
			t.Cleanup(s.store.Close)
			connects[name] = s.connect
		}
		all := ops.NewStores(connects)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if err := all.Close(ctx); err != nil {
				t.Errorf("close: %v", err)
			}
		})
		test(t, all, list["near"], list["far"])
	})
}

// Who asks for the same namespace shares a connection, and sees what is in it.
func TestStoresShare(t *testing.T) {
	given(t, func(t *testing.T, all *ops.Stores, near, far *storeOf) {
		ctx := t.Context()
		if names := all.Names(); !slices.Equal(names, []string{"far", "near"}) {
			t.Errorf("stores %v", names)
		}
		var many sync.WaitGroup
		for n := range 20 {
			many.Go(func() {
				o, err := all.Ops(ctx, "near", "billing")
				if err == nil && n == 0 {
					err = o.Create(ctx, ops.CreateRequest{Config: settle()})
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		many.Wait()
		if n := near.attempts.Load(); n != 1 {
			t.Errorf("%d connections", n)
		}
		for _, at := range [][2]string{{"near", "billing"}, {"near", "other"}, {"far", "billing"}} {
			o, err := all.Ops(ctx, at[0], at[1])
			if err != nil {
				t.Fatal(err)
			}
			if _, err := o.Job("settle").Settings(ctx); errors.Is(err, ops.ErrNoJob) != (at != [2]string{"near", "billing"}) {
				t.Errorf("%v: %v", at, err)
			}
		}
		if _, err := all.Ops(ctx, "here", "billing"); !errors.Is(err, ops.ErrNoStore) || !strings.Contains(err.Error(), `"far", "near"`) {
			t.Errorf("no store: %v", err)
		}
	})
}

// A store that hangs holds nobody else up, and is not asked again and again.
func TestStoreHangs(t *testing.T) {
	given(t, func(t *testing.T, all *ops.Stores, near, far *storeOf) {
		far.hangs.Store(true)
		begin := time.Now()
		in := func(what string, want time.Duration) {
			t.Helper()
			if took := time.Since(begin); took != want {
				t.Errorf("%s after %v, want %v", what, took, want)
			}
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := all.Ops(impatient, "far", "a"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ops.ErrStoreAway) {
			t.Errorf("impatient: %v", err)
		}
		in("impatient", time.Second)
		if _, err := all.Ops(t.Context(), "near", "a"); err != nil {
			t.Error(err)
		}
		in("near", time.Second)
		// The attempt of before goes on. Then nobody waits for the next one until it may begin.
		pause := time.Second
		for n := range int32(9) {
			_, err := all.Ops(t.Context(), "far", "a")
			if !errors.Is(err, ops.ErrStoreAway) || !strings.Contains(err.Error(), "no answer in 15s") {
				t.Fatalf("patient: %v", err)
			}
			in("away", 15*time.Second)
			if _, err := all.Ops(t.Context(), "far", "a"); !errors.Is(err, ops.ErrStoreAway) || far.attempts.Load() != n+1 {
				t.Errorf("%d attempts, %v", far.attempts.Load(), err)
			}
			in("away at once", 15*time.Second)
			pass(pause)
			pause = min(2*pause, time.Minute)
			begin = time.Now()
		}
		far.hangs.Store(false)
		if _, err := all.Ops(t.Context(), "far", "a"); err != nil {
			t.Error(err)
		}
	})
}

// Stores that are closed while one is being connected to leave nothing behind.
func TestStoresClose(t *testing.T) {
	given(t, func(t *testing.T, all *ops.Stores, near, far *storeOf) {
		far.hangs.Store(true)
		o, err := all.Ops(t.Context(), "near", "a")
		if err != nil {
			t.Fatal(err)
		}
		waited := make(chan error)
		go func() {
			_, err := all.Ops(context.Background(), "far", "a")
			waited <- err
		}()
		synctest.Wait()
		if err := all.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-waited; !errors.Is(err, ops.ErrStoresClosed) {
			t.Errorf("who waits is told %v", err)
		}
		if _, err := o.Removed(t.Context()); !errors.Is(err, coord.ErrClosed) {
			t.Errorf("an open one: %v", err)
		}
		if _, err := all.Ops(t.Context(), "near", "a"); !errors.Is(err, ops.ErrStoresClosed) {
			t.Errorf("another one: %v", err)
		}
	})
}

// An adapter that fails returns a nil pointer beside its error, and Connect may return both as they are.
func TestStoresCloseAfterAFailure(t *testing.T) {
	all := ops.NewStores(map[string]ops.Connect{"away": func(context.Context, string) (coord.Registry, error) {
		return (*memory.Registry)(nil), coord.ErrUnavailable
	}})
	if _, err := all.Ops(t.Context(), "away", "a"); !errors.Is(err, ops.ErrStoreAway) || !errors.Is(err, coord.ErrUnavailable) {
		t.Error(err)
	}
	if err := all.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// There is a bound. What is away has no place when others need it.
func TestManyNamespaces(t *testing.T) {
	given(t, func(t *testing.T, all *ops.Stores, near, far *storeOf) {
		far.hangs.Store(true)
		if _, err := all.Ops(t.Context(), "far", "a"); !errors.Is(err, ops.ErrStoreAway) {
			t.Error(err)
		}
		pass(time.Second)
		for n := range ops.MaxNamespaces {
			if _, err := all.Ops(t.Context(), "near", fmt.Sprint(n)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := all.Ops(t.Context(), "near", "one more"); !errors.Is(err, ops.ErrManyNamespaces) {
			t.Errorf("one more: %v", err)
		}
	})
}
