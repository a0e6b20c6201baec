package route

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/elasticjob-go/elasticjob/internal/errclass"
)

// Errors that say why a request does not get to its handler.
var (
	// ErrNoRoute: there is nothing at the path.
	ErrNoRoute = NewError(http.StatusNotFound, "no-route", "there is nothing at this path")
	// ErrMethod: there is, but not by this method. The answer's header Allow has those that there are.
	ErrMethod = NewError(http.StatusMethodNotAllowed, "method-not-allowed", "the method is not allowed here")
	// ErrNobody: nobody is logged in.
	ErrNobody = NewError(http.StatusUnauthorized, "not-logged-in", "log in first")
	// ErrDenied: somebody is, and may not.
	ErrDenied = NewError(http.StatusForbidden, "denied", "not allowed")
	// ErrPath: the path cannot be understood.
	ErrPath = NewError(http.StatusBadRequest, "bad-path", "the path cannot be read")
	// ErrOrigin: a page of another site has had the browser send it.
	ErrOrigin = NewError(http.StatusForbidden, "cross-origin", "a page of another site has sent this")
	// ErrHost: the client believes that the console is another server.
	ErrHost = NewError(http.StatusMisdirectedRequest, "other-host", "this console has another name")
	// ErrTooLong: the path and query, or the headers, are longer than allowed.
	ErrTooLong = NewError(http.StatusRequestHeaderFieldsTooLarge, "too-long", "path and query, or headers, are too long")
	// ErrTooLarge: the body is longer than allowed.
	ErrTooLarge = NewError(http.StatusRequestEntityTooLarge, "too-large", "the body is too large")
	// ErrOften: the address has as many requests at the same time as it may have. Header Retry-After is set.
	ErrOften = NewError(http.StatusTooManyRequests, "too-many-requests", "too many requests at the same time from this address")
	// ErrBusy: all addresses together have. Header Retry-After is set.
	ErrBusy = NewError(http.StatusServiceUnavailable, "busy-console", "too many requests at the same time")
	// ErrClosed: the console is ending.
	ErrClosed = NewError(http.StatusServiceUnavailable, "closing", "the console is ending")
	// ErrPanic: the handler has panicked. What it says about that is in the log only.
	ErrPanic = NewError(http.StatusInternalServerError, "internal", "the console has a defect here; its log says more, under the request's id")
)

// Error is an error of a request with the HTTP status of its answer, and with what the API calls it.
type Error struct {
	Status     int
	Code, text string
}

// NewError returns an error for a status. Without a code it is none of the API.
func NewError(status int, code, text string) error { return &Error{status, code, text} }

func (e *Error) Error() string { return e.text }

// Status returns the HTTP status for an error of this type, of http.MaxBytesReader, for a context that has no time
// left, or for an error that has a class and a code; 0 for all others.
func Status(err error) int {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return http.StatusGatewayTimeout
	}
	if e := errclass.Coded(err); e != nil {
		return StatusOf(e.Class)
	}
	return 0
}

// StatusOf returns the HTTP status of a class of errors.
func StatusOf(c errclass.Class) int {
	return cmp.Or(map[errclass.Class]int{
		errclass.InvalidArgument:    http.StatusUnprocessableEntity,
		errclass.OutOfRange:         http.StatusUnprocessableEntity,
		errclass.NotFound:           http.StatusNotFound,
		errclass.AlreadyExists:      http.StatusConflict,
		errclass.FailedPrecondition: http.StatusConflict,
		errclass.Aborted:            http.StatusPreconditionFailed,
		errclass.Busy:               http.StatusServiceUnavailable,
		errclass.Unauthenticated:    http.StatusUnauthorized,
		errclass.PermissionDenied:   http.StatusBadGateway, // the store's word, not the console's
		errclass.ResourceExhausted:  http.StatusTooManyRequests,
		errclass.Unavailable:        http.StatusServiceUnavailable,
	}[c], http.StatusInternalServerError)
}
