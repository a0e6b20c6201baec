package connection

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/errclass"
)

// Errors that a program may want to tell apart.
var (
	// ErrNoNamespace: the console knows no namespace of that name.
	ErrNoNamespace = errclass.NotFound.New("no-namespace", "connection: no such namespace")
	// ErrNoDatabase: the console knows no database of that name.
	ErrNoDatabase = errclass.NotFound.New("no-database", "connection: no such database")
	// ErrDatabaseAway: the database does not answer; the error has the reason.
	ErrDatabaseAway = errclass.Unavailable.New("database-away", "connection: the database is away")
	// ErrClosed: the book was closed, or the entry was changed or removed.
	ErrClosed = errclass.Unavailable.New("closing", "connection: closed")

	// ErrExists: there is an entry of that name already.
	ErrExists = errclass.AlreadyExists.New("connection-exists", "connection: there is one of that name already")
	// ErrVersion: somebody has changed the entry since that version.
	ErrVersion = errclass.Aborted.New("connection-changed", "connection: it was changed since it was read")
	// ErrFixed: the program has given the entry, or the book has no file.
	ErrFixed = errclass.FailedPrecondition.New("connection-fixed", "connection: it cannot be changed here")
	// ErrInUse: namespaces use the database.
	ErrInUse = errclass.FailedPrecondition.New("database-used", "connection: the database is in use")
	// ErrMany: there would be more than MaxEntries.
	ErrMany = errclass.FailedPrecondition.New("too-many-connections", fmt.Sprintf("connection: allowed are %d", MaxEntries))

	// ErrNotAllowed: no option allows what an entry refers to.
	ErrNotAllowed = errclass.InvalidArgument.New("invalid", "no option of the console allows it")
	// ErrNoKey: a password was given in clear text, and there is no key to encrypt it with.
	ErrNoKey = errclass.InvalidArgument.New("invalid", "the console has no key to encrypt it with: start it with one, or give a reference that its options allow")
	// ErrExposed: others may write the file, or read passwords that stand in it in clear text.
	ErrExposed = errclass.InvalidArgument.New("", "others may use what is in it")
	// ErrElsewhere: a password is to be kept, but would be sent elsewhere, or to somebody else.
	ErrElsewhere = errclass.InvalidArgument.New("invalid", "the stored one is for another kind, address, user or TLS: give it again")
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
