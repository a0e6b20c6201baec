package history

import (
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// EventFilter says which events are meant. Fields that are zero do not count.
type EventFilter struct {
	Job, Instance string
	Kinds         []jobtype.EventKind
	// By is who it was, and What the action: of jobtype.EventOperated, say. They are compared as a
	// whole.
	By, What string
	// Events are from From on, and before To.
	From, To time.Time
	After    Cursor
	Limit    int
}
