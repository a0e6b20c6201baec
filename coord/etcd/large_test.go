package etcd_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// Large values that somebody has written behind many small ones cost those who read the namespace no more than a page, and
// those who follow it nothing.
func TestLargeValues(t *testing.T) {
	const junk, size, others, most = 45, 1_200_000, 3000, 40 << 20
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	for i := range others / 100 {
		var ops []coord.Op
		for j := range 100 {
			ops = append(ops, coord.Put(fmt.Sprintf("a%d/%d", i, j), []byte("v")))
		}
		commit(t, r, ops...)
	}
	value := strings.Repeat("x", size) // more than a commit may have: it is written past the adapter
	for i := range junk {
		if _, err := server.Admin().Put(within(t), fmt.Sprintf("/test/evil/faults/%03d", i), value); err != nil {
			t.Fatal(err)
		}
	}
	before := heap()
	check := func(what string) {
		t.Helper()
		if now := heap(); now > before+most {
			t.Errorf("%s: %d MiB are held, and %d before", what, now>>20, before>>20)
		}
	}
	for _, path := range []string{"", "evil/faults"} {
		nodes, long := 0, 0
		for n, err := range r.Walk(within(t), path) {
			if err != nil {
				t.Fatal(err)
			}
			if nodes++; len(n.Value) == size {
				if long++; long%20 == 1 {
					check("walk")
				}
			}
		}
		if long != junk || path == "" && nodes != junk+others {
			t.Errorf("walk %q: %d nodes, %d of them long", path, nodes, long)
		}
	}
	if nodes, err := r.List(within(t), ""); err != nil || len(nodes) != others/100+1 {
		t.Errorf("list: %d nodes, %v", len(nodes), err)
	}
	check("list")
	paths := []string{"a0/0", "evil", "none"}
	for i := range junk {
		paths = append(paths, fmt.Sprintf("evil/faults/%03d", i))
	}
	long := 0
	for n, err := range r.GetAll(within(t), paths) {
		if err != nil && !errors.Is(err, coord.ErrNoNode) {
			t.Fatal(err)
		}
		if len(n.Value) == size {
			if long++; long%20 == 1 {
				check("get all")
			}
		}
	}
	if long != junk {
		t.Errorf("get all: %d long nodes", long)
	}
	for _, path := range []string{"", "evil/faults"} {
		v, err := r.View(within(t), path, coord.AllLevels, coord.Bounds{Value: func(string) int { return 1000 }})
		if err != nil {
			t.Fatal(err)
		}
		check("view")
		if _, err := server.Admin().Put(within(t), "/test/evil/faults/000", value); err != nil {
			t.Fatal(err)
		}
		held, omitted := 0, 0
		for n := range syncView(t, v).All("evil") {
			held += len(n.Value)
			omitted += n.Omitted
		}
		if held != 0 || omitted != junk*size {
			t.Errorf("view %q: %d bytes are held, %d left out", path, held, omitted)
		}
		v.Close()
	}
}

// heap returns how many bytes are held. What pools hold is given back with the second collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
