package dump_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dump"
)

// late is a process whose view a test makes late, and an operator whose registry is not.
type late struct {
	*testing.T
	store         *memory.Store
	process, free *memory.Registry
	scheduler     *job.Scheduler
}

// inVirtualTime runs a test on the simulator.
func inVirtualTime(t *testing.T, behaviour func(*late)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &late{T: t, store: memory.NewStore(memory.Options{})}
		t.Cleanup(l.store.Close)
		dialled := func() *memory.Registry {
			return open(t, func() (coord.Registry, error) {
				return l.store.Dial(t.Context(), memory.Config{Namespace: "dump", SessionTimeout: time.Hour})
			}).(*memory.Registry)
		}
		l.process, l.free = dialled(), dialled()
		l.scheduler = runs(t, l.process, job.Config{Name: "settle", Cron: rarely, ShardingTotalCount: 2, ReconcileInterval: -1}, "10.0.0.1")
		await(t, l.scheduler, "both items", func(s job.Status) bool { return len(s.Items) == 2 })
		behaviour(l)
	})
}

func (l *late) commit(ops ...coord.Op) {
	l.Helper()
	if _, err := l.free.Commit(l.Context(), ops...); err != nil {
		l.Fatal(err)
	}
}

func (l *late) take() dump.Dump {
	l.Helper()
	d, err := dump.Take(l.Context(), l.free, dump.Schedulers{l.scheduler}, "settle")
	if err != nil {
		l.Fatal(err)
	}
	return d
}

// find returns a node of a dump.
func find(d dump.Dump, path string) dump.Node {
	i := slices.IndexFunc(d.Nodes, func(n dump.Node) bool { return n.Path == path })
	if i < 0 {
		return dump.Node{}
	}
	return d.Nodes[i]
}

// What the view has not taken in a second later is a difference; what it has is none.
func TestDifferences(t *testing.T) {
	many := func(op func(path string) coord.Op) (ops []coord.Op) {
		for i := range 120 {
			ops = append(ops, op(fmt.Sprintf("settle/more/%03d", i)))
		}
		return ops
	}
	for _, tc := range []struct {
		name        string
		before, ops []coord.Op
		path        string
		want        dump.Difference
		line        string // of the text, while it lasts
		count       int
	}{
		{"another value", []coord.Op{coord.Put("settle/x", []byte("old"))}, []coord.Op{coord.Put("settle/x", []byte("new"))},
			"settle/x", dump.Other, "/settle/x | new | /settle/x | old", 1},
		{"a node that is new", nil, []coord.Op{coord.Put("settle/x", []byte("new"))},
			"settle/x", dump.OnlyInStore, "/settle/x | new |  | ", 1},
		{"a node that has gone", []coord.Op{coord.Put("settle/x", []byte("old"))}, []coord.Op{coord.Delete("settle/x")},
			"settle/x", dump.OnlyInView, " |  | /settle/x | old", 1},
		{"the same again", []coord.Op{coord.Put("settle/x", []byte("old"))}, []coord.Op{coord.Put("settle/x", []byte("old"))}, "", "", "", 0},
		{"many new nodes", nil, many(func(path string) coord.Op { return coord.Put(path, nil) }), "settle/more/000", dump.OnlyInStore, "/settle/more/000 |  |  | ", 121},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, lag := range []time.Duration{0, 600 * time.Millisecond, time.Hour} {
				inVirtualTime(t, func(l *late) {
					if len(tc.before) > 0 {
						l.commit(tc.before...)
					}
					synctest.Wait()
					l.process.Link().Lag(lag)
					l.commit(tc.ops...)
					d := l.take()
					n := find(d, tc.path)
					lines := text(l, d)
					switch lag {
					case 0:
						if d.Differing > 0 || n.Difference != "" {
							l.Errorf("no lag: %d differ: %+v", d.Differing, n)
						}
					case time.Hour:
						if d.Differing != tc.count || n.Difference != tc.want || tc.line != "" && !strings.Contains(lines, tc.line+"\n") {
							l.Errorf("lag of an hour: %d differ: %+v\n%s", d.Differing, n, lines)
						}
					default:
						if d.Differing > 0 || n.Difference != "" || tc.line != "" && strings.Contains(lines, tc.line+"\n") {
							l.Errorf("lag of 0.6 s: %d differ: %+v\n%s", d.Differing, n, lines)
						}
					}
					l.process.Link().Lag(0)
				})
			}
		})
	}
}

