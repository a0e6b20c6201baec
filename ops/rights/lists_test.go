package rights_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/ops/rights"
)

// lists are access lists in memory.
type lists struct {
	loggedIn []zk.Identity
	before   func(path string) error // each SetACL; nil is nothing

	mu    sync.Mutex
	nodes map[string]zk.Guarded
}

func newLists(loggedIn ...zk.Identity) *lists {
	return &lists{loggedIn: loggedIn, nodes: map[string]zk.Guarded{}}
}

func (l *lists) put(path string, owner coord.SessionID, acl ...zk.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nodes[path] = zk.Guarded{Path: path, ACL: acl, Owner: owner, Version: l.nodes[path].Version + 1}
}

func (l *lists) get(path string) zk.ACL {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.nodes[path].ACL
}

func (l *lists) Identities() []zk.Identity { return l.loggedIn }

func (l *lists) ACLs(ctx context.Context, _ string) iter.Seq2[zk.Guarded, error] {
	return func(yield func(zk.Guarded, error) bool) {
		l.mu.Lock()
		nodes := maps.Clone(l.nodes)
		l.mu.Unlock()
		for _, path := range slices.Sorted(maps.Keys(nodes)) {
			if ctx.Err() != nil {
				yield(zk.Guarded{}, context.Cause(ctx))
				return
			}
			if !yield(nodes[path], nil) {
				return
			}
		}
	}
}

func (l *lists) SetACL(_ context.Context, path string, acl zk.ACL, version int64) error {
	if l.before != nil {
		if err := l.before(path); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	g, ok := l.nodes[path]
	switch {
	case !ok:
		return coord.ErrNoNode
	case g.Version != version:
		return coord.ErrVersion
	}
	l.nodes[path] = zk.Guarded{Path: path, ACL: acl, Owner: g.Owner, Version: version + 1}
	return nil
}

func entry(i zk.Identity, p zk.Permissions) zk.Entry { return zk.Entry{Identity: i, Permissions: p} }

// Whatever the lists are: after Add the new user may do what the former one may, and nobody may do
// less. After Remove the former one may do nothing, and everybody else what he might. No list is
// ever empty, and what is repeated changes nothing.
func TestChangeOfAnyLists(t *testing.T) {
	users := []zk.Identity{zk.Everybody(), identity(t, "a:1"), identity(t, "a:2"), identity(t, "b:1")}
	rapid.Check(t, func(t *rapid.T) {
		two := rapid.Permutation(users).Draw(t, "users")
		change := rights.Change{From: two[0], To: two[1]}
		l := newLists(users...)
		was := map[string]zk.ACL{}
		for n := range rapid.IntRange(0, 20).Draw(t, "nodes") {
			var acl zk.ACL
			for range rapid.IntRange(1, 4).Draw(t, "entries") {
				acl = append(acl, entry(rapid.SampledFrom(users).Draw(t, "user"), zk.Permissions(rapid.IntRange(1, int(zk.All)).Draw(t, "permissions"))))
			}
			path := fmt.Sprint("n", n)
			l.put(path, 0, acl...)
			was[path] = acl
		}
		check := func(step string, former bool) {
			for path, acl := range was {
				now := l.get(path)
				for _, u := range users {
					want := acl.Of(u)
					switch u {
					case change.From:
						if !former {
							want = 0
						}
					case change.To:
						want |= acl.Of(change.From)
					}
					if now.Of(u) != want {
						t.Fatalf("%s: %s: %v may %v, want %v; before %v, now %v", step, path, u, now.Of(u), want, acl, now)
					}
				}
			}
		}
		if rapid.Bool().Draw(t, "adds first") {
			if _, err := change.Add(context.Background(), l, rights.Options{}); err != nil {
				t.Fatal(err)
			}
			check("add", true)
		}
		if _, err := change.Remove(context.Background(), l, rights.Options{}); err != nil {
			t.Fatal(err)
		}
		check("remove", false)
		if r, err := change.Remove(context.Background(), l, rights.Options{}); err != nil || r.Changed != 0 || r.Passes != 1 {
			t.Fatalf("again: %+v, %v", r, err)
		}
	})
}

func TestChangeRefused(t *testing.T) {
	from, to := identity(t, "a:1"), identity(t, "a:2")
	for name, tc := range map[string]struct {
		change   rights.Change
		loggedIn []zk.Identity
		want     error
		says     string
	}{
		"the same":      {change: rights.Change{From: from, To: from}, loggedIn: []zk.Identity{from}, says: "two users"},
		"nobody":        {change: rights.Change{To: to}, loggedIn: []zk.Identity{to}, says: "two users"},
		"not logged in": {change: rights.Change{From: from, To: to}, loggedIn: []zk.Identity{from}, want: rights.ErrLockout, says: `"digest:a"`},
	} {
		l := newLists(tc.loggedIn...)
		l.put("", 0, entry(from, zk.All))
		for step, do := range map[string]func(context.Context, rights.Lists, rights.Options) (rights.Report, error){"add": tc.change.Add, "remove": tc.change.Remove} {
			if r, err := do(t.Context(), l, rights.Options{}); err == nil || tc.want != nil && !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), to.ID) || r.Passes != 0 {
				t.Errorf("%s, %s: %+v, %v", name, step, r, err)
			}
		}
	}
}

