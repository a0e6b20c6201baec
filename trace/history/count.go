package history

import "time"

// Step is the length of the times in which executions are counted.
type Step int

// The steps.
const (
	Hourly Step = iota + 1
	Daily
)

// CountQuery says what is to be counted.
type CountQuery struct {
	// Job is the job; empty is all jobs.
	Job string
	// From and To are moved to the quarter of an hour before, by Counts. To is not within. They are
	// MaxSteps steps apart at most.
	From, To time.Time
	// Step is Hourly or Daily, by the clocks of Zone; nil is UTC.
	Step Step
	Zone *time.Location
}

// Count is how many executions have begun in an hour or on a day, and have ended since.
type Count struct {
	// Start is the beginning of the hour or of the day, in the zone of the query.
	Start      time.Time
	Executions map[Outcome]int64
}

// Missed is how many ticks were missed, of which that was noticed in an hour or on a day. The ticks of each item count by
// themselves, and of those that were noticed at once 1,000 at most.
type Missed struct {
	// Start is the beginning of the hour or of the day, in the zone of the query.
	Start time.Time
	// MadeUp are ticks for which an execution has made up: one for all that an item had missed.
	MadeUp int64
	// Skipped are ticks that nobody runs, by the reason: the text of jobtype.SkipReason.
	Skipped map[string]int64
}

// Durations are how long executions took: the percentiles of Executions of them, and the longest.
// Each is the duration of an execution (nearest rank).
type Durations struct {
	Executions         int
	P50, P95, P99, Max time.Duration
	// Since is the start of the oldest of them. All is false if there are older ones.
	Since time.Time
	All   bool
}
