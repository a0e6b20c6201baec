package memory_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
)

// What only this store promises, where others may differ.
func TestStrictSide(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a := dial(t, store, memory.Config{})

		before := store.Revision()
		commit(t, a, coord.Create("p/q/x", nil), coord.Put("y", nil))
		commit(t, a, coord.Delete("p/q/x"))
		commit(t, a, coord.Exists("y"))
		commit(t, a, coord.DeleteTree("none"))
		if got := store.Revision() - before; got != 2 {
			t.Errorf("two changes made %d revisions", got)
		}
		if n, err := a.Get(t.Context(), "p/q"); err != nil || n.Created != before+1 || n.Version != 0 {
			t.Errorf("a parent does not stay: %+v, %v", n, err)
		}
		if _, err := a.Commit(t.Context(), coord.Create("p", nil)); !errors.Is(err, coord.ErrNodeExists) {
			t.Errorf("create of a parent: %v", err)
		}

		commit(t, a, coord.Set("y", nil))
		commit(t, a, coord.Delete("y"))
		commit(t, a, coord.Create("y", nil))
		commit(t, a, coord.AtVersion("y", 0)) // the version counts from 0 again

		commit(t, a, coord.CreateEphemeral("e", nil))
		for _, ops := range [][]coord.Op{
			{coord.Create("e/x", nil)},
			{coord.Put("e/x/y", nil)},
			{coord.CreateEphemeral("e/x", nil)},
			{coord.CreateEphemeral("f", nil), coord.Create("f/x", nil)},
			{coord.Put("f/x/y", nil), coord.CreateEphemeral("f", nil)},
		} {
			if _, err := a.Commit(t.Context(), ops...); !errors.Is(err, coord.ErrInvalidCommit) {
				t.Errorf("%v: got %v", ops, err)
			}
		}
		if there(t, a, "f") {
			t.Error("a refused commit was done in part")
		}
	})
}

func TestSeedFixesRevisionsAndSessions(t *testing.T) {
	begin := func(seed uint64) (int64, coord.SessionID) {
		store := memory.NewStore(memory.Options{Seed: seed})
		defer store.Close()
		r, err := store.Dial(t.Context(), memory.Config{Namespace: "n"})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close(context.Background())
		return store.Revision(), session(t, r).ID()
	}
	r1, s1 := begin(7)
	r2, s2 := begin(7)
	r3, s3 := begin(0)
	if r1 != r2 || s1 != s2 || r1 == r3 || s1 == s3 {
		t.Errorf("seed 7: %d %d, %d %d; none: %d %d", r1, s1, r2, s2, r3, s3)
	}
}

func TestConfig(t *testing.T) {
	store := memory.NewStore(memory.Options{})
	defer store.Close()
	for _, tc := range []struct {
		config memory.Config
		says   string
	}{
		{memory.Config{}, "namespace"},
		{memory.Config{Namespace: "/a"}, "namespace"},
		{memory.Config{Namespace: "a", SessionTimeout: time.Millisecond}, "at least 1s"},
		{memory.Config{Namespace: "a", RequestTimeout: -1}, "request time-out"},
		{memory.Config{Namespace: "a", Logger: zap.NewNop(), Slog: slog.Default()}, "Logger and Slog"},
	} {
		_, err := store.Dial(t.Context(), tc.config)
		if !errors.Is(err, coord.ErrInvalidConfig) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%+v: got %v, want ErrInvalidConfig with %q", tc.config, err, tc.says)
		}
	}
}

func TestSlogIsTold(t *testing.T) {
	var log strings.Builder
	store := memory.NewStore(memory.Options{})
	defer store.Close()
	r := dial(t, store, memory.Config{Name: "a", Slog: slog.New(slog.NewTextHandler(&log, nil))})
	if want := fmt.Sprintf(`level=INFO msg="session opened" namespace=test registry=a session=%d`, session(t, r).ID()); !strings.Contains(log.String(), want) {
		t.Errorf("the log is %q, want %q", log.String(), want)
	}
}

func TestSessionIsLogged(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		core, logs := observer.New(zap.InfoLevel)
		r := dial(t, store, memory.Config{Logger: zap.New(core)})
		session(t, r)
		r.Link().Cut()
		r.Link().Heal()
		r.Link().Cut()
		time.Sleep(time.Minute)
		r.Link().Heal()
		session(t, r)
		var got []string
		for _, entry := range logs.All() {
			got = append(got, entry.Message)
		}
		want := []string{"session opened", "session suspended", "session connected again", "session suspended", "session lost", "session opened"}
		if !slices.Equal(got, want) {
			t.Errorf("logged %q, want %q", got, want)
		}
	})
}

