package history

import (
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Outcome is how an execution has ended: what [jobtype.Outcome] says, in capitals, or one of these.
type Outcome string

// The outcomes that only the history knows.
const (
	// OutcomeRunning: nobody has told its end. Either it runs, or its process died.
	OutcomeRunning Outcome = "RUNNING"
	// OutcomeLost: its instance ended in the middle of it.
	OutcomeLost Outcome = "LOST"
)

// OutcomeOf returns the outcome of an execution that has ended.
func OutcomeOf(o jobtype.Outcome) Outcome { return Outcome(o.String()) }

// Failures are the outcomes of executions that have ended by themselves, without success. A JVM
// knows no others.
func Failures() []Outcome {
	return []Outcome{OutcomeOf(jobtype.OutcomeFailed), OutcomeOf(jobtype.OutcomePanic), OutcomeOf(jobtype.OutcomeTimeout)}
}

// Interrupted are the outcomes of executions that were ended from outside: by a shutdown, an operator, or
// the end of their instance. With failover all but the killed ones are run again.
func Interrupted() []Outcome {
	return []Outcome{OutcomeOf(jobtype.OutcomeCut), OutcomeOf(jobtype.OutcomeKilled), OutcomeLost}
}

// Execution is one run of one item, all its attempts together. What a JVM has written has only
// what ElasticJob knows: of those with a comment "not of a JVM" it has the zero value.
type Execution struct {
	// ID is the task id of [jobtype.Execution]. A JVM has another TaskID, of many executions.
	ID, TaskID string
	Job        string
	Item       int
	Instance   string // not of a JVM
	Hostname   string
	IP         string
	// Source is why it ran; 0 if a later version has written one that this one does not know.
	Source        jobtype.Source
	ScheduledTime time.Time // not of a JVM
	// StartTime and CompleteTime are in UTC. Those of a JVM may be in whole seconds, or by the clock
	// on its wall without its zone, as the database keeps them: see package sqltrace.
	StartTime, CompleteTime time.Time
	Waited                  time.Duration // for a thread; not of a JVM
	Duration                time.Duration
	Token                   int64 // not of a JVM
	Attempts                int   // not of a JVM
	// Outcome of a JVM's is OK, FAILED or RUNNING.
	Outcome        Outcome
	RequestID      string // not of a JVM
	OriginalTaskID string // not of a JVM
	Error          string
	// Output is the end of what the handler has kept. Only Reader.Execution returns it.
	Output string
}

// ExecutionFilter says which executions are meant. Fields that are zero do not count.
type ExecutionFilter struct {
	// Job is compared as the table does: on MySQL one that a JVM has made may take no notice of
	// capitals.
	Job string
	// Items are those of Job.
	Items        []int
	Instance, IP string
	Source       jobtype.Source
	Outcomes     []Outcome
	RequestID    string
	// Executions begin at From or later, and before To.
	From, To time.Time
	After    Cursor
	Limit    int
}
