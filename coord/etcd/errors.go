package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/elasticjob-go/elasticjob/coord"
)

// errForgotten: the revision to read was compacted meanwhile. It never leaves the
// package: whoever gets it reads again, at the newest.
var errForgotten = errors.New("revision forgotten")

// convertError gives an error of the client one of coord's, and the name of what was
// attempted. ctx is the request's: if it has ended, its cause is the reason.
func convertError(ctx context.Context, err error, what string) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && endedByContext(err) {
		return fmt.Errorf("etcd: %s: %w", what, context.Cause(ctx))
	}
	return fmt.Errorf("etcd: %s: %w: %v", what, kindOf(err), err)
}

// noAnswer is the cause of a context that bounds a request.
func noAnswer(within time.Duration) error {
	return fmt.Errorf("%w: no answer within %v", coord.ErrUnavailable, within)
}

func kindOf(err error) error {
	// Of what the server answers only its text crosses the client library whole.
	switch e := rpctypes.Error(err); {
	case errors.Is(e, rpctypes.ErrCompacted):
		return errForgotten
	case errors.Is(e, rpctypes.ErrPermissionDenied),
		errors.Is(e, rpctypes.ErrAuthFailed),
		errors.Is(e, rpctypes.ErrUserNotFound),
		refusedToken(e):
		return coord.ErrDenied
	case errors.Is(e, rpctypes.ErrLeaseNotFound):
		return coord.ErrSessionLost
	case errors.Is(e, rpctypes.ErrRequestTooLarge),
		errors.Is(e, rpctypes.ErrTooManyOps),
		status.Code(err) == codes.ResourceExhausted && strings.Contains(err.Error(), "larger than max"):
		return coord.ErrTooLarge
	case refusedHandshake(err):
		return coord.ErrDenied
	}
	// So is a store whose database has no space left: it takes no writes until somebody
	// makes room, and says that in its text.
	return coord.ErrUnavailable
}

// watchError is the error of a watch. When a server refuses a watch, the reason is the
// text of a gRPC error as a whole, in which the client does not recognize its own.
func watchError(response *clientv3.WatchResponse) error {
	err := response.Err()
	if err == nil {
		return nil
	}
	if _, reason, ok := strings.Cut(err.Error(), " desc = "); ok {
		return rpctypes.Error(errors.New(reason))
	}
	return err
}

// refusedToken reports whether a server does not take the token that the client got from
// it when it logged in: it has expired, or users were changed since.
func refusedToken(err error) bool {
	e := rpctypes.Error(err)
	return errors.Is(e, rpctypes.ErrInvalidAuthToken) ||
		errors.Is(e, rpctypes.ErrAuthOldRevision) ||
		errors.Is(e, rpctypes.ErrUserEmpty)
}

// refusedHandshake reports whether one side did not trust the other's certificate. gRPC
// keeps only the text of such an error.
func refusedHandshake(err error) bool {
	if status.Code(err) != codes.Unavailable {
		return false
	}
	text := err.Error()
	return strings.Contains(text, "x509: ") || strings.Contains(text, "tls: failed to verify certificate") || strings.Contains(text, "remote error: tls: ")
}

func endedByContext(err error) bool {
	code := status.Code(err)
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		code == codes.Canceled || code == codes.DeadlineExceeded
}

// maybeDone reports whether a write that was sent may have happened, or may yet, in
// spite of this answer.
func maybeDone(err error) bool {
	code := status.Code(err)
	if answer := (rpctypes.EtcdError{}); errors.As(rpctypes.Error(err), &answer) {
		code = answer.Code()
	}
	switch code {
	case codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.PermissionDenied,
		codes.ResourceExhausted, codes.FailedPrecondition, codes.OutOfRange,
		codes.Unimplemented, codes.Unauthenticated:
		return false
	}
	return true
}