// The store agrees with a map that is changed exactly as the contract says.
func TestCommitsAgreeWithAModel(t *testing.T) {
	path := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "a-"}), 1, 3).Draw(t, "path"), "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		store := memory.NewStore(memory.Options{})
		defer store.Close()
		ctx := context.Background()
		var registries [2]*memory.Registry
		for i := range registries {
			r, err := store.Dial(ctx, memory.Config{Namespace: "n"})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close(ctx)
			registries[i] = r
		}
		m := model{}
		for range rapid.IntRange(1, 40).Draw(t, "commits") {
			r := registries[rapid.IntRange(0, 1).Draw(t, "registry")]
			s, err := r.Session(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var ops []coord.Op
			for range rapid.IntRange(1, 4).Draw(t, "ops") {
				kind := coord.OpKind(rapid.IntRange(int(coord.OpCreate), int(coord.OpOwned)).Draw(t, "kind"))
				ops = append(ops, coord.Op{Kind: kind, Path: path.Draw(t, "path"), Value: []byte{byte(len(m))}, Version: int64(rapid.IntRange(0, 2).Draw(t, "version"))})
			}
			next, wantErr := m.commit(s.ID(), ops)
			_, err = r.Commit(ctx, ops...)
			if (err == nil) != (wantErr == nil) || wantErr != nil && !errors.Is(err, wantErr) {
				t.Fatalf("%v: got %v, want %v", ops, err, wantErr)
			}
			m = next
			for _, r := range registries {
				v, err := r.View(ctx, "a", coord.AllLevels)
				if err != nil {
					t.Fatal(err)
				}
				m.check(t, "a", v.Snapshot())
				v.Close()
			}
			m.check(t, "", store.Snapshot("n"))
		}
		registries[0].Close(ctx)
		registries[1].Close(ctx)
		maps.DeleteFunc(m, func(_ string, n coord.Node) bool { return n.Ephemeral() })
		m.check(t, "", store.Snapshot("n"))
		if store.Sessions() != 0 || store.Watches() != 0 {
			t.Fatalf("%d sessions, %d watches left", store.Sessions(), store.Watches())
		}
	})
}

type model map[string]coord.Node

func (m model) below(path string) bool {
	for p := range m {
		if p != path && coord.Within(p, path) {
			return true
		}
	}
	return false
}

func (m model) commit(id coord.SessionID, ops []coord.Op) (model, error) {
	if err := coord.ValidateCommit(ops...); err != nil {
		return m, coord.ErrInvalidCommit
	}
	for _, op := range ops {
		n, exists := m[op.Path]
		switch op.Kind {
		case coord.OpPut, coord.OpDeleteTree:
			continue
		case coord.OpCreate, coord.OpCreateEphemeral, coord.OpAbsent:
			if exists {
				return m, coord.ErrNodeExists
			}
			continue
		}
		switch {
		case !exists:
			return m, coord.ErrNoNode
		case (op.Kind == coord.OpSetAt || op.Kind == coord.OpAtVersion) && n.Version != op.Version:
			return m, coord.ErrVersion
		case op.Kind == coord.OpDelete && m.below(op.Path):
			return m, coord.ErrNotEmpty
		case op.Kind == coord.OpOwned && n.Owner != id:
			return m, coord.ErrNotOwner
		}
	}
	next := maps.Clone(m)
	// Parents come first, so that no write has to make a parent that the commit writes too.
	ops = slices.SortedFunc(slices.Values(ops), func(a, b coord.Op) int { return len(a.Path) - len(b.Path) })
	for _, op := range ops {
		n, exists := next[op.Path]
		switch op.Kind {
		case coord.OpCreate, coord.OpCreateEphemeral, coord.OpPut, coord.OpSet, coord.OpSetAt:
			if exists {
				n.Version++
			}
			n.Path, n.Value = op.Path, op.Value
			if op.Kind == coord.OpCreateEphemeral {
				n.Owner = id
			}
			next[op.Path] = n
			for p := coord.Parent(op.Path); p != ""; p = coord.Parent(p) {
				if _, ok := next[p]; !ok {
					next[p] = coord.Node{Path: p}
				}
				if n := next[p]; n.Ephemeral() {
					return m, coord.ErrInvalidCommit
				}
			}
		case coord.OpDelete:
			delete(next, op.Path)
		case coord.OpDeleteTree:
			maps.DeleteFunc(next, func(p string, _ coord.Node) bool { return coord.Within(p, op.Path) })
		}
	}
	return next, nil
}

func (m model) check(t *rapid.T, root string, s coord.Snapshot) {
	count := 0
	for p, want := range m {
		if !coord.Within(p, root) {
			continue
		}
		count++
		got, ok := s.Get(p)
		if !ok || got.Version != want.Version || string(got.Value) != string(want.Value) || got.Owner != want.Owner {
			t.Fatalf("%q: got %+v (%v), want %+v", p, got, ok, want)
		}
	}
	if s.Len() != count {
		t.Fatalf("%d nodes below %q, want %d", s.Len(), root, count)
	}
}

// A thousand registries, each of which commits once a minute for ten minutes and sees
// what the others do, leave no session and no watch behind.
func TestAThousandRegistries(t *testing.T) {
	inBubble(t, memory.Options{Lag: 10 * time.Millisecond}, func(t *testing.T, store *memory.Store) {
		const registries, minutes = 1000, 10
		finished := make(chan int, registries)
		var all []*memory.Registry
		for i := range registries {
			r := dial(t, store, memory.Config{})
			all = append(all, r)
			v, err := r.View(t.Context(), "job", coord.AllLevels)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				looked := 0
				defer func() { finished <- looked }()
				tick := time.NewTicker(time.Minute)
				defer tick.Stop()
				for done := 0; done < minutes; {
					changed := v.Changed()
					select {
					case <-tick.C:
						if _, err := r.Commit(t.Context(), coord.Put(fmt.Sprintf("job/%d", i), nil)); err != nil {
							t.Error(err)
						}
						done++
					case <-changed:
						looked++
					}
				}
				_ = v.Sync(t.Context())
				if got := v.Snapshot().Len(); got != registries+1 {
					t.Errorf("registry %d sees %d nodes", i, got)
				}
			}()
		}
		for range registries {
			// What is committed at one instant is seen at one instant.
			if looked := <-finished; looked > minutes {
				t.Errorf("woken %d times in %d minutes", looked, minutes)
			}
		}
		synctest.Wait()
		for _, r := range all {
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if store.Sessions() != 0 || store.Watches() != 0 {
			t.Errorf("%d sessions, %d watches left", store.Sessions(), store.Watches())
		}
	})
}