// What the registry and the view have at the two looks, a second apart, and whether that is a difference.
func TestLasting(t *testing.T) {
	state := func(nodes ...coord.Node) coord.Snapshot {
		tree := coord.NewTree()
		for _, n := range nodes {
			tree.Put(n)
		}
		return tree.Snapshot()
	}
	none, below := state(), state(coord.Node{Path: "x/y", Modified: 1})
	at := func(modified int64) coord.Snapshot {
		return state(coord.Node{Path: "x", Value: fmt.Append(nil, modified), Modified: modified}, coord.Node{Path: "x/y", Modified: 1})
	}
	wrong := state(coord.Node{Path: "x", Value: []byte("?"), Modified: 5})
	for _, tc := range []struct {
		name                  string
		view, store           coord.Snapshot
		viewLater, storeLater coord.Snapshot
		want                  dump.Difference
	}{
		{"the view has caught up", at(4), at(5), at(5), at(5), ""},
		{"it has caught up with that, and is late again", at(4), at(5), at(5), at(6), ""},
		{"it was late, and has not caught up", at(4), at(5), at(4), at(5), dump.Other},
		{"it was late, and the registry goes on", at(4), at(5), at(4), at(9), dump.Other},
		{"it has another value of the same commit", wrong, at(5), wrong, at(5), dump.Other},
		{"it was not late, and is now", at(4), at(4), at(4), at(5), ""},
		{"it has never seen a node", none, at(5), none, at(5), dump.OnlyInStore},
		{"it shows only what lies below", below, at(5), below, at(5), dump.Other},
		{"it may have seen the node come and go", none, at(5), none, at(7), ""},
		{"it has not seen a node go", at(5), none, at(5), none, dump.OnlyInView},
		{"it has not seen a node go that comes again", at(5), none, at(5), at(7), dump.Other},
		{"it has not seen that only what lies below is left", at(5), below, at(5), below, dump.Other},
		{"it has seen a node go", at(5), none, none, none, ""},
		{"it has seen a node come again, and not go", at(5), none, at(7), none, ""},
	} {
		if got := dump.Lasting("x", tc.view, tc.store, tc.viewLater, tc.storeLater); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// A node that another session has made anew is another one, whatever its value is.
func TestNodeOfAnotherSession(t *testing.T) {
	inVirtualTime(t, func(l *late) {
		if _, err := l.process.Commit(l.Context(), coord.CreateEphemeral("settle/x", nil)); err != nil {
			l.Fatal(err)
		}
		synctest.Wait()
		l.process.Link().Lag(time.Hour)
		l.commit(coord.Delete("settle/x"))
		l.commit(coord.CreateEphemeral("settle/x", nil))
		if n := find(l.take(), "settle/x"); n.Difference != dump.Other || n.Session == "" {
			l.Errorf("%+v", n)
		}
		l.process.Link().Lag(0)
	})
}

// A node that came and went between two states of the view is no difference.
func TestNodeThatTheViewNeverShows(t *testing.T) {
	inVirtualTime(t, func(l *late) {
		l.process.Link().Lag(time.Hour)
		l.commit(coord.Put("settle/x", nil))
		var took sync.WaitGroup
		took.Go(func() {
			if d := l.take(); d.Differing != 0 {
				l.Errorf("%d differ: %+v", d.Differing, find(d, "settle/x"))
			}
		})
		synctest.Wait() // it pauses
		l.commit(coord.Delete("settle/x"))
		took.Wait()
		l.process.Link().Lag(0)
	})
}

// Of a store that is away, the dump has what the process believes, and says why.
func TestStoreIsAway(t *testing.T) {
	inVirtualTime(t, func(l *late) {
		l.free.Link().BlackHole()
		l.take() // it ends
		l.free.Link().Cut()
		d := l.take()
		if d.StoreError == "" || d.Differing > 0 || find(d, "settle/servers/10.0.0.1").Value != "ENABLED" || d.Config == "" {
			l.Errorf("%+v", d)
		}
		if lines := text(l, d); !strings.Contains(lines, "\n# the view alone") {
			l.Errorf("%s", lines)
		}
		if _, err := dump.Directly(l.Context(), l.free, "settle"); !errors.Is(err, coord.ErrUnavailable) {
			l.Errorf("without a view: %v", err)
		}
		l.free.Link().Heal()
		l.free.Link().Delay(4 * time.Second)
		soon, end := context.WithTimeout(l.Context(), 3*time.Second)
		defer end()
		if d, err := dump.Take(soon, l.free, dump.Schedulers{l.scheduler}, "settle"); err != nil || !strings.Contains(d.StoreError, "too slow") || len(d.Nodes) == 0 {
			l.Errorf("a registry that is too slow: %+v, %v", d, err)
		}
		l.free.Link().Heal()

		l.process.Link().Lag(time.Hour)
		l.commit(coord.Put("settle/x", nil))
		ctx, cancel := context.WithTimeoutCause(l.Context(), 500*time.Millisecond, errors.New("enough"))
		defer cancel()
		if _, err := dump.Take(ctx, l.free, dump.Schedulers{l.scheduler}, "settle"); err == nil || !strings.Contains(err.Error(), "enough") {
			l.Errorf("a context that ends: %v", err)
		}
		l.process.Link().Lag(0)
	})
}

// What is beyond the bounds is left out, of both sides, and the dump says so.
func TestCut(t *testing.T) {
	inVirtualTime(t, func(l *late) {
		whole := l.take()
		for _, bounds := range [][2]int{{5, 1 << 20}, {1000, 500}} {
			begin := time.Now()
			d, err := dump.TakeWithin(l.Context(), l.free, dump.Schedulers{l.scheduler}, "settle", bounds[0], bounds[1])
			if err != nil || !d.Cut || len(d.Nodes) == 0 || len(d.Nodes) >= len(whole.Nodes) || d.Differing > 0 {
				l.Errorf("%v: %+v, %v", bounds, d, err)
			}
			if time.Since(begin) > 0 {
				l.Errorf("%v: what was not read is taken for a difference", bounds)
			}
			if lines := text(l, d); !strings.HasSuffix(lines, "\n# cut: there are more nodes\n") {
				l.Errorf("%s", lines)
			}
		}
	})
}

// A scheduler that has stopped says why, and its view is not compared.
func TestStopped(t *testing.T) {
	inVirtualTime(t, func(l *late) {
		if err := l.scheduler.Shutdown(l.Context()); err != nil {
			l.Fatal(err)
		}
		l.commit(coord.Put("settle/x", nil))
		if d := l.take(); d.Status == nil || d.Status.Stopped == "" || d.Differing > 0 {
			l.Errorf("%+v", d)
		}
		l.commit(coord.DeleteTree("settle"))
		if d := l.take(); len(d.Nodes) > 1 || d.Status == nil {
			l.Errorf("%+v", d)
		}
	})
}

// writing changes a tree all the time, until stop is called. A store that stands still with its machine is
// away for some time.
func writing(t *testing.T, reg coord.Registry) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for i := 0; sleep.For(ctx, 5*time.Millisecond); i++ {
				a, b := fmt.Sprintf("settle/w%d/%d", w, i%5), fmt.Sprintf("settle/w%d/%d", w, (i+2)%5)
				_, err := reg.Commit(ctx, coord.Put(a, fmt.Append(nil, i)), coord.DeleteTree(b))
				if err != nil && ctx.Err() == nil && !errors.Is(err, coord.ErrUnavailable) && !errors.Is(err, coord.ErrUnknownOutcome) {
					t.Error(err)
					return
				}
			}
		})
	}
	return func() {
		cancel()
		writers.Wait()
	}
}

