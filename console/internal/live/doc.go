// Package live tells browsers and programs what changes, by server-sent events.
//
// All who listen to a namespace, or to a job, share one watch of it, a feed:
//
//	         first listener                    first state
//	(none) ─────────────────► opening ──────────────────────► following ◄─┐
//	   ▲                         │  ▲                            │        │ state
//	   │ the last one left       │  └─────── retry, later ───────┤ error  │
//	   │ some time ago           ▼                               ▼        │
//	   └───────────────────── a fault is told, and what was known stays ──┘
//
// A feed keeps no queues. It has the newest state of each job, in the order in which they last
// changed, and a listener has only his place in that order. So a slow one misses states in between
// and never the newest, takes no memory, and holds up nobody; and one who comes back with the id of the
// last event that he has got is told what stands behind its place. He begins anew if the feed is another one, if
// removals of that time are forgotten, or if he may see other jobs now.
//
// Of one job the journal has the values that have changed, by their JSON pointers. Who takes patches is told those; others are
// told all of the job.
//
// An event's bytes are written once for each job that changes, not for each listener. What somebody may
// not see is left out. His rights are looked up at each heartbeat, and when somebody's change: with others the stream ends,
// so that whoever shows what may be done does that anew.
//
// It is not promised that each state is told, nor that the order in which two jobs changed can be seen.
package live
