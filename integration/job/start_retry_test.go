package job_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

const startWaits = "the start waits for the store"

// With WithStartRetry a start joins when the store answers again.
func TestStartWaitsForTheStore(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCluster(t, s, "settle")
		c.join("10.0.0.1", c.config(), nil)
		c.timeout = 10 * time.Second // then its requests give up sooner
		m := c.dial("10.0.0.2")
		m.link.Cut()
		waits := newSignal()
		core, _ := observer.New(zapcore.InfoLevel)
		logs := job.WithLogger(zap.New(core, zap.Hooks(func(e zapcore.Entry) error {
			if e.Message == startWaits {
				waits.send()
			}
			return nil
		})))
		ctx, cancel := context.WithTimeout(t.Context(), c.patience())
		defer cancel()
		joined := make(chan error, 1)
		go func() { joined <- m.schedule(ctx, c.config(), nil, job.WithStartRetry(), logs) }()
		select {
		case <-waits:
			m.link.Heal()
		case err := <-joined:
			t.Fatalf("it has not waited: %v", err)
		}
		c.must(<-joined)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
	})
}

// The start repeats whichever request fails, less and less often, and now and then the log
// says that it waits.
func TestStartRetriesEachOfItsRequests(t *testing.T) {
	const outage = time.Minute
	for _, method := range []memory.Method{memory.Commit, memory.OpenView} {
		for _, away := range []error{coord.ErrUnavailable, coord.ErrSessionLost} {
			runInVirtualTime(t, fmt.Sprint(method, " ", away), func(t *testing.T, c *cluster, s *memory.Store) {
				m := c.dial("10.0.0.1")
				fails := s.Inject(memory.Fault{Method: method, Before: away})
				over := time.AfterFunc(outage, fails.Remove)
				defer over.Stop()
				begin := time.Now()
				logged, logs := newLogbook()
				c.mustSchedule(m, c.config(), nil, job.WithStartRetry(), logs)
				if took := time.Since(begin); took < outage || took > outage+5*time.Second {
					t.Errorf("it took %v", took)
				}
				if n := fails.Hits(); n < 30 || n > 70 {
					t.Errorf("%d requests in %v", n, outage)
				}
				if lines := logged.says(startWaits); len(lines) < 5 || len(lines) > 7 || lines[0]["for"] != time.Duration(0) || lines[0]["job"] != "settle" {
					t.Errorf("the log says %v", lines)
				}
			})
		}
	}
}

// A start does not wait without the option, after an error that waiting does not mend, or when
// its context has ended.
func TestStartThatDoesNotWait(t *testing.T) {
	waits := []job.Option{job.WithStartRetry()}
	for name, tc := range map[string]struct {
		options []job.Option
		fails   error
		within  time.Duration
		is      []error
	}{
		"not asked":           {nil, coord.ErrUnavailable, 0, []error{coord.ErrUnavailable}},
		"not allowed":         {waits, coord.ErrDenied, 0, []error{coord.ErrDenied}},
		"end of the context":  {waits, coord.ErrUnavailable, time.Minute, []error{coord.ErrUnavailable, context.DeadlineExceeded}},
		"closed":              {waits, coord.ErrClosed, 0, []error{coord.ErrClosed}},
		"lost, and not asked": {nil, coord.ErrSessionLost, 0, []error{coord.ErrSessionLost}},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, s *memory.Store) {
			m := c.dial("10.0.0.1")
			fails := s.Inject(memory.Fault{Method: memory.OpenView, Before: tc.fails})
			defer fails.Remove()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			begin := time.Now()
			err := m.schedule(ctx, c.config(), nil, tc.options...)
			for _, want := range tc.is {
				if !errors.Is(err, want) {
					t.Errorf("got %v, want %v", err, want)
				}
			}
			if took := time.Since(begin); took != tc.within {
				t.Errorf("it took %v, want %v", took, tc.within)
			}
		})
	}
}

// If the context of a start ends during a request, the error says that the store did not
// answer.
func TestStartThatEndsInARequest(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		m := c.dial("10.0.0.1")
		first := s.Inject(memory.Fault{Method: memory.OpenView, Before: coord.ErrUnavailable, Times: 1})
		hangs := s.Inject(memory.Fault{Method: memory.OpenView, Delay: time.Hour})
		defer hangs.Remove()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := m.schedule(ctx, c.config(), nil, job.WithStartRetry())
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, coord.ErrUnavailable) || first.Hits() != 1 {
			t.Errorf("got %v", err)
		}
	})
}
