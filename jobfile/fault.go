package jobfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// ErrInvalid is in the chain of every *Error.
var ErrInvalid = errors.New("jobfile: the configuration is invalid")

// Error lists what is wrong with the files of a program, in the order of the files and lines.
// errors.Is finds [ErrInvalid] in it, and errors.As a *Mistake.
type Error struct {
	Mistakes []*Mistake // the first ones, at most MaxMistakes
	More     int        // how many more there are
}

// MaxMistakes bounds the mistakes that an Error lists.
const MaxMistakes = 20

// Error has a line for each mistake.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(ErrInvalid.Error())
	for _, m := range e.Mistakes {
		b.WriteString("\n  " + m.Error())
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\n  and %d more", e.More)
	}
	return b.String()
}

// Unwrap returns ErrInvalid and the mistakes.
func (e *Error) Unwrap() []error {
	errs := []error{ErrInvalid}
	for _, m := range e.Mistakes {
		errs = append(errs, m)
	}
	return errs
}

// Mistake is one thing that is wrong in a file.
type Mistake struct {
	File string // as it was given
	// Line and Column count from 1; 0 if the mistake is about no line.
	Line, Column int
	Path         string // of the key, such as jobs.settle.cron; empty if it is about the file
	Err          error  // what is wrong, and what is allowed
}

// Error says where the mistake is, and what is wrong, in one line of bounded length.
func (m *Mistake) Error() string {
	text := place{m.File, m.Line, m.Column}.String() + ": "
	if m.Path != "" {
		text += brief.Cut(m.Path, 2*brief.MaxText) + ": "
	}
	return text + strings.ReplaceAll(brief.Error(m.Err).Error(), "\n", " ")
}

// Unwrap returns Err.
func (m *Mistake) Unwrap() error { return m.Err }

// reader collects mistakes.
type reader struct {
	mistakes []*Mistake
	more     int
	files    []string // in their order
	// draft is whether references are not expanded yet: then a value that has one is not judged.
	draft bool
}

func (r *reader) fault(at place, path, format string, args ...any) {
	if r.isFull() {
		r.more++
		return
	}
	r.mistakes = append(r.mistakes, &Mistake{File: at.file, Line: at.line, Column: at.column, Path: path, Err: fmt.Errorf(format, args...)})
}

// isFull reports whether further mistakes are only counted. More are kept than are shown, because
// they are sorted at the end.
func (r *reader) isFull() bool { return len(r.mistakes) >= 10*MaxMistakes }

// err returns the mistakes as an error; nil if there are none.
func (r *reader) err() error {
	if len(r.mistakes) == 0 {
		return nil
	}
	slices.SortStableFunc(r.mistakes, func(a, b *Mistake) int {
		return cmp.Or(cmp.Compare(slices.Index(r.files, a.File), slices.Index(r.files, b.File)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	shown := min(len(r.mistakes), MaxMistakes)
	return &Error{Mistakes: slices.Clip(r.mistakes[:shown]), More: len(r.mistakes) - shown + r.more}
}

// orMeant returns a question for the known name that is nearest to an unknown one; else the
// known ones, if they are few.
func orMeant(unknown string, known []string) string {
	near := brief.Similar(unknown, known)
	switch {
	case len(near) > 0:
		return "; did you mean " + near[0] + "?"
	case len(known) > 0 && len(known) <= 12:
		return "; allowed are " + strings.Join(known, ", ")
	}
	return ""
}
