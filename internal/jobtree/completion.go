package jobtree

import (
	"bytes"
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
	d, err := c.Document()
	if err != nil {
		return ""
	}
	return d.Outcome
}

// CompletionDocument is the value of a completion's node. A zero field is unknown.
type CompletionDocument struct {
	// Tick is the scheduled time that the execution was for.
	Tick time.Time
	// Token is the fencing token of the execution: Modified of the item's fired node.
	Token int64
	// Outcome says how it ended.
	Outcome Outcome
	// Begun is when its handler was called, and Ended when it ended, by the clock of the instance
	// that ran it.
	Begun, Ended time.Time
	// TaskID names the execution, Source says why it ran, and Request is the id of the
	// trigger request that asked for it.
	TaskID, Source, Request string
	// Original is the task id of the execution that this one repeats, or empty: the first of
	// them.
	Original string
	// Error is the beginning of the error; empty if there was none.
	Error string
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

// Bounds of a completion, in bytes.
const (
	maxCompletion = 4 << 10
	maxErrorText  = 256
	maxName       = 64 // of any other field
)

// EncodeCompletion writes the value of a completion's node: YAML with short keys, because
// every finish writes one. It stays below 4 KiB, because it cuts long texts: the error
// after 256 bytes. So it always succeeds, and a finish cannot fail because of it.
func EncodeCompletion(d CompletionDocument) []byte {
	b := make([]byte, 0, 192)
	b = appendTime(b, "tick", d.Tick)
	if d.Token != 0 {
		b = append(strconv.AppendInt(append(b, "token: "...), d.Token, 10), '\n')
	}
	b = appendText(b, "out", string(d.Outcome), maxName)
	b = appendTime(b, "beg", d.Begun)
	b = appendTime(b, "end", d.Ended)
	b = appendText(b, "task", d.TaskID, maxName)
	b = appendText(b, "orig", d.Original, maxName)
	b = appendText(b, "src", d.Source, maxName)
	b = appendText(b, "req", d.Request, maxRequestID)
	return appendText(b, "err", d.Error, maxErrorText)
}

// appendTime writes a time, unless it is zero or its year is not allowed in RFC 3339.
func appendTime(b []byte, key string, t time.Time) []byte {
	t = t.UTC()
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return b
	}
	return append(t.AppendFormat(append(append(b, key...), ": "...), firedLayout), '\n')
}

// appendText writes a text, between quotation marks if YAML needs them. YAML reads all
// escapes that Go writes, except those for bytes that are not UTF-8.
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

// DecodeCompletion reads the value of a completion's node. It ignores unknown keys. The
// field of a missing key is zero.
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
	var tick, token, outcome, begun, ended string
	for _, field := range []struct {
		key  string
		text *string
		most int
	}{
		{"tick", &tick, maxName}, {"token", &token, maxName}, {"out", &outcome, maxName}, {"beg", &begun, maxName}, {"end", &ended, maxName},
		{"task", &d.TaskID, maxName}, {"orig", &d.Original, maxName}, {"src", &d.Source, maxName}, {"req", &d.Request, maxRequestID}, {"err", &d.Error, maxErrorText},
	} {
		if *field.text, err = yamldoc.Text(document[field.key]); err != nil {
			return d, fmt.Errorf("%s: %w", field.key, err)
		}
		if most := field.most + len("…"); len(*field.text) > most { // a text that was cut ends with …
			return d, fmt.Errorf("%s: %d bytes, at most %d are allowed", field.key, len(*field.text), most)
		}
	}
	d.Outcome = Outcome(outcome)
	if d.Tick, err = parseTime(tick); err != nil {
		return d, fmt.Errorf("tick: %w", err)
	}
	if d.Begun, err = parseTime(begun); err != nil {
		return d, fmt.Errorf("beg: %w", err)
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
