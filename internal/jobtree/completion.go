package jobtree

import (
	"bytes"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Completion is the node that says how the last execution of an item ended. Its value is
// decoded only on request, because every member sees every finish and few need to know.
type Completion struct{ coord.Node }

// Document decodes the value. With an error, the document is zero.
func (c *Completion) Document() (CompletionDocument, error) { return DecodeCompletion(c.Value) }

// Outcome returns the outcome alone, much faster than Document does: who lists jobs needs that of
// all items, and the rest of few. It is empty if the value cannot be read.
func (c *Completion) Outcome() Outcome {
	for line := range bytes.Lines(c.Value) {
		if word, ok := bytes.CutPrefix(line, []byte("out: ")); ok && len(word) <= maxName {
			if text := string(bytes.TrimSuffix(word, []byte("\n"))); plainScalar(text) {
				return Outcome(text)
			}
		}
	}
	d, _ := c.Document()
	return d.Outcome
}

// IsFor reports whether the node tells the end of a run for a tick that nobody goes on with, and
// that no request has asked for. It is asked for many items, so it does not decode the whole.
func (c *Completion) IsFor(tick time.Time) bool {
	if c == nil {
		return false
	}
	rest, ok := bytes.CutPrefix(c.Value, appendTime(nil, "tick", tick, firedLayout))
	if !ok || bytes.Contains(rest, []byte("\nreq: ")) {
		return false
	}
	return !bytes.Contains(rest, []byte("out: "+OutcomeCut+"\n")) && !bytes.Contains(rest, []byte("out: "+OutcomeKilled+"\n"))
}

// CompletionDocument is the value of a completion's node. A zero field is unknown.
type CompletionDocument struct {
	// Tick is the scheduled time that the execution was for.
	Tick time.Time `doc:"tick"`
	// Token is the fencing token of the execution: Modified of the item's fired node.
	Token int64 `doc:"token"`
	// Outcome says how it ended.
	Outcome Outcome `doc:"out,64"`
	// Begun is when its handler was called, and Ended when it ended, by the clock of the instance
	// that ran it.
	Begun time.Time `doc:"beg"`
	Ended time.Time `doc:"end"`
	// TaskID names the execution.
	TaskID string `doc:"task,64"`
	// Original is the task id of the execution that this one repeats, or empty: the first of
	// them.
	Original string `doc:"orig,64"`
	// Source says why it ran, and Request is the id of the request that asked for it.
	Source  string `doc:"src,64"`
	Request string `doc:"req,255"`
	// Error is the beginning of the error; empty if there was none.
	Error string `doc:"err,256"`
}

// Outcome says how an execution ended. A newer version may write other ones.
type Outcome string

// The outcomes of an execution.
const (
	OutcomeOK      Outcome = "OK"
	OutcomeFailed  Outcome = "FAILED"  // the handler returned an error
	OutcomePanic   Outcome = "PANIC"   // the handler panicked
	OutcomeTimeout Outcome = "TIMEOUT" // it took longer than the job allows
	OutcomeCut     Outcome = "CUT"     // its context ended before the handler returned
	OutcomeKilled  Outcome = "KILLED"  // an operator has ended it
)

// maxName bounds most texts in documents, in bytes.
const maxName = 64

// completions has short keys, because every finish writes one. Documents stay below 4 KiB, because long texts
// are cut: so a finish cannot fail because of it.
var completions = newCodec[CompletionDocument]("completion", 4<<10, nil)

// EncodeCompletion writes the value of a completion's node.
func EncodeCompletion(d CompletionDocument) []byte { return completions.encode(d) }

// DecodeCompletion reads the value of a completion's node. With an error, the document is zero.
func DecodeCompletion(value []byte) (CompletionDocument, error) { return completions.decode(value) }
