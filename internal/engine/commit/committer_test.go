package commit

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// store answers commits with an error.
type store struct {
	coord.Registry
	err     error
	commits int
}

func (s *store) Commit(context.Context, ...coord.Op) (int64, error) {
	s.commits++
	return int64(s.commits), s.err
}

// harness is a committer with a store and a clock that the test moves on.
type harness struct {
	*Committer
	store   *store
	now     clocks.Moment
	applied []int64
	unsure  int
}

func newHarness(t *testing.T) *harness {
	h := &harness{store: &store{}, now: clocks.Now()}
	h.Committer = New(Config{
		Registry: h.store, Log: zap.NewNop(), Now: func() clocks.Moment { return h.now },
		WakeIn: func(time.Duration) {}, Working: func() {},
		Committed:   func(_ decide.Change, revision int64) { h.applied = append(h.applied, revision) },
		Unconfirmed: func(decide.Change) { h.unsure++ },
		Conflicted:  func(Conflict) {},
	})
	h.Begin(t.Context(), false)
	return h
}

// pass commits a change in a pass of its own, and reports whether it was sent and happened.
func (h *harness) pass(change decide.Change) (sent, happened bool) {
	before := h.store.commits
	h.BeginPass()
	happened = h.Commit(change)
	h.EndPass()
	return h.store.commits > before, happened
}

// What fails waits, longer each time, and other steps do not wait for it.
func TestStepThatFails(t *testing.T) {
	h := newHarness(t)
	h.store.err = coord.ErrUnavailable
	for n := range 3 {
		if sent, happened := h.pass(decide.Change{Step: "a"}); !sent || happened {
			t.Fatalf("attempt %d: sent %v, happened %v", n, sent, happened)
		}
		if sent, _ := h.pass(decide.Change{Step: "a"}); sent || !h.IsStale() {
			t.Errorf("attempt %d: tried again at once, or the view need not catch up", n)
		}
		h.now = h.now.Add(MaxPause)
	}
	if f, n := h.Oldest(OfStore, 3*MaxPause); n != 1 || f.Name != "a" || !errors.Is(f.Err, coord.ErrUnavailable) {
		t.Errorf("oldest failure %+v of %d", f, n)
	}
	h.store.err = nil
	if _, happened := h.pass(decide.Change{Step: "b"}); !happened {
		t.Error("another step waits, too")
	}
	if h.HasFailures() {
		t.Error("a failure is kept though its step did not want to try again")
	}
	if len(h.applied) != 1 || h.applied[0] != 4 {
		t.Errorf("applied %v", h.applied)
	}
}

// A conflict may only mean that the tree is busy: some need no back-off.
func TestConflicts(t *testing.T) {
	h := newHarness(t)
	h.store.err = coord.ErrConflict
	for n := range freeConflicts + 1 {
		if sent, _ := h.pass(decide.Change{Step: "a"}); !sent {
			t.Errorf("attempt %d has to wait", n)
		}
	}
	if sent, _ := h.pass(decide.Change{Step: "a"}); sent {
		t.Error("no back-off")
	}
	if f, _ := h.Oldest(OfTree, 0); f == nil {
		t.Error("not a failure of the tree")
	}
}

// If an answer is lost, somebody has to look what has happened.
func TestLostAnswer(t *testing.T) {
	h := newHarness(t)
	h.store.err = coord.ErrUnknownOutcome
	h.pass(decide.Change{Step: "a"})
	if h.unsure != 1 || !h.IsUnconfirmed() || !h.IsStale() {
		t.Errorf("unsure %d, unconfirmed %v, stale %v", h.unsure, h.IsUnconfirmed(), h.IsStale())
	}
	h.Begin(t.Context(), true)
	if h.IsUnconfirmed() || h.HasFailures() {
		t.Error("it outlives its session")
	}
}

// What is repaired again and again gets a back-off, until it has lasted.
func TestRepairThatIsUndone(t *testing.T) {
	h := newHarness(t)
	repair := decide.Change{Step: "a", IsRepair: true}
	for n := range freeRepairs + 1 {
		if _, happened := h.pass(repair); !happened {
			t.Errorf("repair %d has to wait", n)
		}
	}
	if sent, _ := h.pass(repair); sent {
		t.Error("no back-off")
	}
	if f, _ := h.Oldest(OfTree, 0); f == nil || !errors.Is(f.Err, ErrUndone) {
		t.Errorf("failure %+v", f)
	}
	h.now = h.now.Add(2 * repairTime)
	for range 2 { // the first one forgets the repair, the second its failure
		h.BeginPass()
		h.EndPass()
	}
	if h.HasFailures() {
		t.Error("the failure is kept though the repair has lasted")
	}
}
