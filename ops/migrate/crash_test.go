package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/ops/migrate"
)

// errCrashed is what a process that is no more is told.
var errCrashed = errors.New("the process is no more")

// doom says at which commit, to either store, a process ends.
type doom struct {
	mu     sync.Mutex
	left   int  // commits until then; less than 0 is never
	isDone bool // the last commit is carried out
	isLate bool // … later, when the next process is at work
	over   bool
	late   []func()
	watch  func()
}

// mortal is a registry of a process that may end.
type mortal struct {
	coord.Registry
	doom *doom
}

func (m mortal) dead() error {
	m.doom.mu.Lock()
	defer m.doom.mu.Unlock()
	if m.doom.over {
		return errCrashed
	}
	return nil
}

func (m mortal) Get(ctx context.Context, path string) (coord.Node, error) {
	if err := m.dead(); err != nil {
		return coord.Node{}, err
	}
	return m.Registry.Get(ctx, path)
}

func (m mortal) List(ctx context.Context, path string) ([]coord.Node, error) {
	if err := m.dead(); err != nil {
		return nil, err
	}
	return m.Registry.List(ctx, path)
}

func (m mortal) Walk(ctx context.Context, path string) iter.Seq2[coord.Node, error] {
	if err := m.dead(); err != nil {
		return func(yield func(coord.Node, error) bool) { yield(coord.Node{}, err) }
	}
	return m.Registry.Walk(ctx, path)
}

func (m mortal) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	d := m.doom
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return 0, errCrashed
	}
	d.left--
	if d.left != 0 {
		revision, err := m.Registry.Commit(ctx, ops...)
		d.watch()
		return revision, err
	}
	d.over = true
	copied := append([]coord.Op{}, ops...)
	switch {
	case d.isDone:
		_, _ = m.Registry.Commit(ctx, copied...) // its outcome is known to nobody
		d.watch()
	case d.isLate:
		d.late = append(d.late, func() { _, _ = m.Registry.Commit(context.WithoutCancel(ctx), copied...) }) // as above
	}
	return 0, errCrashed
}

// A process may end at any commit, and that commit may still come when the next process is at work. At no
// moment a job can run on both sides, none is lost, and nobody can set one up that is on its way. In the
// end the target has all of it, whatever has happened.
func TestCrashes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		original := trees(rt)
		from, to := bare(rt), bare(rt)
		put(t, from, original)
		var stolen []string // that somebody may have set up
		check := func() {
			source, target := tree(t, from), tree(t, to)
			for _, name := range []string{"a", "a-b", "c"} {
				stash := ""
				for path, value := range source {
					if strings.HasPrefix(path, "~elasticjob/migration/") && strings.HasSuffix(path, "/"+name) {
						stash = value
					}
				}
				_, isThere := source[name+"/config"]
				_, hasArrived := target[name+"/config"]
				_, sourceNote := source["~elasticjob/removed/"+name]
				_, targetNote := target["~elasticjob/removed/"+name]
				_, isOurs := original[name+"/config"]
				switch {
				case !isOurs:
				case isThere && hasArrived:
					stolen = append(stolen, name+" can run on both sides")
				case !isThere && !hasArrived && !strings.Contains(stash, "---\n"+original[name+"/config"]):
					stolen = append(stolen, name+" is lost")
				case !isThere && !sourceNote:
					stolen = append(stolen, name+" can be set up at the source")
				case !isThere && !hasArrived && !targetNote:
					stolen = append(stolen, name+" can be set up at the target")
				}
			}
		}
		var late []func()
		attempt := func(last bool) error {
			d := &doom{left: -1, watch: func() {
				for len(late) > 0 { // by the next process's first commit at the latest: it has taken over the marks
					late[0]()
					late = late[1:]
				}
				check()
			}}
			if !last {
				d.left = rapid.IntRange(1, 40).Draw(rt, "commits")
				how := rapid.IntRange(0, 2).Draw(rt, "then")
				d.isDone, d.isLate = how == 1, how == 2
			}
			m := between(mortal{from, d}, mortal{to, d})
			isAbort := rapid.IntRange(0, 3).Draw(rt, "abort") == 0 && !last
			var err error
			if isAbort {
				_, err = m.Abort(rt.Context())
			} else {
				_, err = m.Run(rt.Context())
			}
			late = append(late, d.late...)
			if isAbort && err == nil {
				isUnharmed(rt, tree(t, from), tree(t, to), original)
			}
			return err
		}
		for range rapid.IntRange(0, 4).Draw(rt, "processes") {
			if err := attempt(false); err != nil && !errors.Is(err, errCrashed) && !errors.Is(err, migrate.ErrNone) {
				rt.Fatal(err)
			}
		}
		for range 2 { // the first mark of a process may have come late, and then the next one finds it
			if err := attempt(true); err != nil {
				rt.Fatal(err)
			}
		}
		if len(stolen) > 0 {
			rt.Fatal(stolen[0])
		}
		clean, oracle := bare(rt), bare(rt)
		put(t, clean, original)
		if _, err := between(clean, oracle).Run(rt.Context()); err != nil {
			rt.Fatal(err)
		}
		isSame(rt, tree(t, to), tree(t, oracle))
		isSame(rt, tree(t, from), tree(t, clean))
	})
}

