// Package runner keeps a scheduler running for each job of a namespace that the process has work for.
//
//	s := runner.New(runner.Config{Registry: reg, Offers: offers, …}, host)
//	err := s.Serve(ctx, view) // view of the jobs' nodes and their configurations
//	s.Close()
//
// One goroutine, that of Serve, decides about the jobs of which something has changed. It never waits for the store: what
// takes time is a task of its own. For each job:
//
//	other's ──► waiting ──► served ──► leaving ──► waiting, or other's
//	             ▲   ▲       │  │
//	             │   └───────┘  └──► over ──► waiting, or other's
//	             └ refused ┘
//
// The page docs/understand/processes.md says what the states mean. How a scheduler is started and shut down is for the host to say.
package runner
