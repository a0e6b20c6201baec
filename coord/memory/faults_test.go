package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
)

// inBubble runs a test with a store in virtual time.
func inBubble(t *testing.T, o memory.Options, test func(*testing.T, *memory.Store)) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewStore(o)
		t.Cleanup(store.Close)
		test(t, store)
	})
}

func there(t *testing.T, r *memory.Registry, path string) bool {
	t.Helper()
	_, err := r.Get(t.Context(), path)
	if err != nil && !errors.Is(err, coord.ErrNoNode) {
		t.Fatal(err)
	}
	return err == nil
}

func TestFaultBeforeAfterAndLate(t *testing.T) {
	for _, tc := range []struct {
		name  string
		fault memory.Fault
		want  error
		took  time.Duration
		// whether the write is there when the call has returned, and an hour later
		at, later bool
	}{
		{"refused", memory.Fault{Before: coord.ErrUnavailable}, coord.ErrUnavailable, 0, false, false},
		{"unknown and not done", memory.Fault{Before: coord.ErrUnknownOutcome}, coord.ErrUnknownOutcome, 0, false, false},
		{"unknown and done", memory.Fault{After: coord.ErrUnknownOutcome}, coord.ErrUnknownOutcome, 0, true, true},
		{"unknown and done late", memory.Fault{Before: coord.ErrUnknownOutcome, Late: time.Minute}, coord.ErrUnknownOutcome, 0, false, true},
		{"delayed", memory.Fault{Delay: time.Minute}, nil, time.Minute, true, true},
		{"delayed and refused", memory.Fault{Delay: time.Minute, Before: coord.ErrUnavailable}, coord.ErrUnavailable, time.Minute, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
				a, b := dial(t, store, memory.Config{Name: "a"}), dial(t, store, memory.Config{Name: "b"})
				tc.fault.Registry = "a"
				tc.fault.Method = memory.Commit
				fault := store.Inject(tc.fault)
				begin := time.Now()
				_, err := a.Commit(t.Context(), coord.Create("x", nil))
				if !errors.Is(err, tc.want) || tc.want == nil && err != nil {
					t.Errorf("got %v, want %v", err, tc.want)
				}
				if took := time.Since(begin); took != tc.took {
					t.Errorf("took %v, want %v", took, tc.took)
				}
				if got := there(t, b, "x"); got != tc.at {
					t.Errorf("there: %v", got)
				}
				time.Sleep(time.Hour)
				if got := there(t, b, "x"); got != tc.later {
					t.Errorf("there an hour later: %v", got)
				}
				if fault.Hits() != 1 {
					t.Errorf("%d hits", fault.Hits())
				}
			})
		})
	}
}

// A commit that is carried out late creates nothing in the next session.
func TestLateCommitOfALostSession(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a := dial(t, store, memory.Config{})
		store.Inject(memory.Fault{Method: memory.Commit, Before: coord.ErrUnknownOutcome, Late: time.Minute, Times: 1})
		_, err := a.Commit(t.Context(), coord.CreateEphemeral("e", nil))
		if !errors.Is(err, coord.ErrUnknownOutcome) {
			t.Fatal(err)
		}
		old := session(t, a)
		store.Expire(old.ID())
		<-old.Context().Done()
		time.Sleep(time.Hour)
		if there(t, a, "e") {
			t.Error("created in the next session")
		}
	})
}

