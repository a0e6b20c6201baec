package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/elasticjob-go/elasticjob/coord"
)

// errCompacted: the store has compacted the revision that was to be read. It never leaves
// the package: whoever gets it reads again, at the newest revision.
var errCompacted = errors.New("revision compacted")

// convertError wraps an error of the client in one of coord's, and says what was attempted.
// ctx is the request's context: if it has ended, its cause is the reason.
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

// kindOf returns the error of coord that fits an error of the client.
func kindOf(err error) error {
	// The client library keeps nothing of a server's error but its text.
	switch e := rpctypes.Error(err); {
	case errors.Is(e, rpctypes.ErrCompacted):
		return errCompacted
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
	// This includes a store whose database has no space left. It takes no writes until
	// somebody makes room; the text of the error says so.
	return coord.ErrUnavailable
}

// cancelReason is why the server has ended or refused a watch, as one of etcd's errors.
func cancelReason(answer *pb.WatchResponse) error {
	if answer.CompactRevision > 0 {
		return rpctypes.ErrCompacted
	}
	return reasonError(answer.CancelReason)
}

// reasonError returns the reason for which a server has ended or refused a watch, as one of
// etcd's errors if it is one. The text may be that of a whole gRPC error.
func reasonError(text string) error {
	if _, reason, ok := strings.Cut(text, " desc = "); ok {
		text = reason
	}
	if text == "" {
		text = "the server gives no reason"
	}
	return rpctypes.Error(errors.New(text))
}

// refusedToken reports whether a server refuses the token that the client got when it
// logged in: the token has expired, or users were changed since.
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

// isAnswer reports whether the store has answered a request that returned this error.
func isAnswer(err error) bool {
	return err == nil || !maybeDone(err) && status.Code(err) != codes.ResourceExhausted // the client, too, refuses what is too large
}

// codeOf returns the gRPC code of an error, of which the client library may have kept only the text.
func codeOf(err error) codes.Code {
	if answer, ok := errors.AsType[rpctypes.EtcdError](rpctypes.Error(err)); ok {
		return answer.Code()
	}
	return status.Code(err)
}

// maybeDone reports whether a write that was sent may have been done, or may still be,
// in spite of this error.
func maybeDone(err error) bool {
	switch codeOf(err) {
	case codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.PermissionDenied,
		codes.ResourceExhausted, codes.FailedPrecondition, codes.OutOfRange,
		codes.Unimplemented, codes.Unauthenticated:
		return false
	}
	return true
}
