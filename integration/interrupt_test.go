package integration_test

import (
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
)

// next returns a function that waits for the next start of an item.
func (s *stage) next(job string, item int) func() history.Event {
	return func() history.Event {
		s.Helper()
		return s.await(s.Mark(), "an item to start", starts(job, item))
	}
}

// cutShort does something to the worker that runs an item, in the middle of that, and waits until
// the item is run again for its tick. It returns both runs. On a machine that stands still for a
// while the item is over before; then cutShort undoes what it did, and does it to the next run.
func (s *stage) cutShort(next func() history.Event, trouble func(*cluster.Worker), undo func(process string)) (first, again history.Event) {
	s.Helper()
	for {
		first = next()
		trouble(s.worker(first.Process))
		if again, over := s.again(first); !over {
			return first, again
		}
		undo(first.Process)
	}
}

// again waits for the failover of a run, unless the run is over anyway. run is its start.
func (s *stage) again(run history.Event) (again history.Event, over bool) {
	s.Helper()
	failover := starts(run.Job, run.Item).as("FAILOVER")
	tick := func(e history.Event) time.Time { return e.Tick.Truncate(time.Millisecond) } // as the registry has it
	begun := false
	again = s.await(0, "the failover", func(e history.Event) bool {
		if !begun {
			begun = e.Kind == history.Start && e.Task == run.Task
			return false
		}
		return failover(e) && tick(e).Equal(tick(run)) || e.Kind == history.End && e.Task == run.Task && e.Outcome == history.Done
	})
	return again, again.Kind == history.End
}

// mend heals the links of a process.
func (s *stage) mend(process string) { s.worker(process).Mend() }

// kill kills a worker.
func (s *stage) kill(w *cluster.Worker) {
	s.Helper()
	s.must(w.Kill())
}

// replace starts another worker with the name of a process that is gone.
func (s *stage) replace(process string) {
	s.Helper()
	name, _, _ := strings.Cut(process, ".")
	s.start(name)
}

// undisturbed fails the test for every event after a mark that matches, unless the machine or the
// store has stood still for so long that workers have lost their sessions by that.
func (s *stage) undisturbed(mark cluster.Mark, what string, m match) {
	s.Helper()
	if still := s.stoodStill(mark); still == 0 {
		s.none(mark, what, m)
	} else if count(s.Since(mark), m) > 0 {
		s.Logf("%s, for the machine or the store has stood still for %v", what, still.Round(time.Millisecond))
	}
}

// stoodStill returns how long workers got no time, or no answers, after a mark; 0 if no worker has
// noticed, or if a session outlasts that.
func (s *stage) stoodStill(mark cluster.Mark) time.Duration {
	var still time.Duration
	noticed := false
	for _, e := range s.Since(mark) {
		switch e.Kind {
		case history.Stall, history.Slow:
			still += time.Duration(e.Mono - e.Call)
		case history.Faulty:
			noticed = noticed || e.Name == "store"
		}
	}
	if !noticed || still < s.Limits().Session/2 {
		return 0
	}
	return still
}
