// Package world is what a console is for, as real as it gets on one machine: an etcd, a history in SQLite,
// three workers as processes of their own, jobs of each kind, and a console with users before all that.
//
//	the test ──► console, by HTTP on loopback
//	   │            └──► etcd, in this process   ◄──┐
//	   │            └──► history, a SQLite file  ◄──┤
//	   └─ starts ─► worker 0, 1, 2 ─────────────────┘
//
// All tests of a binary share it. Who changes something does so in a job of his own: see World.Job.
package world
