package jobtree_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func TestMoving(t *testing.T) {
	for _, d := range []jobtree.MovingDocument{
		{Step: jobtree.Arriving, Migration: "A-B"},
		{Step: jobtree.Arrived, Migration: "A-B"},
		{Step: jobtree.Leaving, Migration: "A-B", Config: []byte("---\ncron: x\n---\n")},
		{Step: jobtree.Leaving, Migration: "A-B", Config: []byte{}},
	} {
		got, err := jobtree.DecodeMoving(jobtree.EncodeMoving(d))
		if diff := cmp.Diff(d, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	for _, bad := range []string{"", "leaving", "step: gone\nmigration: A-B\n", "step: \n", "step: leaving\n", "step: leaving\nmigration: A-B\n", "step: arrived\nmigration: A-B\n---\n"} {
		if d, err := jobtree.DecodeMoving([]byte(bad)); err == nil || d.Step != "" {
			t.Errorf("%q: %+v, %v", bad, d, err)
		}
	}
}

func TestKnows(t *testing.T) {
	const name = jobtree.Job("settle")
	for path, want := range map[string]bool{
		"settle": true, name.Config(): true, name.Fired(3): true, name.Cursor(1): true, name.Kill(2): true, name.Pin(0): true, name.Requests(): true,
		name.Guarantees(): true, name.Necessary(): true, name.Faults("x"): true, name.Session("x"): true, "settle/systemTime/current": true,
		"settle/notes": false, "settle/configs": false, "settle/my/config": false,
	} {
		if got := name.Knows(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
