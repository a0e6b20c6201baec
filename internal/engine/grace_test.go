package engine

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

// Handlers get the whole grace time under a new identity, too: it does not count from the
// time at which the identity before was given up.
func TestNewIdentityHasItsOwnGrace(t *testing.T) {
	c := &controller{options: &Options{CancelGrace: time.Second}, seams: seams{newID: func() string { return "A" }}}
	begin := clocks.Now()
	c.giveGrace(begin)
	if left := c.giveGrace(begin.Add(time.Hour)); left != 0 {
		t.Fatalf("%v is left after an hour", left)
	}
	c.identify()
	if left := c.giveGrace(begin.Add(time.Hour)); left != time.Second {
		t.Errorf("%v is left, want 1s", left)
	}
}
