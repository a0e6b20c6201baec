package history

import "time"

// Status is a change of the state of an execution.
type Status struct {
	ID, Job, TaskID, OriginalTaskID string
	// Source is who has written it, LITE_EXECUTOR; it is empty in a table of ElasticJob 3.0.5.
	IP, Source string
	// ExecutionType is READY or FAILOVER.
	ExecutionType string
	// Items is [3], or the list of a JVM.
	Items string
	// State is one of ElasticJob's: see package sqltrace.
	State        string
	Message      string
	CreationTime time.Time
	Instance     string // not of a JVM
	Attempt      int    // not of a JVM
}

// StatusFilter says which changes of state are meant. Fields that are zero do not count.
type StatusFilter struct {
	Job, TaskID, ExecutionType, State string
	// Changes are from From on, and before To.
	From, To time.Time
	After    Cursor
	Limit    int
}
