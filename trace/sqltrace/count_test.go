package sqltrace_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// Processes that count the same at the same time lose nothing, and do not stand in each other's
// way for long: a batch comes through at the third time at the latest, nearly always at the first.
func TestCountsOfManyWriters(t *testing.T) {
	const writers, batches, size = 3, 8, 30
	onEach(t, func(h *home) {
		h.write(h.open(sqltrace.Options{}), trace.Batch{})
		var again atomic.Int64
		var wait sync.WaitGroup
		for w := range writers {
			tracer := h.open(sqltrace.Options{})
			wait.Go(func() {
				for n := range batches {
					var b trace.Batch
					for i := range size {
						x := execution((w*batches+n)*size + i)
						r := ran{Execution: x, job: fmt.Sprint("job-", i%7), ip: "10.0.0.1", took: time.Second,
							start: began.Add(time.Duration(n/3) * time.Hour), outcome: job.Outcome(1 + i%3)}
						b.Events = append(b.Events, r.events()...)
					}
					for attempt := 1; ; attempt++ {
						err := tracer.Write(h.Context(), b)
						if err == nil {
							break
						}
						if again.Add(1); attempt == 3 {
							t.Errorf("writer %d, batch %d: %v", w, n, err)
							return
						}
					}
				}
			})
		}
		wait.Wait()
		h.Logf("%d of %d batches came again", again.Load(), writers*batches)
		counted, there := h.counts()
		h.want(counted, there)
	})
}

// counts returns what is counted, and what is there to be counted.
func (h *home) counts() (counted, there string) {
	h.Helper()
	length := (15 * time.Minute).Microseconds()
	count := "SELECT %s, start_micros - start_micros %% %d, outcome, COUNT(*) FROM JOB_EXECUTION_LOG WHERE outcome IS NOT NULL GROUP BY 1, 2, 3"
	return h.ask("SELECT job_name, slot_micros, outcome, executions FROM ELASTICJOB_COUNT WHERE executions <> 0 ORDER BY 1, 2, 3"),
		h.ask(fmt.Sprintf(count+" UNION ALL "+count+" ORDER BY 1, 2, 3", "''", length, "job_name", length))
}
