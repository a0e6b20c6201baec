package trace

import "time"

// Count counts what is told.
type Count struct{ Events, Lines int }

func (c Count) plus(d Count) Count  { return Count{c.Events + d.Events, c.Lines + d.Lines} }
func (c Count) minus(d Count) Count { return Count{c.Events - d.Events, c.Lines - d.Lines} }
func (c Count) all() int            { return c.Events + c.Lines }

// Stats says how a recorder stands. The counts are since New.
type Stats struct {
	// Told is what was told: Written, Queued, Overflowed and Left together.
	Told Count
	// Written is what the sink has.
	Written Count
	// Queued waits for the sink, or is given to it just now. Bytes is how many bytes that holds.
	Queued Count
	Bytes  int
	// Overflowed was dropped, the oldest first, because the queue was full.
	Overflowed Count
	// Left was dropped because it was still there at the end of Close, or came after it.
	Left Count

	// Missed are events that a job could not even tell, because so many waited
	// ([job.Event]).
	Missed int
	// LinesOut are lines that were left out because their execution has written too many.
	LinesOut int
	// OutputsOut are outputs of executions that were dropped before they were told.
	OutputsOut int

	// FailingSince is since when the sink has failed, or has not answered; zero if it does not.
	FailingSince time.Time
	// LastError is how it failed last; nil if it never has. Its text is bounded.
	LastError error
	// LastWritten is when it last kept something.
	LastWritten time.Time
}
