package zk

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
)

// errTimeout is the cause of a context that ends with Config.RequestTimeout.
var errTimeout = fmt.Errorf("%w: no answer within the request time-out", coord.ErrUnavailable)

// errConnEnded: the connection's session has ended, so nothing more is sent on it.
var errConnEnded = errors.New("the session of this connection has ended")

// endedError marks the cause of a context that has ended, which may be any error.
type endedError struct{ cause error }

func (e *endedError) Error() string { return e.cause.Error() }
func (e *endedError) Unwrap() error { return e.cause }

// unsentError says why a request was not sent.
type unsentError struct{ cause error }

func (e *unsentError) Error() string { return "not sent: " + e.cause.Error() }
func (e *unsentError) Unwrap() error { return e.cause }

// unansweredError says why nobody waits for the answer to a request any more.
type unansweredError struct{ cause error }

func (e *unansweredError) Error() string { return "no answer: " + e.cause.Error() }
func (e *unansweredError) Unwrap() error { return e.cause }

// convertError wraps an error of the client library or of a server in one of coord's. path
// is that of the node in question, or empty.
func convertError(err error, path string) error {
	var is error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zookeeper.ErrNoNode):
		is = coord.ErrNoNode
	case errors.Is(err, zookeeper.ErrNodeExists):
		is = coord.ErrNodeExists
	case errors.Is(err, zookeeper.ErrBadVersion):
		is = coord.ErrVersion
	case errors.Is(err, zookeeper.ErrNotEmpty):
		is = coord.ErrNotEmpty
	case errors.Is(err, zookeeper.ErrNoAuth), errors.Is(err, zookeeper.ErrAuthFailed), errors.Is(err, zookeeper.ErrInvalidACL):
		is = fmt.Errorf("%w (%w)", coord.ErrDenied, err)
	case errors.Is(err, zookeeper.ErrSessionExpired):
		is = fmt.Errorf("%w (%w)", coord.ErrSessionLost, err)
	case errors.Is(err, zookeeper.ErrNoChildrenForEphemerals):
		is = fmt.Errorf("%w: its parent is ephemeral (%w)", coord.ErrInvalidCommit, err)
	case errors.Is(err, zookeeper.ErrInvalidPath), errors.Is(err, zookeeper.ErrBadArguments):
		is = fmt.Errorf("%w: ZooKeeper refuses it (%w)", coord.ErrInvalidPath, err)
	case isOurs(err):
		is = err
	default:
		is = fmt.Errorf("%w: %w", coord.ErrUnavailable, err)
	}
	if path == "" {
		return is
	}
	return fmt.Errorf("%s: %w", path, is)
}

// isOurs reports whether an error already says what callers branch on: one of coord's,
// or the cause of a context.
func isOurs(err error) bool {
	return hasEnded(err) || isOneOf(err,
		coord.ErrUnavailable, coord.ErrClosed, coord.ErrSessionLost,
		coord.ErrDenied, coord.ErrConflict, coord.ErrTooLarge, coord.ErrUnknownOutcome, coord.ErrInvalidCommit)
}

// hasEnded reports whether an error is the cause of a context.
func hasEnded(err error) bool {
	_, ok := errors.AsType[*endedError](err)
	return ok
}

func isOneOf(err error, list ...error) bool {
	return slices.ContainsFunc(list, func(one error) bool { return errors.Is(err, one) })
}

// wasAnswered reports whether an error is a server's answer, or says that nothing was sent.
// With any other error nobody knows whether a write was done.
func wasAnswered(err error) bool {
	if _, unsent := errors.AsType[*unsentError](err); unsent {
		return true
	}
	return isOneOf(err,
		zookeeper.ErrNoNode, zookeeper.ErrNodeExists, zookeeper.ErrBadVersion, zookeeper.ErrNotEmpty,
		zookeeper.ErrNoChildrenForEphemerals, zookeeper.ErrNoAuth, zookeeper.ErrAuthFailed, zookeeper.ErrInvalidACL,
		zookeeper.ErrSessionExpired, zookeeper.ErrSessionMoved, zookeeper.ErrBadArguments, zookeeper.ErrAPIError,
		// The library returns these before it sends anything.
		zookeeper.ErrNoServer, zookeeper.ErrInvalidPath, zookeeper.ErrShortBuffer)
}

// isLost reports whether an error only says that the connection broke, so that a read may
// be tried again on the next connection.
func isLost(err error) bool {
	if hasEnded(err) {
		return false // the caller's context has ended
	}
	_, network := errors.AsType[net.Error](err)
	return network || isOneOf(err,
		errConnEnded, zookeeper.ErrConnectionClosed, zookeeper.ErrClosing, zookeeper.ErrNoServer,
		zookeeper.ErrSessionMoved, zookeeper.ErrSessionExpired, io.EOF)
}
