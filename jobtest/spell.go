package jobtest

import (
	"sync"
	"time"
)

// spell is a fault that ends by itself. A new one takes the place of the one before.
type spell struct {
	mu    sync.Mutex
	timer *time.Timer
	ends  sync.WaitGroup // for end, when it is called
}

// begin calls end after a while.
func (s *spell) begin(d time.Duration, end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callOff()
	s.ends.Add(1)
	s.timer = time.AfterFunc(d, func() {
		defer s.ends.Done()
		end()
	})
}

// stop calls the end off. If it is being called, stop waits for that.
func (s *spell) stop() {
	s.mu.Lock()
	s.callOff()
	s.mu.Unlock()
	s.ends.Wait()
}

func (s *spell) callOff() {
	if s.timer != nil && s.timer.Stop() {
		s.ends.Done()
	}
	s.timer = nil
}