func TestFaultMatching(t *testing.T) {
	put := func(paths ...string) []coord.Op {
		var ops []coord.Op
		for _, path := range paths {
			ops = append(ops, coord.Put(path, nil))
		}
		return ops
	}
	for _, tc := range []struct {
		name  string
		fault memory.Fault
		ops   []coord.Op
		want  bool
	}{
		{"any", memory.Fault{}, put("a"), true},
		{"another method", memory.Fault{Method: memory.Get}, put("a"), false},
		{"path", memory.Fault{Path: "a/b"}, put("a/b"), true},
		{"path of a later op", memory.Fault{Path: "a/b"}, put("x", "a/b"), true},
		{"another path", memory.Fault{Path: "a/b"}, put("a", "a/b/c", "a/bc"), false},
		{"one segment", memory.Fault{Path: "*/sharding/*/running"}, put("job/sharding/3/running"), true},
		{"not two", memory.Fault{Path: "*/running"}, put("job/sharding/3/running"), false},
		{"subtree", memory.Fault{Path: "job/sharding/**"}, put("job/sharding/3/running"), true},
		{"subtree, its root", memory.Fault{Path: "job/sharding/**"}, put("job/sharding"), true},
		{"subtree with a pattern", memory.Fault{Path: "*/sharding/**"}, put("job/sharding/3/running"), true},
		{"another subtree", memory.Fault{Path: "job/sharding/**"}, put("job/sharding2/3", "job", "x/job/sharding"), false},
		{"kind", memory.Fault{Kind: coord.OpDelete}, []coord.Op{coord.Put("a", nil), coord.Delete("there")}, true},
		{"another kind", memory.Fault{Kind: coord.OpDelete}, put("a"), false},
		{"kind and path in one op", memory.Fault{Kind: coord.OpDelete, Path: "there"}, []coord.Op{coord.Put("a", nil), coord.Delete("there")}, true},
		{"kind and path in two ops", memory.Fault{Kind: coord.OpDelete, Path: "a"}, []coord.Op{coord.Put("a", nil), coord.Delete("there")}, false},
		{"registry", memory.Fault{Registry: "a"}, put("a"), true},
		{"another registry", memory.Fault{Registry: "b"}, put("a"), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
				a := dial(t, store, memory.Config{Name: "a"})
				commit(t, a, coord.Put("there", nil))
				tc.fault.Before = coord.ErrUnavailable
				fault := store.Inject(tc.fault)
				_, err := a.Commit(t.Context(), tc.ops...)
				if got := err != nil; got != tc.want || (fault.Hits() > 0) != tc.want {
					t.Errorf("met: %v (%v), %d hits", got, err, fault.Hits())
				}
			})
		})
	}
}

func TestFaultSkipAndTimes(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a := dial(t, store, memory.Config{})
		fault := store.Inject(memory.Fault{Method: memory.Commit, Skip: 2, Times: 3, Before: coord.ErrUnavailable})
		var got []bool
		for range 7 {
			_, err := a.Commit(t.Context(), coord.Put("a", nil))
			got = append(got, err == nil)
		}
		if want := []bool{true, true, false, false, false, true, true}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		fault.Remove()
		other := store.Inject(memory.Fault{Before: coord.ErrDenied})
		if _, err := a.Get(t.Context(), "a"); !errors.Is(err, coord.ErrDenied) {
			t.Errorf("get: %v", err)
		}
		other.Remove()
		if _, err := a.Get(t.Context(), "a"); err != nil {
			t.Errorf("after Remove: %v", err)
		}
	})
}

func TestMalformedPatternPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	memory.NewStore(memory.Options{}).Inject(memory.Fault{Path: "[a"})
}

// If no session can be opened the registry tries again; if it takes long it waits.
func TestFaultsOfOpening(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a := dial(t, store, memory.Config{SessionTimeout: 9 * time.Second})
		store.Inject(memory.Fault{Method: memory.Open, Before: coord.ErrUnavailable, Times: 2})
		store.Inject(memory.Fault{Method: memory.Open, Delay: time.Minute, Times: 1})
		old := session(t, a)
		store.Expire(old.ID())
		<-old.Context().Done()
		lost := time.Now()
		next := session(t, a)
		if got, want := time.Since(lost), 3*time.Second+3*time.Second+time.Minute; got != want || next.ID() == old.ID() {
			t.Errorf("the next session after %v, want %v", got, want)
		}
	})
}

func TestLagHoldsViewsBack(t *testing.T) {
	inBubble(t, memory.Options{Lag: time.Second}, func(t *testing.T, store *memory.Store) {
		a, b := dial(t, store, memory.Config{}), dial(t, store, memory.Config{})
		b.Link().Lag(0)
		va, err := a.View(t.Context(), "n", coord.AllLevels)
		if err != nil {
			t.Fatal(err)
		}
		vb, err := b.View(t.Context(), "n", coord.AllLevels)
		if err != nil {
			t.Fatal(err)
		}
		changed := va.Changed()
		begin := time.Now()
		commit(t, a, coord.Put("n/1", nil))
		if va.Snapshot().Exists("n/1") || !vb.Snapshot().Exists("n/1") {
			t.Error("the lag is not that of the registry")
		}
		if !there(t, a, "n/1") {
			t.Error("a read is late too")
		}
		time.Sleep(500 * time.Millisecond)
		commit(t, b, coord.Put("n/2", nil))
		<-changed
		if took := time.Since(begin); took != time.Second {
			t.Errorf("told after %v", took)
		}
		if !va.Snapshot().Exists("n/1") || !va.Snapshot().Exists("n/2") {
			t.Error("not shown together")
		}

		begin = time.Now()
		commit(t, b, coord.Put("n/3", nil))
		if err := va.Sync(t.Context()); err != nil || !va.Snapshot().Exists("n/3") || time.Since(begin) != time.Second {
			t.Errorf("Sync: %v after %v", err, time.Since(begin))
		}

		a.Link().Lag(24 * time.Hour)
		changed = va.Changed()
		commit(t, b, coord.Put("n/4", nil))
		time.Sleep(time.Hour)
		if err := va.Sync(t.Context()); !errors.Is(err, coord.ErrUnavailable) || va.Snapshot().Exists("n/4") {
			t.Errorf("Sync of a view that is held: %v", err)
		}
		a.Link().Lag(0)
		select {
		case <-changed:
		default:
			t.Error("not told when the lag ended")
		}
		if !va.Snapshot().Exists("n/4") {
			t.Error("not shown when the lag ended")
		}
	})
}

