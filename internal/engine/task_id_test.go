package engine

import "testing"

func TestTaskIDs(t *testing.T) {
	seen := map[string]bool{}
	last := ""
	for range 10_000 {
		id, err := newTaskID()
		if err != nil {
			t.Fatal(err)
		}
		if seen[id] {
			t.Fatalf("%s twice", id)
		}
		if id < last {
			t.Fatalf("%s after %s: they do not sort by time", id, last)
		}
		seen[id], last = true, id
	}
}
