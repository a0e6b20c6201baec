package jobtree

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// Completion is the node that says how the last execution of an item ended. Its value is
// decoded when somebody asks: every member sees every finish, and few want to know.
type Completion struct{ coord.Node }

// Document reads the value. Its error says why it cannot be read; the document is zero then.
func (c *Completion) Document() (CompletionDocument, error) { return DecodeCompletion(c.Value) }

// CompletionDocument is the value of a completion's node. What is zero is not known.
type CompletionDocument struct {
	// Tick is the scheduled time that the execution was for.
	Tick time.Time
	// Token is the fencing token of the execution: Modified of the item's fired record.
	Token int64
	// Outcome says how it ended.
	Outcome Outcome
	// Ended is when, by the clock of the instance that ran it.
	Ended time.Time
	// TaskID names the execution, Source says why it ran, and Request who asked for it.
	TaskID, Source, Request string
	// Error is the beginning of the error; empty if there was none.
	Error string
}

// Outcome says how an execution ended. A newer version of this program may write others.
type Outcome string

// The outcomes of an execution.
const (
	OutcomeOK      Outcome = "OK"
	OutcomeFailed  Outcome = "FAILED"  // the handler returned an error
	OutcomePanic   Outcome = "PANIC"   // the handler panicked
	OutcomeTimeout Outcome = "TIMEOUT" // it took longer than the job allows
	OutcomeCut     Outcome = "CUT"     // its context ended before it did
)

// Bounds of a completion, in bytes.
const (
	maxCompletion = 4 << 10
	maxErrorText  = 256
	maxName       = 64 // of an outcome, a source, a task
)

// EncodeCompletion writes the value of a completion's node: YAML with short keys, because
// it is written with every finish. Texts that are too long are cut, the error after its
// first 256 bytes, so a finish never fails because of them. It stays below 4 KiB.
func EncodeCompletion(d CompletionDocument) []byte {
	b := make([]byte, 0, 192)
	b = appendTime(b, "tick", d.Tick)
	if d.Token != 0 {
		b = append(strconv.AppendInt(append(b, "token: "...), d.Token, 10), '\n')
	}
	b = appendText(b, "out", string(d.Outcome), maxName)
	b = appendTime(b, "end", d.Ended)
	b = appendText(b, "task", d.TaskID, maxName)
	b = appendText(b, "src", d.Source, maxName)
	b = appendText(b, "req", d.Request, maxRequestID)
	return appendText(b, "err", d.Error, maxErrorText)
}

// appendTime leaves out what is zero, and a year that RFC 3339 does not have.
func appendTime(b []byte, key string, t time.Time) []byte {
	t = t.UTC()
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return b
	}
	return append(t.AppendFormat(append(append(b, key...), ": "...), firedLayout), '\n')
}

// appendText writes a text between quotation marks, unless it needs none. Whatever Go
// escapes, YAML reads in the same way, but for bytes that are no UTF-8.
func appendText(b []byte, key, text string, most int) []byte {
	if text == "" {
		return b
	}
	b = append(append(b, key...), ": "...)
	text = strings.ToValidUTF8(brief.Cut(text, most), "?")
	if plainScalar(text) {
		return append(append(b, text...), '\n')
	}
	return append(strconv.AppendQuote(b, text), '\n')
}

// DecodeCompletion reads the value of a completion's node. Keys that are unknown are passed
// over, and those that are missing are zero, as all are in an empty value.
func DecodeCompletion(value []byte) (CompletionDocument, error) {
	d, err := decodeCompletion(value)
	if err != nil {
		return CompletionDocument{}, fmt.Errorf("completion: %w", err)
	}
	return d, nil
}

func decodeCompletion(value []byte) (d CompletionDocument, err error) {
	if len(value) > maxCompletion {
		return d, fmt.Errorf("%d bytes, at most %d are allowed", len(value), maxCompletion)
	}
	document, err := yamldoc.Parse(value)
	if err != nil && !errors.Is(err, yamldoc.ErrEmpty) {
		return d, err
	}
	var tick, token, outcome, ended string
	for _, field := range []struct {
		key  string
		text *string
		most int
	}{
		{"tick", &tick, maxName}, {"token", &token, maxName}, {"out", &outcome, maxName}, {"end", &ended, maxName},
		{"task", &d.TaskID, maxName}, {"src", &d.Source, maxName}, {"req", &d.Request, maxRequestID}, {"err", &d.Error, maxErrorText},
	} {
		if *field.text, err = yamldoc.Text(document[field.key]); err != nil {
			return d, fmt.Errorf("%s: %w", field.key, err)
		}
		if most := field.most + len("…"); len(*field.text) > most { // what was cut has a mark
			return d, fmt.Errorf("%s: %d bytes, at most %d are allowed", field.key, len(*field.text), most)
		}
	}
	d.Outcome = Outcome(outcome)
	if d.Tick, err = parseTime(tick); err != nil {
		return d, fmt.Errorf("tick: %w", err)
	}
	if d.Ended, err = parseTime(ended); err != nil {
		return d, fmt.Errorf("end: %w", err)
	}
	if token == "" {
		return d, nil
	}
	if d.Token, err = strconv.ParseInt(token, 10, 64); err != nil {
		return d, fmt.Errorf("token %s: an integer is allowed", brief.Quote(token))
	}
	return d, nil
}