// A tree that moves all the time is no fault, although the view is always late.
func TestBusyTree(t *testing.T) {
	inVirtualTime(t, func(l *late) {
		l.process.Link().Lag(400 * time.Millisecond)
		stop := writing(l.T, l.free)
		began := time.Now()
		for range 30 {
			if d := l.take(); d.Differing > 0 {
				l.Fatalf("%+v", d.Nodes)
			}
			sleep.For(l.Context(), 7*time.Millisecond)
		}
		if stop(); time.Since(began) < 20*time.Second {
			l.Errorf("the view is late, and was hardly ever looked at again: it took %v", time.Since(began))
		}
		l.process.Link().Lag(0)
	})
}

// On every store a view comes to be what the registry has.
func TestTreeThatMoves(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		reg := open(t, d)
		s := runs(t, reg, job.Config{Name: "settle", Cron: rarely, ShardingTotalCount: 50}, "10.0.0.1")
		await(t, s, "all items", func(s job.Status) bool { return len(s.Items) == 50 })
		take := func() dump.Dump {
			t.Helper()
			d, err := dump.Take(t.Context(), reg, dump.Schedulers{s}, "settle")
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		stop := writing(t, reg)
		for range 3 {
			take()
		}
		stop()
		for began := time.Now(); ; {
			d := take()
			if d.Differing == 0 {
				break
			}
			if time.Since(began) > patience { // a view may be late on a busy machine
				t.Fatalf("still different: %+v", d.Nodes)
			}
		}
	})
}

// The order is that of ElasticJob: depth first, children in descending order of their names.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`[ab.-]{1,3}(/[ab.-]{1,2}){0,3}`)
		a, b := path.Draw(t, "a"), path.Draw(t, "b")
		want := 0
		for i, of := 0, [2][]string{strings.Split(a, "/"), strings.Split(b, "/")}; want == 0 && a != b; i++ {
			switch {
			case i == len(of[0]):
				want = -1
			case i == len(of[1]):
				want = 1
			default:
				want = strings.Compare(of[1][i], of[0][i])
			}
		}
		if got := dump.Descending(a, b); got > 0 != (want > 0) || got < 0 != (want < 0) {
			t.Fatalf("%q, %q: %d, want %d", a, b, got, want)
		}
	})
}
