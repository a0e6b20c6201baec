package job

import (
	"slices"
	"sync"
)

// threads are the threads that the jobs of a node share. Each job has a seat. A job reserves
// threads before it claims items, so that claims do not wait for threads that others have.
// Jobs that find none free stand in a queue. A thread that becomes free goes to the first of
// them, which goes to the end if it needs more: no job waits for ever.
type threads struct {
	limit int

	mu    sync.Mutex
	taken int     // reserved, or with a handler
	queue []*seat // if there are any, no thread is free
}

// seat is the place of one job. A nil seat has as many threads as it wants.
type seat struct {
	threads *threads
	wake    func() // tells the job that it has got a thread; it must not wait
	held    int    // threads that are reserved; guarded by threads.mu
	waits   bool   // whether it stands in the queue; guarded by threads.mu
}

// seat returns a seat for a job; nil if there is no limit.
func (t *threads) seat(wake func()) *seat {
	if t == nil {
		return nil
	}
	return &seat{threads: t, wake: wake}
}

// reserve reserves threads until the job holds n, and returns how many of the n it holds. If
// these are fewer, the job is woken when it gets another one.
func (s *seat) reserve(n int) int {
	if s == nil || n <= 0 {
		return n
	}
	s.threads.mu.Lock()
	defer s.threads.mu.Unlock()
	return s.reserveLocked(n)
}

func (s *seat) reserveLocked(n int) int {
	t := s.threads
	more := min(max(n-s.held, 0), t.limit-t.taken)
	s.held, t.taken = s.held+more, t.taken+more
	if s.held < n && !s.waits {
		s.waits = true
		t.queue = append(t.queue, s)
	}
	return min(n, s.held)
}

// take takes one thread for a handler, and reports whether there was one. end gives it back.
func (s *seat) take() bool {
	if s == nil {
		return true
	}
	s.threads.mu.Lock()
	defer s.threads.mu.Unlock()
	if s.reserveLocked(1) < 1 {
		return false
	}
	s.held--
	return true
}

// end gives the thread of a handler back.
func (s *seat) end() {
	if s == nil {
		return
	}
	s.threads.mu.Lock()
	defer s.threads.mu.Unlock()
	s.threads.free()
}

// keep gives back all reserved threads but n.
func (s *seat) keep(n int) {
	if s == nil {
		return
	}
	s.threads.mu.Lock()
	defer s.threads.mu.Unlock()
	for ; s.held > n; s.held-- {
		s.threads.free()
	}
}

// leave gives back all reserved threads, and leaves the queue.
func (s *seat) leave() {
	if s == nil {
		return
	}
	s.threads.mu.Lock()
	defer s.threads.mu.Unlock()
	s.threads.queue = slices.DeleteFunc(s.threads.queue, func(other *seat) bool { return other == s })
	s.waits = false
	for ; s.held > 0; s.held-- {
		s.threads.free()
	}
}

// isShort reports whether the job waits for a thread.
func (s *seat) isShort() bool {
	if s == nil {
		return false
	}
	s.threads.mu.Lock()
	defer s.threads.mu.Unlock()
	return s.waits
}

// free gives a thread to the first in the queue.
func (t *threads) free() {
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
