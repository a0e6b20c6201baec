package history

import (
	"time"

	"github.com/elasticjob-go/elasticjob/trace"
)

// EventFilter says which events are meant. Fields that are zero do not count.
type EventFilter struct {
	Job, Instance string
	Kinds         []trace.Kind
	// Events are from From on, and before To.
	From, To time.Time
	After    Cursor
	Limit    int
}
