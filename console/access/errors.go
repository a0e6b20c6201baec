package access

import (
	"github.com/elasticjob-go/elasticjob/internal/errclass"
	"github.com/elasticjob-go/elasticjob/internal/lockedfile"
)

// Errors that a program may want to tell apart. Their texts may be shown.
var (
	// ErrRefused: what should say who sends a request does not do so. The text says why.
	ErrRefused = errclass.Unauthenticated.New("refused", "not let in")
	// ErrBusy: too many passwords are being checked. Try again in a second.
	ErrBusy = errclass.Busy.New("too-many-log-ins", "too many log-ins at the same time")
	// ErrNoSession: there is no such session, or it is over.
	ErrNoSession = errclass.NotFound.New("no-session", "no such session")
	// ErrReadOnly: the console has no users file, so there are no users to change.
	ErrReadOnly = errclass.FailedPrecondition.New("no-users-file", "the console has no users file")
	// ErrLimited: there were too many log-ins that failed. See [LimitError].
	ErrLimited = errclass.ResourceExhausted.New("limited", "too many log-ins have failed")
	// ErrPassword: a password is not allowed. The text says why, and never has the password.
	ErrPassword = errclass.InvalidArgument.New("bad-password", "the password is not allowed")
	// ErrNoUser: there is no user of that name.
	ErrNoUser = errclass.NotFound.New("no-user", "no such user")
	// ErrNoToken: the user has no token of that name.
	ErrNoToken = errclass.NotFound.New("no-token", "no such token")
	// ErrExists: there is one of that name already.
	ErrExists = errclass.AlreadyExists.New("exists", "there is one of that name already")
	// ErrLastAdmin: nobody would be left who may do everything, and is not disabled.
	ErrLastAdmin = errclass.FailedPrecondition.New("last-admin", "he is the last admin for everything: make another one first")
	// ErrChanged: the user has another version than the one that is to be changed.
	ErrChanged = errclass.Aborted.New("user-changed", "he was changed meanwhile: look again")
	// ErrInvalid: a value is not allowed. The text has the field.
	ErrInvalid = errclass.InvalidArgument.New("invalid", "not allowed")
	// ErrNoFile: there is no users file.
	ErrNoFile = errclass.NotFound.New("", "there is no such file; elasticjob console user add makes one")
	// ErrExposed: others than its owner can write the users file, or others than its owner and group read it.
	ErrExposed = errclass.InvalidArgument.New("", "others have rights to it, and it has hashes of passwords")
	// ErrLocked: another process has been changing the users file for too long.
	ErrLocked = lockedfile.ErrLocked
	// ErrHash: a hash cannot be read, or is too weak, or would take too much to check.
	ErrHash = errclass.InvalidArgument.New("", "the hash of a password is not usable")
)
