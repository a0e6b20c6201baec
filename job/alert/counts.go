package alert

import "sync/atomic"

// Counts are what error handlers have to tell, and have told. Give one to types whose sum is
// asked for: Options.Counts. The zero value is ready; its methods may be called from any goroutine.
type Counts struct{ waiting, sent, failed atomic.Int64 }

// Waiting is how many failures and recoveries wait for the message that tells of them, or are in
// one that is being sent.
func (c *Counts) Waiting() int { return int(c.waiting.Load()) }

// Sent is how many messages were sent.
func (c *Counts) Sent() int { return int(c.sent.Load()) }

// Failed is how many messages were given up.
func (c *Counts) Failed() int { return int(c.failed.Load()) }

// count brings the counts up to date with what waits here. h.mu is locked.
func (h *handler) count() {
	waits := 0
	if !h.over {
		waits = h.waits.waiting() + h.underWay
	}
	h.counts.waiting.Add(int64(waits - h.counted))
	h.counted = waits
}
