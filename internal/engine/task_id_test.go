package engine

import (
	"testing"

	"go.uber.org/zap/zaptest"
)

func TestTaskIDs(t *testing.T) {
	c := &controller{log: zaptest.NewLogger(t)}
	seen := map[string]bool{}
	last := ""
	for range 10_000 {
		id := c.newTaskID()
		if seen[id] {
			t.Fatalf("%s twice", id)
		}
		if id < last {
			t.Fatalf("%s after %s: they do not sort by time", id, last)
		}
		seen[id], last = true, id
	}
}