// Whoever cannot be told apart, or not be changed, is reported, and the others are changed.
func TestChangeWithNodesOfOthers(t *testing.T) {
	from, to := identity(t, "a:1"), identity(t, "a:2")
	change := rights.Change{From: from, To: to}
	l := newLists(to)
	l.put("a", 0, entry(from, zk.All))
	l.nodes["b"] = zk.Guarded{Path: "b", Denied: fmt.Errorf("b: %w", coord.ErrDenied)}
	l.put("c", 0, entry(from, zk.Read))
	l.before = func(path string) error {
		if path == "c" {
			return coord.ErrDenied
		}
		return nil
	}
	r, err := change.Add(t.Context(), l, rights.Options{})
	if !errors.Is(err, coord.ErrDenied) || r.Denied.Count != 2 || r.Changed != 1 || !strings.Contains(err.Error(), "2, such as") {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, err := change.Remove(t.Context(), l, rights.Options{}); !errors.Is(err, coord.ErrDenied) || r.Changed != 0 || l.get("a").Of(from) == 0 {
		t.Errorf("remove: %+v, %v", r, err)
	}
}

// A program that goes on making nodes for the former user alone ends the step, sooner or later.
func TestChangeThatDoesNotSettle(t *testing.T) {
	from, to := identity(t, "a:1"), identity(t, "a:2")
	l := newLists(to)
	l.put("0", 0, entry(from, zk.All))
	made := 0
	l.before = func(string) error {
		made++
		l.put(fmt.Sprint(made), 0, entry(from, zk.All))
		return nil
	}
	r, err := rights.Change{From: from, To: to}.Add(t.Context(), l, rights.Options{})
	if !errors.Is(err, rights.ErrUnsettled) || r.Passes != 10 || r.Changed != 10 {
		t.Errorf("got %+v, %v", r, err)
	}
}

// What another program changes or removes meanwhile, and answers that are lost, take another pass.
func TestChangeBesideOthers(t *testing.T) {
	from, to, other := identity(t, "a:1"), identity(t, "a:2"), identity(t, "b:1")
	l := newLists(to)
	for _, path := range []string{"changed", "lost", "removed"} {
		l.put(path, 0, entry(from, zk.All))
	}
	done := map[string]bool{}
	var mu sync.Mutex
	l.before = func(path string) error {
		mu.Lock()
		defer mu.Unlock()
		if done[path] {
			return nil
		}
		done[path] = true
		switch path {
		case "changed":
			l.put(path, 0, entry(from, zk.All), entry(other, zk.Read))
		case "lost":
			return coord.ErrUnknownOutcome
		case "removed":
			l.mu.Lock()
			delete(l.nodes, path)
			l.mu.Unlock()
		}
		return nil
	}
	r, err := rights.Change{From: from, To: to}.Remove(t.Context(), l, rights.Options{})
	if err != nil || r.Changed != 2 || l.get("changed").Of(other) != zk.Read || l.get("lost").Of(to) != zk.All || len(l.get("removed")) != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
}

// A step that was interrupted goes on where it was. Progress tells how far it is.
func TestChangeIsResumed(t *testing.T) {
	from, to := identity(t, "a:1"), identity(t, "a:2")
	change := rights.Change{From: from, To: to}
	l := newLists(to)
	const nodes = 5000
	for n := range nodes {
		l.put(fmt.Sprint(n), 0, entry(from, zk.All))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	first, err := change.Add(ctx, l, rights.Options{Progress: func(r rights.Report) {
		if r.Nodes == 2000 {
			cancel(enough)
		}
	}})
	if !errors.Is(err, enough) || first.Changed == 0 || first.Changed > 2100 {
		t.Errorf("got %+v, %v", first, err)
	}
	var seen []int
	second, err := change.Add(t.Context(), l, rights.Options{Progress: func(r rights.Report) { seen = append(seen, r.Nodes) }})
	if err != nil || first.Changed+second.Changed != nodes || len(seen) != 10 || second.Passes != 2 {
		t.Errorf("got %+v, %v after %+v; progress %v", second, err, first, seen)
	}
	l.put("process", 1, entry(from, zk.All), entry(to, zk.All))
	if r, err := change.Look(t.Context(), l); err != nil || r.Lasting.Both != nodes || r.Ephemeral.Both != 1 || r.Changed != 0 || len(r.Waiting.Paths) != 1 {
		t.Errorf("look: %+v, %v", r, err)
	}
}
