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

// fate says what becomes of a commit that has no answer.
type fate int

const (
	isLost fate = iota // it is not carried out
	isDone
	isLate // it is carried out later
)

// doom says at which commit, to either store, a process ends, and which commit before has no answer.
type doom struct {
	mu         sync.Mutex
	left       int // commits until then; less than 0 is never
	last       fate
	over       bool
	unanswered int // commits until then; less than 0 is never
	answer     fate
	delay      int // commits after which a late one is carried out
	late       []func()
	watch      func()
}

// mortal is a registry of a process that may end.
type mortal struct {
	coord.Registry
	doom *doom
}

// carryOut carries out what is late.
func (d *doom) carryOut() {
	for _, do := range d.late {
		do()
	}
	d.late = nil
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
	defer d.watch()
	if d.delay--; d.delay == 0 {
		d.carryOut()
	}
	d.left--
	d.unanswered--
	copied := append([]coord.Op{}, ops...)
	unknown := func(f fate) {
		do := func() { _, _ = m.Registry.Commit(context.WithoutCancel(ctx), copied...) } // its outcome is known to nobody
		switch f {
		case isDone:
			do()
		case isLate:
			d.late = append(d.late, do)
		}
	}
	switch {
	case d.left == 0:
		d.over = true
		unknown(d.last)
		return 0, errCrashed
	case d.unanswered == 0:
		unknown(d.answer)
		return 0, coord.ErrUnknownOutcome
	}
	return m.Registry.Commit(ctx, ops...)
}

// A process may end at any commit, and that commit may still come when the next process is at work. At no
// moment a job can run on both sides, none is lost, and nobody can set one up that is on its way. In the
// end the target has all of it, whatever has happened.
func TestCrashes(t *testing.T) {
	anyFate := rapid.SampledFrom([]fate{isLost, isDone, isLate})
	rapid.Check(t, func(rt *rapid.T) {
		original := trees(rt)
		sourceStore, from := bare(rt)
		targetStore, to := bare(rt)
		put(t, from, original)
		if rapid.Bool().Draw(rt, "a was removed at the target, but for a rest") {
			put(t, to, map[string]string{"a/sharding/9/fired": "2025-01-31T03:00:00.000Z", "~elasticjob/removed/a": "by: otto\n"})
		}
		arrived := map[string]int64{} // the newest revision of jobs that have arrived
		var stolen []string           // that somebody may have set up
		check := func() {
			source, target := sourceStore.Snapshot("ns"), targetStore.Snapshot("ns")
			for _, name := range []string{"a", "a-b", "c"} {
				stash := ""
				for _, id := range source.Children("~elasticjob/migration") {
					if n, isThere := source.Get("~elasticjob/migration/" + id + "/" + name); isThere {
						stash = string(n.Value)
					}
				}
				isThere, hasArrived := source.Exists(name+"/config"), target.Exists(name+"/config")
				sourceNote, targetNote := source.Exists("~elasticjob/removed/"+name), target.Exists("~elasticjob/removed/"+name)
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
				case hasArrived:
					revision := int64(0)
					for n := range target.All(name) {
						revision = max(revision, n.Modified)
					}
					if was, isKnown := arrived[name]; isKnown && was != revision {
						stolen = append(stolen, name+" was written to after it had arrived")
					}
					arrived[name] = revision
				}
			}
		}
		var late []func()
		attempt := func(last, isQuiet bool) error {
			after := rapid.IntRange(1, 15).Draw(rt, "what is late comes after")
			d := &doom{left: -1, watch: func() {
				if after--; after == 0 {
					for _, do := range late {
						do()
					}
					late = nil
				}
				check()
			}}
			if !last {
				d.left, d.last = rapid.IntRange(1, 40).Draw(rt, "commits"), anyFate.Draw(rt, "then")
			}
			if !isQuiet && rapid.Bool().Draw(rt, "an answer is lost") {
				d.unanswered, d.answer = rapid.IntRange(1, 40).Draw(rt, "answers"), anyFate.Draw(rt, "it is")
				d.delay = d.unanswered + rapid.IntRange(1, 20).Draw(rt, "later")
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
			if err := attempt(false, false); err != nil && !errors.Is(err, errCrashed) && !errors.Is(err, migrate.ErrNone) && !errors.Is(err, migrate.ErrTakenOver) {
				rt.Fatal(err)
			}
		}
		for _, isQuiet := range []bool{false, true} { // the first mark of a process may have come late, and then the next one finds it
			err := attempt(true, isQuiet)
			if errors.Is(err, migrate.ErrTakenOver) { // by a process that has ended: what it had sent has come late
				err = attempt(true, true)
			}
			if err != nil {
				rt.Fatal(err)
			}
			for _, do := range late {
				do()
			}
			late = nil
			check()
		}
		if len(stolen) > 0 {
			rt.Fatal(stolen[0])
		}
		_, clean := bare(rt)
		_, oracle := bare(rt)
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
func bare(rt *rapid.T) (*memory.Store, coord.Registry) {
	s := memory.NewStore(memory.Options{})
	rt.Cleanup(s.Close)
	reg, err := s.Dial(context.Background(), memory.Config{Namespace: "ns"})
	if err != nil {
		rt.Fatal(err)
	}
	rt.Cleanup(func() { _ = reg.Close(context.Background()) }) // the store goes, too
	return s, reg
}

// isUnharmed checks that an aborted migration has left each job whole on one side, and none on its way.
func isUnharmed(rt *rapid.T, source, target, original map[string]string) {
	for path, value := range original {
		name, _, _ := strings.Cut(path, "/")
		if _, hasArrived := target[name+"/config"]; name != "~elasticjob" && !hasArrived && source[path] != value {
			rt.Fatalf("aborted: %s is %q at the source, was %q", path, source[path], value)
		}
	}
	for _, nodes := range []map[string]string{source, target} {
		for path, value := range nodes {
			// A mark without jobs may have come late. Who runs next takes it for one that has just begun.
			if strings.HasPrefix(path, "~elasticjob/migration/") && strings.Count(path, "/") > 2 {
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
