package coordtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

func viewMany(e *env) {
	r, s := e.dial(), e.dial()
	views := make([]coord.View, 50)
	for i := range views {
		views[i] = s.view(fmt.Sprintf("a/%d", i%10))
	}
	for i := range 10 {
		r.commit(coord.Put(fmt.Sprintf("a/%d/x", i), fmt.Append(nil, i)))
	}
	for i, v := range views {
		e.sync(v)
		if n, _ := v.Snapshot().Get(fmt.Sprintf("a/%d/x", i%10)); string(n.Value) != fmt.Sprint(i%10) || v.Snapshot().Exists(fmt.Sprintf("a/%d/x", (i+1)%10)) {
			e.Errorf("view %d shows %s", i, describe(v.Snapshot()))
		}
		if i%2 == 0 {
			v.Close()
		}
	}
	r.commit(coord.Put("a/1/y", nil))
	e.sync(views[1])
	if !views[1].Snapshot().Exists("a/1/y") {
		e.Error("a view that is open was closed with the others")
	}
}

// viewStorm lets writers change a small tree at random while views of it are checked:
// no node ever goes back, and at the end they are equal to the store.
func viewStorm(e *env) {
	const commits = 1_000
	seed := rand.Uint64()
	e.Logf("seed %d", seed)
	registries := []*client{e.dial(), e.dial(), e.dial(), e.dial()}
	reader := e.dial()
	views := map[string]coord.View{}
	for _, root := range []string{"", "t", "t/1", "none"} {
		views[root] = reader.view(root)
	}
	views["t/2"] = registries[0].view("t/2")

	begin := time.Now()
	done := make(chan struct{})
	var checkers sync.WaitGroup
	for root, v := range views {
		checkers.Go(func() { e.checkMonotonic(v, root, done) })
	}
	e.storm(seed, slices.Concat(registries, registries), commits, randomOps)
	took := time.Since(begin)
	for root, v := range views {
		if err := v.Sync(e.ctx); err != nil {
			e.Errorf("sync of %q: %v", root, err)
		}
	}
	close(done)
	checkers.Wait()
	for root, v := range views {
		e.wantEqual(v.Snapshot(), reader.load(root))
	}
	e.Logf("%d commits in %v, %d nodes at the end, seen in %v", commits, took.Round(time.Millisecond), views[""].Snapshot().Len(), time.Since(begin).Round(time.Millisecond))
}

// storm has each writer commit its share of random commits, all at once.
func (e *env) storm(seed uint64, writers []*client, commits int, ops func(*rand.Rand) []coord.Op) {
	var running sync.WaitGroup
	for w, r := range writers {
		random := rand.New(rand.NewPCG(seed, uint64(w)))
		running.Go(func() {
			for range commits / len(writers) {
				ops := ops(random)
				if _, err := r.Commit(e.ctx, ops...); err != nil && !isConflict(err) {
					e.Errorf("commit %v: %v", ops, err)
					return
				}
			}
		})
	}
	running.Wait()
}

func randomOps(random *rand.Rand) []coord.Op {
	for {
		var ops []coord.Op
		for range 1 + random.IntN(4) {
			path := fmt.Sprintf("t/%d", random.IntN(12))
			for range random.IntN(3) {
				path += fmt.Sprintf("/%d", random.IntN(4))
			}
			value := fmt.Append(nil, random.IntN(1000))
			switch random.IntN(10) {
			case 0:
				ops = append(ops, coord.Delete(path))
			case 1:
				ops = append(ops, coord.DeleteTree(path))
			case 2:
				ops = append(ops, coord.Create(path, value))
			case 3:
				// No other operation writes below this depth: ephemeral nodes have no children.
				ops = append(ops, coord.CreateEphemeral(path+"/x/e", value))
			default:
				ops = append(ops, coord.Put(path, value))
			}
		}
		if coord.ValidateCommit(ops...) == nil {
			return ops
		}
	}
}

// viewRecreated removes nodes and creates them again, faster than a view can read them over a
// slow link. It compares the view with the store after each round.
func viewRecreated(e *env) {
	const rounds, commits = 60, 10
	seed := rand.Uint64()
	e.Logf("seed %d", seed)
	writers := []*client{e.dial(), e.dial(), e.dial()}
	reader := e.dial()
	v := reader.view("")
	reader.Delay(2 * time.Millisecond)
	for round := range uint64(rounds) {
		e.storm(seed+round, writers, commits*len(writers), randomOp)
		e.sync(v)
		e.wantEqual(v.Snapshot(), writers[0].load(""))
		if e.Failed() {
			e.Fatalf("in round %d", round)
		}
	}
}

// randomOp returns an operation on one of few nodes, so that many hit the same.
func randomOp(random *rand.Rand) []coord.Op {
	node := fmt.Sprintf("t/%d", random.IntN(2))
	value := fmt.Append(nil, random.IntN(1000))
	switch random.IntN(5) {
	case 0:
		return []coord.Op{coord.DeleteTree(node)}
	case 1:
		return []coord.Op{coord.DeleteTree("t")}
	case 2:
		return []coord.Op{coord.Put(node, value)}
	default:
		return []coord.Op{coord.Put(fmt.Sprintf("%s/%d", node, random.IntN(2)), value)}
	}
}

// checkMonotonic checks until done that the numbers of each node in a view only grow, also when the node
// is removed and created again.
func (e *env) checkMonotonic(v coord.View, root string, done <-chan struct{}) {
	last := map[string]coord.Node{}
	for seen := 0; ; seen++ {
		changed := v.Changed()
		for n := range v.Snapshot().All("") {
			before, known := last[n.Path]
			if !coord.Within(n.Path, root) {
				e.Errorf("the view of %q shows %s", root, n.Path)
			}
			if n.Modified == 0 {
				continue // a parent that nobody wrote
			}
			if known && (n.Modified < before.Modified || n.Created < before.Created) {
				e.Errorf("the view of %q went back: %+v after %+v", root, n, before)
			}
			if known && n.Modified == before.Modified && (n.Version != before.Version || string(n.Value) != string(before.Value)) {
				e.Errorf("the view of %q: %+v and %+v have one number", root, n, before)
			}
			last[n.Path] = n
		}
		select {
		case <-changed:
		case <-done:
			e.Logf("the view of %q: %d states looked at", root, seen+1)
			return
		case <-e.ctx.Done():
			e.Errorf("the view of %q: %v", root, v.Err())
			return
		}
	}
}
