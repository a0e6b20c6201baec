package job

import "github.com/elasticjob-go/elasticjob/jobtype"

// What a program is told about executions and schedulers. Package jobtype says what the fields mean, and has the values of
// what only those who look on tell apart, such as jobtype.EventFinished and jobtype.FaultClock.
type (
	Observer  = jobtype.Observer
	Event     = jobtype.Event
	Execution = jobtype.Execution
	Outcome   = jobtype.Outcome
	Source    = jobtype.Source
	Status    = jobtype.Status
	Pause     = jobtype.Pause
	Waiting   = jobtype.Waiting
	Fault     = jobtype.Fault
	FaultKind = jobtype.FaultKind

	TriggerRequest = jobtype.TriggerRequest
	Requested      = jobtype.Requested
	ItemResult     = jobtype.ItemResult
)

// The outcomes of an execution.
const (
	OutcomeOK      = jobtype.OutcomeOK
	OutcomeFailed  = jobtype.OutcomeFailed
	OutcomePanic   = jobtype.OutcomePanic
	OutcomeTimeout = jobtype.OutcomeTimeout
	OutcomeCut     = jobtype.OutcomeCut
	OutcomeKilled  = jobtype.OutcomeKilled
	OutcomeSkipped = jobtype.OutcomeSkipped
)

// The sources of an execution.
const (
	SourceNormal   = jobtype.SourceNormal
	SourceMisfire  = jobtype.SourceMisfire
	SourceFailover = jobtype.SourceFailover
	SourceManual   = jobtype.SourceManual
	SourceRetry    = jobtype.SourceRetry
	SourceBackfill = jobtype.SourceBackfill
)
