package history

import (
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// OutlineQuery says which executions are wanted: those of Job that begin at From or later, and before To.
// All three are needed.
type OutlineQuery struct {
	Job      string
	From, To time.Time
	// Limit is 1 to MostOutlines, or 0 for MostOutlines.
	Limit int
}

// Outlines are executions, newest first. More is whether there are older ones in the time that was asked for.
type Outlines struct {
	Rows []Outline
	More bool
}

// Outline is what a timeline shows of an execution. Its fields are those of [Execution], but for Duration.
type Outline struct {
	ID            string
	Item          int
	Instance      string
	Source        jobtype.Source
	ScheduledTime time.Time
	StartTime     time.Time
	// Duration is less than 0 while it runs, and if nobody has told when it ended.
	Duration time.Duration
	Outcome  Outcome
}
