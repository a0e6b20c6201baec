package job_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// A start that comes to the end of its context says what was in the way: the store was
// there for the configuration, and not for the instance.
func TestStartThatEndsSaysWhatWasInTheWay(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		c.join("10.0.0.1", c.config(), nil) // which has set the job up
		m := c.dial("10.0.0.2")
		denied := s.Inject(memory.Fault{Method: memory.Commit, Path: "settle/instances/10.0.0.2@*", Before: coord.ErrDenied})
		defer denied.Remove()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		err := m.schedule(ctx, c.config(), nil)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, coord.ErrDenied) {
			t.Fatalf("got %v", err)
		}
		fault, ok := errors.AsType[job.Fault](err)
		if !ok || fault.Kind != jobtype.FaultStore || !strings.Contains(err.Error(), "register") {
			t.Errorf("got %v", err)
		}
	})
}

// Without a fault there is nothing but the end of the context.
func TestStartThatEndsBeforeAnythingIsInTheWay(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		c.join("10.0.0.1", c.config(), nil)
		m := c.dial("10.0.0.2")
		slow := s.Inject(memory.Fault{Method: memory.Commit, Path: "settle/instances/10.0.0.2@*", Delay: time.Second})
		defer slow.Remove()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := m.schedule(ctx, c.config(), nil)
		if _, ok := errors.AsType[job.Fault](err); !errors.Is(err, context.DeadlineExceeded) || ok {
			t.Errorf("got %v", err)
		}
	})
}
