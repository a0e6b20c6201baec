package history

import "time"

// Bounds of Reader.Lanes.
const (
	// MaxLanes is how many jobs it returns at most, and MaxLanesTime how long the time may be.
	MaxLanes     = 5000
	MaxLanesTime = 7 * 24 * time.Hour
)

// Lanes are what has become of all jobs in a time that is cut into cells of the same length.
type Lanes struct {
	// From is when the first cell begins: at the time that was asked for, or a little earlier.
	From time.Time
	Step time.Duration
	// Cells are those of each job that has any, by its name.
	Cells map[string][]Cell
	// More is whether there are more jobs.
	More bool
}

// Cell is how many executions have begun in a part of a time, how many of them have failed, and how many ticks were missed.
type Cell struct{ Executions, Failed, Missed int32 }
