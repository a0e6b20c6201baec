package trace

import "context"

// Sink keeps what happened: in a database, say. A [Recorder] calls it, one batch after the
// other.
//
// If Write returns an error, the recorder gives it the same batch again later, perhaps
// together with later events. So a sink must not keep an event twice, by Event.ID, or a line
// by its task and number. What can never be kept, whoever tries, it drops, counts and says
// itself, and returns nil.
type Sink interface {
	Write(ctx context.Context, b Batch) error
}