// trees is a namespace of some jobs.
func trees(rt *rapid.T) map[string]string {
	nodes := map[string]string{"~elasticjob/calendars/holidays": "x", "~elasticjob/removed/gone": "by: otto\n"}
	for _, name := range []string{"a", "a-b", "c"} {
		if !rapid.Bool().Draw(rt, name) && name != "a" {
			continue
		}
		nodes[name] = "impl"
		nodes[name+"/config"] = "cron: 0 0 3 * * ?\nfailover: true\njobName: " + name + "\nshardingTotalCount: 3\n"
		nodes[name+"/schedule"] = "cron: 0 0 3 * * ?\nmisfire: true\nsince: 2026-01-01T00:00:00Z\n"
		for i := range rapid.SampledFrom([]int{1, 3, 150}).Draw(rt, "items") {
			nodes[fmt.Sprintf("%s/sharding/%d/fired", name, i)] = "2026-01-31T03:00:00.000Z"
			if i%7 == 1 {
				nodes[fmt.Sprintf("%s/sharding/%d/disabled", name, i)] = ""
			}
			if i%50 == 2 {
				nodes[fmt.Sprintf("%s/sharding/%d/running", name, i)] = "10.0.0.1@-@1-a"
			}
		}
	}
	return nodes
}

// bare is a registry of a store of its own.
func bare(rt *rapid.T) coord.Registry {
	s := memory.NewStore(memory.Options{})
	rt.Cleanup(s.Close)
	reg, err := s.Dial(context.Background(), memory.Config{Namespace: "ns"})
	if err != nil {
		rt.Fatal(err)
	}
	rt.Cleanup(func() { _ = reg.Close(context.Background()) }) // the store goes, too
	return reg
}

// isUnharmed checks that an aborted migration has left each job whole on one side, and no mark.
func isUnharmed(rt *rapid.T, source, target, original map[string]string) {
	for path, value := range original {
		name, _, _ := strings.Cut(path, "/")
		if _, hasArrived := target[name+"/config"]; name != "~elasticjob" && !hasArrived && source[path] != value {
			rt.Fatalf("aborted: %s is %q at the source, was %q", path, source[path], value)
		}
	}
	for _, nodes := range []map[string]string{source, target} {
		for path, value := range nodes {
			if strings.HasPrefix(path, "~elasticjob/migration/") {
				rt.Fatalf("aborted: %s is left", path)
			}
			if name, isNote := strings.CutPrefix(path, "~elasticjob/removed/"); isNote && strings.Contains(value, "moved") {
				if _, isThere := source[name+"/config"]; isThere {
					rt.Fatalf("aborted: %s is left", path)
				}
			}
		}
	}
}

// isSame compares two trees but for notes, which have a time.
func isSame(rt *rapid.T, got, want map[string]string) {
	for _, nodes := range []map[string]string{got, want} {
		maps.DeleteFunc(nodes, func(path, value string) bool { return value == "" && !strings.HasSuffix(path, "/disabled") })
		for path := range nodes {
			if strings.HasPrefix(path, "~elasticjob/removed/") {
				nodes[path] = "a note"
			}
			if strings.HasSuffix(path, "/original") {
				delete(nodes, path) // a task id, which has a number of the store
			}
		}
	}
	for path := range want {
		if got[path] != want[path] {
			rt.Fatalf("%s is %q, want %q", path, got[path], want[path])
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			rt.Fatalf("%s is left", path)
		}
	}
}
