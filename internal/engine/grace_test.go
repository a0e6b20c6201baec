package engine

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/engine/jvm"
	"github.com/elasticjob-go/elasticjob/internal/engine/once"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
)

// Handlers get the whole grace time under a new identity, too: it does not count from the
// time at which the identity before was given up.
func TestNewIdentityHasItsOwnGrace(t *testing.T) {
	c := &controller{failoverQueue: jvm.NewQueue(jvm.QueueConfig{}), calls: once.New(once.Config{}), options: &setup.Options{CancelGrace: time.Second}, seams: seams{newID: func() string { return "A" }}}
	begin := clocks.Now()
	c.graceLeft(begin)
	if left := c.graceLeft(begin.Add(time.Hour)); left != 0 {
		t.Fatalf("%v is left after an hour", left)
	}
	c.identify()
	if left := c.graceLeft(begin.Add(time.Hour)); left != time.Second {
		t.Errorf("%v is left, want 1s", left)
	}
}
