// Package broadcast wakes everybody who waits for something to change.
package broadcast

// Signal is fired when something changes. The mutex that guards what changes guards the signal,
// too. The zero value is ready; while nobody waits, to fire it costs nothing.
type Signal struct {
	next   chan struct{} // nil if nobody has asked for it since the last change
	closed bool
}

// Next returns a channel that is closed at the next change.
func (s *Signal) Next() <-chan struct{} {
	if s.next == nil {
		s.next = make(chan struct{})
		if s.closed {
			close(s.next)
		}
	}
	return s.next
}

// IsAwaited reports whether somebody has called Next since the last change.
func (s *Signal) IsAwaited() bool { return s.next != nil }

// Fire wakes all who wait.
func (s *Signal) Fire() {
	if s.next != nil && !s.closed {
		close(s.next)
		s.next = nil
	}
}

// Close wakes all who wait, and from now on whoever calls Next: nothing changes any more.
func (s *Signal) Close() {
	s.Fire()
	s.closed = true
}
