package trace

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// ids makes the IDs of events: UUIDs of version 7, which sort by the time of the event, and
// in the order in which they were made if that is the same or goes back.
type ids struct {
	last uint64 // the time of the newest one: milliseconds, and 12 bits of parts of one
}

func (g *ids) next(at time.Time) string {
	now := uint64(max(at.UnixMilli(), 0))<<12 | uint64(at.Nanosecond())%1e6<<12/1e6
	g.last = max(now, g.last+1)
	id := uuid.New() // random; the variant is set
	binary.BigEndian.PutUint64(id[:], g.last>>12<<16|7<<12|g.last&0xfff)
	return id.String()
}
