package ops

import (
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/errclass"
)

// ErrRequest: what was asked for is never allowed, whoever asks, or not for a job of this kind. It comes as a
// *RequestError.
var ErrRequest = errclass.InvalidArgument.New("invalid", "ops: not allowed")

// RequestError says what is wrong with a field of a request.
type RequestError struct {
	Field string // as in the documents of package console: from, items
	Err   error  // with what is allowed
}

func (e *RequestError) Error() string { return e.Err.Error() }

// Unwrap returns ErrRequest and Err.
func (e *RequestError) Unwrap() []error { return []error{ErrRequest, e.Err} }

func wrong(field, format string, args ...any) error {
	return &RequestError{field, fmt.Errorf(format, args...)}
}
