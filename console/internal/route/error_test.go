package route

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/internal/errclass"
)

func TestStatus(t *testing.T) {
	for err, want := range map[error]int{
		ErrNobody: 401, fmt.Errorf("%w: anna", ErrDenied): 403, ErrOrigin: 403, ErrNoRoute: 404, ErrMethod: 405, ErrHost: 421,
		access.ErrRefused: 401, &access.LimitError{}: 429, access.ErrBusy: 503, access.ErrNoFile: 0,
		ErrOften: 429, ErrBusy: 503, ErrPanic: 500, &http.MaxBytesError{}: 413, context.DeadlineExceeded: 504, errors.New("other"): 0,
		fmt.Errorf("%w: %w", access.ErrLocked, context.DeadlineExceeded): 504,
	} {
		if got := Status(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
}

func TestStatusOf(t *testing.T) {
	for class, want := range map[errclass.Class]int{
		errclass.InvalidArgument: 422, errclass.OutOfRange: 422, errclass.NotFound: 404, errclass.AlreadyExists: 409,
		errclass.FailedPrecondition: 409, errclass.Aborted: 412, errclass.Busy: 503, errclass.Unauthenticated: 401,
		errclass.PermissionDenied: 502, errclass.ResourceExhausted: 429, errclass.Unavailable: 503, errclass.Unimplemented: 500,
	} {
		if got := StatusOf(class); got != want {
			t.Errorf("%s: %d, want %d", class, got, want)
		}
	}
}
