package route

import (
	"context"
	"errors"
	"net/http"

	"github.com/elasticjob-go/elasticjob/console/access"
)

// Errors that say why a request does not get to its handler.
var (
	// ErrNoRoute: there is nothing at the path.
	ErrNoRoute = errors.New("there is nothing at this path")
	// ErrMethod: there is, but not by this method. The answer's header Allow has those that there are.
	ErrMethod = errors.New("the method is not allowed here")
	// ErrNobody: nobody is logged in.
	ErrNobody = errors.New("log in first")
	// ErrDenied: somebody is, and may not.
	ErrDenied = errors.New("not allowed")
	// ErrPath: the path cannot be understood.
	ErrPath = errors.New("the path cannot be read")
	// ErrOrigin: a page of another site has had the browser send it.
	ErrOrigin = errors.New("a page of another site has sent this")
	// ErrHost: the client believes that the console is another server.
	ErrHost = errors.New("this console has another name")
	// ErrTooLong: the path and query, or the headers, are longer than allowed.
	ErrTooLong = errors.New("path and query, or headers, are too long")
	// ErrTooLarge: the body is longer than allowed.
	ErrTooLarge = errors.New("the body is too large")
	// ErrOften: the address has as many requests at the same time as it may have. Header Retry-After is set.
	ErrOften = errors.New("too many requests at the same time from this address")
	// ErrBusy: all addresses together have. Header Retry-After is set.
	ErrBusy = errors.New("too many requests at the same time")
	// ErrClosed: the console is ending.
	ErrClosed = errors.New("the console is ending")
	// ErrPanic: the handler has panicked. What it says about that is in the log only.
	ErrPanic = errors.New("the console has a defect here; its log says more, under the request's id")
)

// Status returns the HTTP status for an error of this package, for one of package access that says why
// somebody is not let in, for one of http.MaxBytesReader, or for a context that has no time left; 0 for all
// others.
func Status(err error) int {
	for _, row := range []struct {
		err    error
		status int
	}{
		{ErrNoRoute, http.StatusNotFound},
		{ErrPath, http.StatusBadRequest},
		{ErrMethod, http.StatusMethodNotAllowed},
		{ErrNobody, http.StatusUnauthorized},
		{access.ErrRefused, http.StatusUnauthorized},
		{access.ErrLimited, http.StatusTooManyRequests},
		{access.ErrBusy, http.StatusServiceUnavailable},
		{ErrDenied, http.StatusForbidden},
		{ErrOrigin, http.StatusForbidden},
		{ErrHost, http.StatusMisdirectedRequest},
		{ErrTooLong, http.StatusRequestHeaderFieldsTooLarge},
		{ErrTooLarge, http.StatusRequestEntityTooLarge},
		{ErrOften, http.StatusTooManyRequests},
		{ErrBusy, http.StatusServiceUnavailable},
		{ErrClosed, http.StatusServiceUnavailable},
		{ErrPanic, http.StatusInternalServerError},
		{context.DeadlineExceeded, http.StatusGatewayTimeout},
	} {
		if errors.Is(err, row.err) {
			return row.status
		}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	return 0
}