// Every commit wakes those who wait, at once.
func TestViewsAreToldOfEveryCommit(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a, b := dial(t, store, memory.Config{}), dial(t, store, memory.Config{})
		v, err := b.View(t.Context(), "n", coord.AllLevels)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				changed := v.Changed()
				if v.Err() != nil {
					return
				}
				<-changed
				seen++
			}
		}()
		synctest.Wait()
		for i := range 100 {
			commit(t, a, coord.Put(fmt.Sprintf("n/%d", i%7), nil), coord.Put("elsewhere", nil))
			synctest.Wait()
			commit(t, a, coord.Put("elsewhere", nil))
			synctest.Wait()
		}
		if seen != 100 {
			t.Errorf("told %d times of 100 commits", seen)
		}
		v.Close()
		<-done
	})
}

func TestDownAndUp(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		short := dial(t, store, memory.Config{SessionTimeout: 3 * time.Second})
		long := dial(t, store, memory.Config{SessionTimeout: 90 * time.Second})
		commit(t, short, coord.CreateEphemeral("short", nil))
		commit(t, long, coord.CreateEphemeral("long", nil))
		s, l := session(t, short), session(t, long)
		store.Down()
		if _, err := long.Get(t.Context(), "long"); !errors.Is(err, coord.ErrUnavailable) {
			t.Errorf("get: %v", err)
		}
		if _, err := store.Dial(t.Context(), memory.Config{Namespace: "n"}); !errors.Is(err, coord.ErrUnavailable) {
			t.Errorf("dial: %v", err)
		}
		time.Sleep(30 * time.Second)
		if s.Context().Err() == nil || l.Context().Err() != nil {
			t.Error("the short session must be lost, and the long one not")
		}
		store.Up()
		// The registry had lost the short session, and the store could not know that.
		if !there(t, long, "short") || session(t, short).ID() == s.ID() || session(t, long).ID() != l.ID() {
			t.Error("wrong sessions after the outage")
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if there(t, long, "short") || !there(t, long, "long") {
			t.Error("the lost session's node must be gone, and the other's not")
		}
	})
}

func TestAnswersDropped(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a, b := dial(t, store, memory.Config{RequestTimeout: time.Second, SessionTimeout: 9 * time.Second}), dial(t, store, memory.Config{})
		commit(t, a, coord.CreateEphemeral("e", nil))
		s := session(t, a)
		a.Link().DropAnswers()
		begin := time.Now()
		if _, err := a.Commit(t.Context(), coord.Put("x", nil)); !errors.Is(err, coord.ErrUnknownOutcome) || time.Since(begin) != time.Second {
			t.Errorf("commit: %v after %v", err, time.Since(begin))
		}
		if _, err := a.Get(t.Context(), "x"); !errors.Is(err, coord.ErrUnavailable) || errors.Is(err, coord.ErrUnknownOutcome) {
			t.Errorf("get: %v", err)
		}
		if !there(t, b, "x") {
			t.Error("the commit was not done")
		}
		<-s.Context().Done()
		if got, want := time.Since(begin), 8100*time.Millisecond; got != want {
			t.Errorf("lost after %v, want %v", got, want)
		}
		// The store got renewals until then: at 6 s for the last time.
		time.Sleep(6*time.Second + 800*time.Millisecond)
		synctest.Wait()
		if !there(t, b, "e") {
			t.Error("the node went too early")
		}
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if there(t, b, "e") {
			t.Error("the node is still there")
		}
	})
}

// Calls that still wait when a black hole heals go through.
func TestBlackHoleHeals(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a := dial(t, store, memory.Config{RequestTimeout: time.Minute})
		a.Link().BlackHole()
		time.AfterFunc(2*time.Second, a.Link().Heal)
		begin := time.Now()
		commit(t, a, coord.Put("x", nil))
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
		a.Link().BlackHole()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := a.Commit(ctx, coord.Put("x", nil))
		if !errors.Is(err, coord.ErrUnknownOutcome) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("commit: %v", err)
		}
	})
}

