// Package pool has what the jobs of one process share: threads, a view of the calendars, the loads of other processes, and
// the node in which the process announces itself.
//
//	p := pool.New(reg, pool.Config{Threads: 100, Address: "10.0.0.1"})
//	job := p.Join(wake) // a part of each for one job; wake has the job look again, and must not wait
//	if job.Threads.Reserve(1) == 1 { … }
//	…
//	last := job.Leave()
//
// All methods may be called by any goroutine, and none waits for a job. Nothing here decides what runs: who owns an item is
// in the tree.
package pool
