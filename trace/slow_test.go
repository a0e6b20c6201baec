package trace_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/trace"
)

// slow is a sink that needs a time for each event, and keeps a batch only if that was enough.
type slow struct {
	mu    sync.Mutex
	each  time.Duration
	kept  []string // IDs, in their order
	sizes []int    // of the batches, those that were too long with a minus
}

func (s *slow) Write(ctx context.Context, b trace.Batch) error {
	s.mu.Lock()
	took := time.Duration(len(b.Events)) * s.each
	s.mu.Unlock()
	select {
	case <-time.After(took):
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sizes = append(s.sizes, -len(b.Events))
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sizes = append(s.sizes, len(b.Events))
	for _, e := range b.Events {
		s.kept = append(s.kept, e.ID)
	}
	return nil
}

// set changes how fast the sink is, and returns which batches came meanwhile.
func (s *slow) set(each time.Duration) (sizes []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.each = each
	sizes, s.sizes = s.sizes, nil
	return sizes
}

// A batch that takes the sink too long comes in parts, whose size is kept for those that follow, until
// the sink is faster. Each event is kept once, in its order.
func TestBatchesThatTakeTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{each: 100 * time.Millisecond}
		r := newRecorder(t, s, trace.Options{Batch: 300, WriteTimeout: 10 * time.Second})
		tell := func(executions int) {
			for n := range executions {
				tellExecution(r.Observer(), "settle", n)
			}
		}
		tell(200)
		pass(5 * time.Minute)
		if got, want := s.set(0), []int{-300, -150, 75, 75, 75, 75, 75, 75, 75, 75}; !slices.Equal(got, want) {
			t.Errorf("a slow sink was given %v, want %v", got, want)
		}
		tell(300)
		pass(time.Minute)
		if got, want := s.set(time.Hour), []int{75, 150, 75, 300, 300}; !slices.Equal(got, want) {
			t.Errorf("a fast one was given %v, want %v", got, want)
		}
		if stats := r.Stats(); stats.Written.Events != 1500 || stats.Queued != (trace.Count{}) || !stats.FailingSince.IsZero() {
			t.Errorf("%+v", stats)
		}

		// One that is never through is given one event at a time, and asked again.
		tell(1)
		pass(10 * time.Minute)
		sizes := s.set(8 * time.Second)
		if !slices.Equal(sizes[:3], []int{-3, -1, -1}) || slices.Min(sizes[1:]) != -1 || len(sizes) > 30 {
			t.Errorf("a sink that hangs was given %v", sizes)
		}
		if stats := r.Stats(); stats.FailingSince.IsZero() || stats.Queued.Events != 3 {
			t.Errorf("%+v", stats)
		}

		// A Close that has no time for all of it counts what was kept.
		ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Error(err)
		}
		tell(1)
		if stats := r.Stats(); stats.Told.Events != 1506 || stats.Written.Events != 1503 || stats.Left.Events != 3 {
			t.Errorf("%+v", stats)
		}
		if len(s.kept) != 1503 || !slices.IsSorted(s.kept) || len(slices.Compact(s.kept)) != 1503 {
			t.Errorf("%d are kept, or not in order", len(s.kept))
		}
	})
}

// What Close has no time for is dropped, and what was written of a batch before is not among it.
func TestCloseInTheMiddleOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{each: 6 * time.Second}
		r := newRecorder(t, s, trace.Options{WriteTimeout: 10 * time.Second})
		tellExecution(r.Observer(), "settle", 1)
		pass(20 * time.Second) // all three are too many; the first one is written
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Close(ctx); err == nil {
			t.Error("nothing is said to be dropped")
		}
		if stats := r.Stats(); stats.Written.Events != 1 || stats.Left.Events != 2 || stats.Queued != (trace.Count{}) {
			t.Errorf("%+v", stats)
		}
	})
}