func TestSlowLinkLosesTheSession(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a := dial(t, store, memory.Config{SessionTimeout: 9 * time.Second, RequestTimeout: time.Minute})
		s := session(t, a)
		a.Link().Delay(2 * time.Second)
		begin := time.Now()
		commit(t, a, coord.Put("x", nil))
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
		time.Sleep(time.Hour)
		if state, _ := s.State(); state != coord.Connected {
			t.Errorf("late by less than a third of its time-out, the session is %v", state)
		}
		a.Link().Delay(4 * time.Second)
		<-s.Context().Done()
		if cause := context.Cause(s.Context()); !errors.Is(cause, coord.ErrSessionLost) {
			t.Errorf("cause %v", cause)
		}
	})
}

func TestLatchLossIsHeardOfWhenTheLinkHeals(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a, b := dial(t, store, memory.Config{SessionTimeout: time.Hour}), dial(t, store, memory.Config{})
		latch, err := a.Latch("l")
		if err != nil {
			t.Fatal(err)
		}
		held, err := latch.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a.Link().Cut()
		commit(t, b, coord.DeleteTree("l"))
		time.Sleep(time.Minute)
		if held.Context().Err() != nil {
			t.Error("heard of it over a link that is cut")
		}
		healed := time.Now()
		a.Link().Heal()
		<-held.Context().Done()
		if cause := context.Cause(held.Context()); !errors.Is(cause, coord.ErrLatchLost) || !time.Now().Equal(healed) {
			t.Errorf("cause %v, %v after the link healed", cause, time.Since(healed))
		}
	})
}

// A candidate that gives up while the store is away does not block the queue later.
func TestCandidateIsWithdrawnWhenTheLinkHeals(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a, b, c := dial(t, store, memory.Config{}), dial(t, store, memory.Config{SessionTimeout: time.Hour}), dial(t, store, memory.Config{})
		la, _ := a.Latch("l")
		lb, _ := b.Latch("l")
		lc, _ := c.Latch("l")
		first, err := la.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		gave := make(chan error)
		go func() {
			_, err := lb.Acquire(ctx)
			gave <- err
		}()
		synctest.Wait()
		b.Link().BlackHole()
		cancel()
		if err := <-gave; !errors.Is(err, context.Canceled) {
			t.Errorf("acquire: %v", err)
		}
		if err := first.Release(t.Context()); err != nil {
			t.Error(err)
		}
		got := make(chan time.Time)
		go func() {
			if _, err := lc.Acquire(t.Context()); err != nil {
				t.Error(err)
			}
			got <- time.Now()
		}()
		time.Sleep(time.Minute)
		healed := time.Now()
		b.Link().Heal()
		const pause = time.Second // the longest one between two attempts to withdraw
		if at := <-got; at.Before(healed) || at.Sub(healed) > pause {
			t.Errorf("acquired at %v, the link healed at %v", at, healed)
		}
	})
}

func TestEndViews(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a := dial(t, store, memory.Config{})
		v, err := a.View(t.Context(), "", coord.AllLevels)
		if err != nil {
			t.Fatal(err)
		}
		changed := v.Changed()
		a.Link().EndViews(coord.ErrDenied)
		<-changed
		if !errors.Is(v.Err(), coord.ErrDenied) || !errors.Is(v.Sync(t.Context()), coord.ErrDenied) {
			t.Errorf("Err: %v", v.Err())
		}
		v.Close()
		if !errors.Is(v.Err(), coord.ErrDenied) {
			t.Error("Close changed the reason")
		}
	})
}

func TestClockOffset(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a := dial(t, store, memory.Config{})
		store.SetClockOffset(-5 * time.Minute)
		clock := a.Clock()
		if left, ahead := time.Until(clock.Now()), clock.Ahead(time.Now()); left != -5*time.Minute || ahead != 5*time.Minute || clock.Err() != nil {
			t.Errorf("the store's time is %v from now, and this process is %v ahead; %v", left, ahead, clock.Err())
		}
	})
}

// A process that dies leaves its session behind, until its time-out.
func TestCloseOfAPartitionedRegistryLeavesItsSession(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a, b := dial(t, store, memory.Config{SessionTimeout: 9 * time.Second}), dial(t, store, memory.Config{})
		commit(t, a, coord.CreateEphemeral("e", nil))
		time.Sleep(4 * time.Second)
		a.Link().Cut()
		if err := a.Close(t.Context()); !errors.Is(err, coord.ErrUnavailable) {
			t.Errorf("close: %v", err)
		}
		time.Sleep(8*time.Second - time.Millisecond)
		synctest.Wait()
		if !there(t, b, "e") {
			t.Error("the node went before its session's time-out")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if there(t, b, "e") {
			t.Error("the node is still there")
		}
	})
}
