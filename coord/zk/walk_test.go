package zk_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
)

// A walk ends at a node that it may not read, and names it.
func TestAWalkEndsAtWhatItMayNotRead(t *testing.T) {
	r := dial(t, zk.Config{})
	other := dialBare(t, sharedServer(t).Addr(), "other:secret")
	commit(t, r, coord.Put("t/a/x", nil))
	their(t, other, "t/a/theirs")
	for _, path := range []string{"", "t", "t/a/theirs"} {
		var last error
		for _, err := range r.Walk(t.Context(), path) {
			if last != nil {
				t.Errorf("walk %q goes on after an error", path)
			}
			last = err
		}
		wantErr(t, last, coord.ErrDenied, "t/a/theirs")
	}
	for n, err := range r.Walk(t.Context(), "t/a/x") {
		if err != nil || n.Path != "t/a/x" {
			t.Errorf("got %s, %v", n.Path, err)
		}
	}
}
