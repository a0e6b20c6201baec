package job

import (
	"context"
	"errors"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

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

func (o Outcome) String() string { return string(o.inTree()) }

// inTree returns the outcome as the tree has it.
func (o Outcome) inTree() jobtree.Outcome {
	switch o {
	case OutcomeOK:
		return jobtree.OutcomeOK
	case OutcomeFailed:
		return jobtree.OutcomeFailed
	case OutcomePanic:
		return jobtree.OutcomePanic
	case OutcomeTimeout:
		return jobtree.OutcomeTimeout
	case OutcomeCut:
		return jobtree.OutcomeCut
	case OutcomeKilled:
		return jobtree.OutcomeKilled
	case OutcomeSkipped:
		return jobtree.OutcomeSkipped
	}
	return "UNKNOWN"
}

// outcomeInTree returns the outcome that stands in the tree; 0 if it is not known here.
func outcomeInTree(text jobtree.Outcome) Outcome {
	for o := OutcomeOK; o <= OutcomeSkipped; o++ {
		if o.inTree() == text {
			return o
		}
	}
	return 0
}

// outcomeOf returns how an execution with the context ctx has ended.
func outcomeOf(ctx context.Context, err error) Outcome {
	switch _, isPanic := err.(*PanicError); { // errors.As would call methods of err, which may panic
	case err == nil:
		return OutcomeOK
	case errors.Is(context.Cause(ctx), ErrTimeout):
		return OutcomeTimeout
	case errors.Is(context.Cause(ctx), ErrKilled):
		return OutcomeKilled
	case ctx.Err() != nil:
		return OutcomeCut
	case isPanic:
		return OutcomePanic
	}
	return OutcomeFailed
}

// ending is how the handler of a run has returned.
type ending struct {
	outcome  Outcome
	err      error
	text     string // of err, for the tree
	cut      bool   // the context ended before the handler returned, or it did what StopAsked had asked
	at       instant
	attempts int
	output   []byte // what the handler has kept
}

// describe asks for the text of the error. It runs in the goroutine of the run, because the
// method Error is the user's: it may panic (for a nil pointer, say) or end the goroutine.
func (e *ending) describe() {
	if e.err == nil {
		e.text = ""
		return
	}
	e.text = "its error has no text: the method Error panics, or does not return"
	defer func() { _ = recover() }() // the text says that it panicked
	e.text = e.err.Error()
}

// completionOf returns what the tree is told of the end of a run.
func completionOf(r *run) *jobtree.CompletionDocument {
	return &jobtree.CompletionDocument{
		Tick: r.Tick, Token: r.Token, Outcome: r.ending.outcome.inTree(), Begun: r.begun.wall, Ended: r.ending.at.wall,
		TaskID: r.TaskID, Original: r.Original, Source: Source(r.Source).String(), Request: r.Request, Error: r.ending.text,
	}
}
