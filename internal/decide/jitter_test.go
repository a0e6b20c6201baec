package decide_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

func jittered(by time.Duration) func(*decide.Rules) {
	return func(r *decide.Rules) { r.Jitter = by }
}

// Whoever asks, and whenever: an item starts at the same time after each tick, before the next
// one, and each tick once.
func TestJitterOfAnItem(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		jitter := time.Duration(rapid.IntRange(1, 20_000).Draw(rt, "jitter")) * time.Millisecond
		f := given(t, jittered(jitter)).members("A").deal("A", "A", "A")
		item := rapid.IntRange(0, 2).Draw(rt, "item")
		var delay time.Duration
		last := time.Time{}
		for at := tick(1); at.Before(tick(4)); at = at.Add(41 * time.Millisecond) {
			f.now = at
			got := f.pass("A").LastTickOf(item)
			if got.Equal(last) {
				continue
			}
			if n := at.Sub(got); last.IsZero() {
				delay = n
			} else if got.Sub(last) != 5*time.Second || (n-delay).Abs() > 41*time.Millisecond {
				rt.Fatalf("after %v, %v into its tick, item %d starts for %v, %v into it", last, delay, item, got, n)
			}
			if delay >= min(jitter, 5*time.Second)+41*time.Millisecond {
				rt.Fatalf("it starts %v after its tick", delay)
			}
			last = got
		}
		if last.IsZero() {
			rt.Fatal("it never starts")
		}
	})
}

// A pass comes at the start of each item.
func TestNextStart(t *testing.T) {
	f := given(t, jittered(4*time.Second)).members("A", "B").deal("A", "B", "A")
	f.now = tick(2)
	starts := map[time.Time]bool{}
	for {
		w := f.pass("A")
		next := w.NextStart()
		if next.IsZero() {
			break
		}
		slot := w.ElapsedSlots()
		f.now = next
		now := f.pass("A")
		if now.ElapsedSlots() <= slot {
			t.Fatalf("at %v the slot is %d, and was %d before", next, now.ElapsedSlots(), slot)
		}
		for _, i := range []int{0, 2} {
			if now.LastTickOf(i).Equal(tick(2)) && w.LastTickOf(i).Before(tick(2)) {
				starts[next] = true
			}
		}
	}
	if len(starts) == 0 || !f.now.Before(tick(3)) {
		t.Errorf("passes at %v, the last one at %v", starts, f.now)
	}
	for _, i := range []int{0, 1, 2} {
		if got := f.pass("B").LastTickOf(i); i != 1 && !got.Equal(tick(2)) {
			t.Errorf("after all starts, item %d is at %v", i, got)
		}
	}
}
