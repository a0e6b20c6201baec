package ops

import (
	"errors"
	"fmt"
)

// ErrRequest: what was asked for is never allowed, whoever asks, or not for a job of this kind. It comes as a
// *RequestError.
var ErrRequest = errors.New("ops: not allowed")

// RequestError says what is wrong with a field of a request.
type RequestError struct {
	Field string // as in the documents of package console: from, items
	Err   error  // with what is allowed
}

func (e *RequestError) Error() string { return e.Err.Error() }

// Is reports whether target is ErrRequest.
func (e *RequestError) Is(target error) bool { return target == ErrRequest }

// Unwrap returns Err.
func (e *RequestError) Unwrap() error { return e.Err }

func wrong(field, format string, args ...any) error {
	return &RequestError{field, fmt.Errorf(format, args...)}
}
