package jobtype

import "slices"

// Outcome says how an execution ended.
type Outcome int

// The outcomes of an execution.
const (
	// OutcomeOK: its handler returned nil, whatever became of its context.
	OutcomeOK Outcome = iota + 1
	// OutcomeFailed: its handler returned an error, in the last attempt too.
	OutcomeFailed
	// OutcomePanic: its handler panicked, in the last attempt.
	OutcomePanic
	// OutcomeTimeout: it failed, and had run for longer than Config.Timeout.
	OutcomeTimeout
	// OutcomeCut: it failed after its context had ended for another reason: a shutdown, a
	// lost session, or an item that was taken away; or it returned what StopAsked had said.
	// With failover on the item is run again.
	OutcomeCut
	// OutcomeKilled: it failed after an operator had ended it. It is run again only if the
	// operator wanted that.
	OutcomeKilled
	// OutcomeSkipped is that of an item of a request that was not run: it is disabled or gone,
	// or a JVM member has it. No execution has it.
	OutcomeSkipped
)

var outcomes = [...]string{"UNKNOWN", "OK", "FAILED", "PANIC", "TIMEOUT", "CUT", "KILLED", "SKIPPED"}

// String returns the outcome as the tree has it.
func (o Outcome) String() string { return word(outcomes[:], int(o)) }

// OutcomeOf returns the outcome that has this text; 0 if none has.
func OutcomeOf(text string) Outcome { return Outcome(max(slices.Index(outcomes[1:], text)+1, 0)) }

// Source says why an item runs. String returns ElasticJob's names; MANUAL,
// RETRY and BACKFILL are ours.
type Source int

// The sources of an execution.
const (
	// SourceNormal: a tick was due.
	SourceNormal Source = iota + 1
	// SourceMisfire: it makes up for all ticks that the item has missed.
	SourceMisfire
	// SourceFailover: an earlier execution was cut short because its instance ended.
	SourceFailover
	// SourceManual: a program or an operator has triggered it.
	SourceManual
	// SourceRetry: an operator has it run again for a tick in which it failed.
	SourceRetry
	// SourceBackfill: an operator has it run for ticks of some time, one after the other.
	SourceBackfill
)

var sources = [...]string{"UNKNOWN", "NORMAL_TRIGGER", "MISFIRE", "FAILOVER", "MANUAL", "RETRY", "BACKFILL"}

func (s Source) String() string { return word(sources[:], int(s)) }
