package memory_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
)

// A walk shows the moment at which it began. A fault can hit each of its pages.
func TestWalkOfOneMomentAndFaultsOfItsPages(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		const nodes = 600
		a := dial(t, store, memory.Config{})
		for i := range nodes {
			commit(t, a, coord.Put(fmt.Sprintf("a%03d", i), []byte("old")))
		}
		walk := func() (seen int, last error) {
			for n, err := range a.Walk(t.Context(), "") {
				if last = err; err != nil {
					continue
				}
				if seen++; seen == 1 {
					commit(t, a, coord.Put("a599", []byte("new")), coord.Put("b", []byte("new")))
				}
				if string(n.Value) != "old" {
					t.Errorf("got %+v", n)
				}
			}
			return seen, last
		}
		if seen, err := walk(); seen != nodes || err != nil {
			t.Errorf("%d nodes, %v", seen, err)
		}
		commit(t, a, coord.Put("a599", []byte("old")), coord.Delete("b"))
		fault := store.Inject(memory.Fault{Method: memory.Walk, Skip: 1, Before: coord.ErrUnavailable})
		if seen, err := walk(); seen != 256 || !errors.Is(err, coord.ErrUnavailable) || fault.Hits() != 1 {
			t.Errorf("%d nodes, %v, %d calls were hit", seen, err, fault.Hits())
		}
	})
}
