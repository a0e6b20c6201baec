package trace

import (
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
)

// bounded returns a text as events have it: valid UTF-8, of at most MaxText bytes.
func bounded(text string) string {
	return strings.ToValidUTF8(brief.Cut(text, MaxText-len("…")), "?")
}

// errorText returns the text of an error, with the stack of a panic. The methods of an error are
// the user's: they may panic.
func errorText(err error) (text string) {
	if err == nil {
		return ""
	}
	text = "its error has no text: the method Error panics"
	defer func() { _ = recover() }() // the text says that it panicked
	text = bounded(err.Error())
	if p, ok := err.(*job.PanicError); ok { // errors.As would call methods of err
		text = bounded(text + "\n" + string(p.Stack))
	}
	return text
}
