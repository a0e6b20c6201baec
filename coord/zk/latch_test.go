package zk_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
)

func latch(t testing.TB, r coord.Registry, path string) coord.Latch {
	t.Helper()
	l, err := r.Latch(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

type grant struct {
	held coord.Held
	err  error
}

func acquireLater(ctx context.Context, l coord.Latch) <-chan grant {
	granted := make(chan grant, 1)
	go func() {
		held, err := l.Acquire(ctx)
		granted <- grant{held, err}
	}()
	return granted
}

func granted(t testing.TB, grants <-chan grant) coord.Held {
	t.Helper()
	select {
	case g := <-grants:
		if g.err != nil {
			t.Fatal(g.err)
		}
		return g.held
	case <-time.After(time.Minute):
		t.Fatal("the latch is not passed on")
	}
	return nil
}

// Candidates that Curator's LeaderLatch has made stand in the same queue.
func TestQueueWithCuratorsCandidates(t *testing.T) {
	r := dial(t, zk.Config{})
	queue := view(t, r, "l")
	bare := dialBare(t, sharedServer(t).Addr(), "")
	acl := zookeeper.WorldACL(zookeeper.PermAll)
	commit(t, r, coord.Put("l", nil))
	first, err := bare.Create("/"+namespace(t)+"/l/_c_0b1dd2ad-9e40-4ff6-ae7b-2f05ecd2e0bc-latch-", []byte("jvm"), zookeeper.FlagEphemeral|zookeeper.FlagSequence, acl)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bare.Create("/"+namespace(t)+"/l/no-candidate", nil, 0, acl); err != nil {
		t.Fatal(err)
	}
	ours := acquireLater(t.Context(), latch(t, r, "l"))
	awaitView(t, queue, "our candidate", func(s coord.Snapshot) bool { return len(s.Children("l")) == 3 })
	last, err := bare.Create("/"+namespace(t)+"/l/_c_ffffffff-9e40-4ff6-ae7b-2f05ecd2e0bc-latch-", []byte("jvm"), zookeeper.FlagEphemeral|zookeeper.FlagSequence, acl)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case g := <-ours:
		t.Fatalf("acquired while another stands before it: %v", g.err)
	default:
	}
	if err := bare.Delete(first, -1); err != nil {
		t.Fatal(err)
	}
	held := granted(t, ours)
	if err := held.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if there, _, err := bare.Exists(last); err != nil || !there {
		t.Errorf("another's candidate: %v, %v", there, err)
	}
	for _, name := range names(t, r, "l") {
		if strings.Contains(name, "latch-") && "/"+namespace(t)+"/l/"+name != last {
			t.Errorf("left: %s", name)
		}
	}
}

// If the creation of a candidate gets no answer it is found again, and not created twice.
func TestCandidateWhoseCreationWentUnanswered(t *testing.T) {
	link := newLink(t, sharedServer(t))
	r := dial(t, zk.Config{Servers: []string{link.Addr()}})
	queue := view(t, dial(t, zk.Config{}), "l")
	s := session(t, r)
	commit(t, r, coord.Put("l", nil))
	for range 5 {
		link.DropAnswers()
		ours := acquireLater(t.Context(), latch(t, r, "l"))
		awaitView(t, queue, "the candidate", func(s coord.Snapshot) bool { return len(s.Children("l")) == 1 })
		link.Heal()
		held := granted(t, ours)
		if got := names(t, r, "l"); len(got) != 1 {
			t.Fatalf("candidates: %q", got)
		}
		if err := held.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if got := names(t, r, "l"); len(got) != 0 {
			t.Fatalf("left: %q", got)
		}
	}
	if s.Context().Err() != nil {
		t.Error("the session was lost")
	}
}

// If a candidate cannot be withdrawn because the link is broken, it is removed when there is
// a link again, and does not block the queue until the session ends.
func TestCandidateIsWithdrawnWhenTheLinkHeals(t *testing.T) {
	t.Parallel()
	link := newLink(t, sharedServer(t))
	r, s := dial(t, zk.Config{Servers: []string{link.Addr()}}), dial(t, zk.Config{})
	queue := view(t, s, "l")
	mine := session(t, r)
	holder, err := latch(t, s, "l").Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range []func(){link.Cut, link.BlackHole, link.DropAnswers, link.DropRequests} {
		ctx, cancel := context.WithCancel(t.Context())
		waiting := acquireLater(ctx, latch(t, r, "l"))
		awaitView(t, queue, "the candidate", func(s coord.Snapshot) bool { return len(s.Children("l")) == 2 })
		fault()
		cancel()
		select {
		case g := <-waiting:
			if !errors.Is(g.err, context.Canceled) {
				t.Errorf("got %v", g.err)
			}
		case <-time.After(time.Minute):
			t.Fatal("Acquire does not end with its context")
		}
		link.Heal()
		awaitView(t, queue, "no candidate but the holder", func(s coord.Snapshot) bool { return len(s.Children("l")) == 1 })
	}
	if mine.Context().Err() != nil {
		t.Error("the session was lost")
	}
	if holder.Context().Err() != nil {
		t.Error("the holder lost the latch")
	}
}
