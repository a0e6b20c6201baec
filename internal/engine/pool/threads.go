package pool

import (
	"slices"
	"sync"
)

// Threads are the threads that the jobs of a process share. A job reserves threads before it claims items, so that
// claims do not wait for threads that others have. Jobs that find none free stand in a queue. A thread that
// becomes free goes to the first of them, which goes to the end if it needs more: no job waits for ever.
type Threads struct {
	limit int

	mu    sync.Mutex
	taken int            // reserved, or with a handler
	queue []*Reservation // if there are any, no thread is free
}

// NewThreads returns so many threads; nil, which is no limit, if n is 0.
func NewThreads(n int) *Threads {
	if n == 0 {
		return nil
	}
	return &Threads{limit: n}
}

// Reservation is one job's part of the threads. A nil Reservation has as many threads as it wants.
type Reservation struct {
	threads *Threads
	wake    func() // tells the job that it has got a thread
	held    int    // threads that are reserved; guarded by threads.mu
	waits   bool   // whether it stands in the queue; guarded by threads.mu
}

// Reservation returns the part of a job; nil if there is no limit. wake is called when the job has got a thread for which
// it has waited; it must not wait.
func (t *Threads) Reservation(wake func()) *Reservation {
	if t == nil {
		return nil
	}
	return &Reservation{threads: t, wake: wake}
}

// Limit is how many threads all jobs have; 0 if there is no limit.
func (r *Reservation) Limit() int {
	if r == nil {
		return 0
	}
	return r.threads.limit
}

// Reserve reserves threads until the job holds n, and returns how many of the n it holds. If
// these are fewer, the job is woken when it gets another one.
func (r *Reservation) Reserve(n int) int {
	if r == nil || n <= 0 {
		return n
	}
	r.threads.mu.Lock()
	defer r.threads.mu.Unlock()
	return r.reserve(n)
}

func (r *Reservation) reserve(n int) int {
	t := r.threads
	more := min(max(n-r.held, 0), t.limit-t.taken)
	r.held, t.taken = r.held+more, t.taken+more
	if r.held < n && !r.waits {
		r.waits = true
		t.queue = append(t.queue, r)
	}
	return min(n, r.held)
}

// Take takes one thread for a handler, and reports whether there was one. Done gives it back.
func (r *Reservation) Take() bool {
	if r == nil {
		return true
	}
	r.threads.mu.Lock()
	defer r.threads.mu.Unlock()
	if r.reserve(1) < 1 {
		return false
	}
	r.held--
	return true
}

// Done gives the thread of a handler back.
func (r *Reservation) Done() {
	if r == nil {
		return
	}
	r.threads.mu.Lock()
	defer r.threads.mu.Unlock()
	r.threads.free()
}

// Keep gives back all reserved threads but n.
func (r *Reservation) Keep(n int) {
	if r == nil {
		return
	}
	r.threads.mu.Lock()
	defer r.threads.mu.Unlock()
	r.keep(n)
}

func (r *Reservation) keep(n int) {
	for ; r.held > n; r.held-- {
		r.threads.free()
	}
}

// Cancel gives back all reserved threads, and leaves the queue.
func (r *Reservation) Cancel() {
	if r == nil {
		return
	}
	r.threads.mu.Lock()
	defer r.threads.mu.Unlock()
	r.threads.queue = slices.DeleteFunc(r.threads.queue, func(other *Reservation) bool { return other == r })
	r.waits = false
	r.keep(0)
}

// Waits reports whether the job waits for a thread.
func (r *Reservation) Waits() bool {
	if r == nil {
		return false
	}
	r.threads.mu.Lock()
	defer r.threads.mu.Unlock()
	return r.waits
}

// free gives a thread to the first in the queue.
func (t *Threads) free() {
	if len(t.queue) == 0 {
		t.taken--
		return
	}
	next := t.queue[0]
	t.queue[0] = nil
	t.queue = t.queue[1:]
	next.waits = false
	next.held++
	next.wake()
}
