package zk

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/coord/internal/statetable"
)

// The table in the comment of viewState is what its function does.
func TestViewStates(t *testing.T) {
	statetable.Check(t, "view_state.go", "viewState",
		[]string{"viewOpening", "viewLive", "viewRechecking", "viewStale", "viewLoading", "viewEnded"},
		[]string{"onWatcher", "onLoad", "onAnswer", "onStale", "onClose"},
		func(s, e int) int { return int(viewState(s).next(viewEvent(e))) })
}
