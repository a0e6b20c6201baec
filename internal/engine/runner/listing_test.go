package runner_test

import (
	"fmt"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/engine/runner"
)

// Nodes that nobody knows, as many as somebody likes to write beside a configuration, are held up to a bound.
func TestBounds(t *testing.T) {
	const most, more = 20_000, 100
	tree, held := coord.NewTree(runner.Bounds()), 0
	for i := range most + more {
		if tree.Offer(coord.Node{Path: fmt.Sprintf("evil/%d", i)}) {
			held++
		}
	}
	if held != most {
		t.Errorf("%d are held, want %d", held, most)
	}
	if !tree.Offer(coord.Node{Path: "evil/config"}) || !tree.Offer(coord.Node{Path: "evil"}) || !tree.Offer(coord.Node{Path: "good/config"}) {
		t.Error("no room for a configuration")
	}
}
