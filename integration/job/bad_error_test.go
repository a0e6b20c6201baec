package job_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// unruly is an error that does something to whoever asks for its text. As a nil pointer
// it is what a handler returns by mistake, and it panics.
type unruly struct{ does func() string }

func (e *unruly) Error() string { return e.does() }

// wrapping is one that panics, as a nil pointer, when it is asked what it wraps.
type wrapping struct{ error }

func (e *wrapping) Error() string { return "wraps something" }
func (e *wrapping) Unwrap() error { return e.error }

// The text of a handler's error is asked for where it can harm only that execution.
func TestErrorWhoseTextCannotBeHad(t *testing.T) {
	for name, failure := range map[string]error{
		"a nil pointer":            (*unruly)(nil),
		"a nil pointer that wraps": (*wrapping)(nil),
		"Goexit":                   &unruly{func() string { runtime.Goexit(); return "" }},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			m := c.join("10.0.0.1", c.config(), func(_ context.Context, sc job.ShardingContext) error {
				if sc.Item == 0 {
					return failure
				}
				return nil
			})
			c.awaitRuns("all items", 9, anything)
			c.pass(2 * time.Second)
			m.awaitSound()
			c.await("how it ended is in the tree", func(s *jobtree.State) bool {
				if s.Item(0).Completed == nil {
					return false
				}
				d, err := s.Item(0).Completed.Document()
				return err == nil && d.Outcome == jobtree.OutcomeFailed && d.Error != ""
			})
			c.check()
		})
	}
}
