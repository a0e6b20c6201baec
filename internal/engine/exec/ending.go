package exec

import (
	"context"
	"runtime/debug"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Ending is how the handler of an execution has returned.
type Ending struct {
	Outcome  jobtype.Outcome
	Err      error
	Text     string // of Err, for the tree
	IsCut    bool   // the context ended before the handler returned, or it did what StopAsked had asked
	At       clocks.Instant
	Attempts int
	Output   []byte // what the handler has kept
}

// Start tells observers of the execution, and calls the handler in a goroutine of its own. That goroutine calls returned
// when the handler has returned, also if that was by a panic or by runtime.Goexit.
func (e *Execution) Start(ctx context.Context, returned func(Ending)) {
	e.Reporter.Tell(e.Scopes.Started)
	e.Working.Go(func() {
		end := Ending{Err: ErrGoexit, Text: ErrGoexit.Error()} // if the handler does not return
		defer func() {
			if end.Outcome == 0 {
				end.Outcome = OutcomeOf(ctx, end.Err)
			}
			end.IsCut = ctx.Err() != nil && end.Outcome != jobtype.OutcomeKilled || end.Outcome == jobtype.OutcomeCut
			end.At, end.Attempts, end.Output = e.Now(), e.Context.Attempt, e.Signals.Output()
			defer returned(end) // also if a scope ends the goroutine
			e.tellFinished(end)
		}()
		defer func() {
			// A panic of the handler is an error by now (callHandler). If something panics
			// here, it is what reports that error.
			if v := recover(); v != nil {
				end = Ending{Err: &jobtype.PanicError{Value: v, Stack: debug.Stack()}}
				end.describe()
			}
		}()
		end.Outcome, end.Err = e.run(ctx)
		end.describe()
	})
}

// describe asks for the text of the error. It runs in the goroutine of the execution, because the
// method Error is the user's: it may panic (for a nil pointer, say) or end the goroutine.
func (e *Ending) describe() {
	if e.Err == nil {
		e.Text = ""
		return
	}
	e.Text = "its error has no text: the method Error panics, or does not return"
	defer func() { _ = recover() }() // the text says that it panicked
	e.Text = e.Err.Error()
}

// event returns an event of the execution, to be filled in.
func (e *Execution) event(kind jobtype.EventKind) jobtype.Event {
	event := e.Reporter.Event(kind, e.Scopes.Started.InstanceID)
	event.Execution = e.Scopes.Started.Execution
	return event
}

// tellFinished tells scopes and observers that the handler has returned.
func (e *Execution) tellFinished(end Ending) {
	if e.Reporter.Unobserved() && e.Scopes.None() {
		return
	}
	event := e.event(jobtype.EventFinished)
	event.Outcome, event.Err, event.Attempt, event.Took, event.Output = end.Outcome, end.Err, end.Attempts, end.At.Mono.Sub(e.Begun.Mono), end.Output
	defer e.Reporter.TellFinished(event, end.Text) // also if a scope ends the goroutine
	e.Scopes.Close(event)
}
