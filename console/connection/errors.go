package connection

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Errors that a program may want to tell apart.
var (
	// ErrNoNamespace: the console knows no namespace of that name.
	ErrNoNamespace = errors.New("connection: no such namespace")
	// ErrNoDatabase: the console knows no database of that name.
	ErrNoDatabase = errors.New("connection: no such database")
	// ErrDatabaseAway: the database does not answer; the error has the reason.
	ErrDatabaseAway = errors.New("connection: the database is away")
	// ErrClosed: the book was closed, or the entry was changed or removed.
	ErrClosed = errors.New("connection: closed")

	// ErrExists: there is an entry of that name already.
	ErrExists = errors.New("connection: there is one of that name already")
	// ErrVersion: somebody has changed the entry since that version.
	ErrVersion = errors.New("connection: it was changed since it was read")
	// ErrFixed: the program has given the entry, or the book has no file.
	ErrFixed = errors.New("connection: it cannot be changed here")
	// ErrInUse: namespaces use the database.
	ErrInUse = errors.New("connection: the database is in use")
	// ErrMany: there would be more than MaxEntries.
	ErrMany = fmt.Errorf("connection: allowed are %d", MaxEntries)

	// ErrNotAllowed: no option allows what an entry refers to.
	ErrNotAllowed = errors.New("no option of the console allows it")
	// ErrNoKey: a password was given in clear text, and there is no key to encrypt it with.
	ErrNoKey = errors.New("the console has no key to encrypt it with: start it with one, or give a reference that its options allow")
	// ErrElsewhere: a password is to be kept, but would be sent elsewhere, or to somebody else.
	ErrElsewhere = errors.New("the stored one is for another kind, address, user or TLS: give it again")
)

// hide returns an error whose text has no secret, and is short. Drivers may quote what they were given.
func hide(err error, secret string) error {
	const least = 4 // a shorter one would be found in many words
	if err == nil || len(secret) < least {
		return brief.Error(err)
	}
	text := err.Error()
	for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), url.UserPassword("", secret).String()[1:], quoted(secret)} {
		text = strings.ReplaceAll(text, form, masked)
	}
	if text == err.Error() {
		return brief.Error(err)
	}
	return &hiddenError{brief.Cut(text, 500), err}
}

// quoted is a text as %q writes it, without the quotation marks.
func quoted(text string) string {
	q := fmt.Sprintf("%q", text)
	return q[1 : len(q)-1]
}

type hiddenError struct {
	text string
	err  error
}

func (e *hiddenError) Error() string { return e.text }
func (e *hiddenError) Unwrap() error { return e.err }
