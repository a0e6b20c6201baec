package engine

import (
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

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
		Tick: r.Tick, Token: r.Token, Outcome: jobtree.Outcome(r.ending.outcome.String()), Begun: r.begun.wall, Ended: r.ending.at.wall,
		TaskID: r.TaskID, Original: r.Original, Source: Source(r.Source).String(), Request: r.Request, Error: r.ending.text,
	}
}
