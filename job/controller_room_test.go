package job

import (
	"maps"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// An item whose claim has happened, although its answer was lost, runs as soon as that is settled:
// so it has room before items that are idle.
func TestClaimOfALostAnswerHasRoom(t *testing.T) {
	state := &jobtree.State{Items: make([]jobtree.Item, 3)}
	state.Items[2].Running = &jobtree.Mark{ID: "a1"}
	state.Items[1].Running = &jobtree.Mark{ID: "another"}
	w := &decide.World{State: state, Self: decide.Self{ID: "a1"}}
	if got, want := (&controller{}).barred(w, []int{0, 1, 2}, 1), map[int]bool{0: true, 1: true}; !maps.Equal(got, want) {
		t.Errorf("barred: %v, want %v", got, want)
	}
}
