// Package simulation runs the scheduler for a virtual day on the simulated store, with a
// thousand instances and ten thousand items, breaks it in every way that the simulator
// knows, and checks the promises of package job all the time and at the end of every two
// hours.
//
//	go test ./integration/simulation                               a small part of a day
//	go test ./integration/simulation -run TestDay -full -v         the whole day
//	go test ./integration/simulation -run TestDay -full -seed 7    another one, or one again
//
// # What runs
//
// The whole day has 124 jobs with 10,000 items on 600 processes, which make 1,000
// instances, in one namespace of one store whose views are 10 ms late:
//
//	shape   groups × processes × jobs × items   fires every    what it is for
//	crowd        1 × 100 × 1 × 1,000            30 min         one job on many processes
//	team        20 × 10 × 3 × 100               10, 30, 60 min processes with several jobs
//	squad       20 × 5 × 1 × 100                15 or 20 min   weights, windows, time-outs
//	wide         3 × 20 × 1 × 250               20 min         mostly without failover
//	single      30 × 3 × 1 × 1                  10 min         one item; runs for 2 min or 13
//	small       10 × 5 × 1 × 22                 12 min         static sharding, one-off jobs
//
// Handlers take from 5 ms to longer than the interval of their cron expression; one in a
// hundred fails, one in two thousand panics, and one in twenty returns late after its context
// has ended. One process in fifty has a clock that is off by up to 5 s.
//
// The day is twelve times a storm of 95 minutes and a calm of 25. In a storm every group
// has its own faults, at random times: see faults_test.go, silence_faults_test.go,
// operator_test.go and weather_test.go. When calm comes, all links heal, what is disabled is enabled, the
// configuration is as it was, and as many processes are up as there were. At the end of
// the calm the tree and the histories are checked.
//
// All the time the simulation looks for items that have no run for a tick that is due, while a
// process could run them and none reports a fault: see silence_test.go. For this check it is no
// excuse that the store was put back or that somebody wrote nodes that nobody may write. For
// all other checks the history of a job begins anew at such a moment.
//
// # What a seed fixes
//
// A seed fixes which faults come when, to which process, and how long each handler takes.
// It does not fix in which order the goroutines run that are due at the same instant of
// virtual time, nor the identifiers of instances, on which the strategies depend. So a
// seed that has shown a violation shows it again often, but not always. Trust the history that
// was printed.
//
// # What is not checked
//
// Work that a handler does after its context has ended: tokens are for that. And exclusion while
// the session of a live process was removed at the store, which no store does by itself: tokens
// must order the executions even then, but two may be at work at a time.
package simulation
