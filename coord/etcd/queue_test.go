package etcd

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// wait makes a commit that waits, and writes one node.
func (c *committer) wait(ctx context.Context, path string) {
	t := &transaction{keys: newKeyspace("n"), ops: []coord.Op{coord.Put(path, nil)}, guesses: make([]guess, 1)}
	c.waiting.push(newPending(ctx, t, t.request(true)))
}

// take takes the next group, and returns what its members write.
func (c *committer) take() []string {
	var paths []string
	for _, p := range c.takeLocked() {
		paths = append(paths, p.t.ops[0].Path)
	}
	return paths
}

func TestUrgentCommitsGoFirstAndTheOldestAlways(t *testing.T) {
	var c committer
	for i := range 3 * maxMembers {
		c.wait(t.Context(), fmt.Sprintf("usual/%d", i))
	}
	for i := range maxMembers {
		c.wait(urgency.With(t.Context(), urgency.Sooner), fmt.Sprintf("sooner/%d", i))
		c.wait(urgency.With(t.Context(), urgency.Soonest), fmt.Sprintf("soonest/%d", i))
	}
	from := func(kind string, first, count int) (paths []string) {
		for i := range count {
			paths = append(paths, fmt.Sprintf("%s/%d", kind, first+i))
		}
		return paths
	}
	for i, want := range [][]string{
		slices.Concat(from("usual", 0, 1), from("soonest", 0, maxMembers-1)),
		slices.Concat(from("usual", 1, 1), from("soonest", maxMembers-1, 1), from("sooner", 0, maxMembers-2)),
		slices.Concat(from("usual", 2, 1), from("sooner", maxMembers-2, 2), from("usual", 3, maxMembers-3)),
		from("usual", maxMembers, maxMembers),
	} {
		waited := c.waiting.len
		if got := c.take(); !slices.Equal(got, want) || c.waiting.len != waited-len(want) {
			t.Errorf("group %d: got %q, want %q; %d waited, then %d", i, got, want, waited, c.waiting.len)
		}
	}
}

// A commit that fits no group because others come before it goes first at some time.
func TestNoCommitWaitsForEver(t *testing.T) {
	var c committer
	for range 5 {
		c.wait(t.Context(), "same")
	}
	for i := range 5 {
		for j := range maxMembers {
			c.wait(urgency.With(t.Context(), urgency.Soonest), fmt.Sprintf("urgent/%d/%d", i, j))
		}
		if got := c.take(); got[0] != "same" || slices.Contains(got[1:], "same") {
			t.Errorf("round %d: %q", i, got)
		}
	}
}

// One that cannot be sent any more takes nobody's place, and those behind it are not held up.
func TestWhoHasLeftIsNotSent(t *testing.T) {
	var c committer
	gone, leave := context.WithCancel(t.Context())
	for i := range 2 * maxMembers {
		c.wait(gone, fmt.Sprintf("gone/%d", i))
	}
	c.wait(t.Context(), "here")
	leave()
	if got := c.take(); !slices.Equal(got, []string{"here"}) {
		t.Errorf("took %q", got)
	}
	if c.waiting.oldest() != nil {
		t.Error("somebody still waits")
	}
}

func TestQueueRemovesFromAnywhere(t *testing.T) {
	for gone := range 3 {
		var q queue
		var all []*pending
		for i := range 3 {
			p := &pending{ops: i}
			q.push(p)
			all = append(all, p)
		}
		if !q.remove(all[gone]) || q.remove(all[gone]) {
			t.Errorf("%d: not removed exactly once", gone)
		}
		q.push(&pending{ops: 3})
		var got []int
		q.each(func(p *pending) bool { got = append(got, p.ops); return true })
		want := slices.Delete([]int{0, 1, 2, 3}, gone, gone+1)
		if !slices.Equal(got, want) || q.oldest().ops != want[0] {
			t.Errorf("without %d: %d, the oldest %d", gone, got, q.oldest().ops)
		}
		for q.oldest() != nil {
			q.remove(q.oldest())
		}
	}
}
