//go:build unix

// Package demo is a small company whose jobs run on this host, for people who want to see a console
// at work: a store, three workers as processes of their own, jobs of every kind, and the history of a day.
//
//	this process ──► etcd, in the same process; its data is in a temporary folder
//	     │       ──► the history, SQLite in the same folder
//	     │       ──► a partner that HTTP jobs talk to
//	     └─ starts ─► worker 1, 2, 3 ──► both
//
// Every few minutes one worker is killed in the middle of its work, and comes back a little later: so
// there is a failover to be seen. All of it ends, and is removed, with the process. It is not made for
// anything that has to last.
package demo
