package route

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
)

func TestStatus(t *testing.T) {
	for err, want := range map[error]int{
		ErrNobody: 401, fmt.Errorf("%w: anna", ErrDenied): 403, ErrOrigin: 403, ErrNoRoute: 404, ErrMethod: 405, ErrHost: 421,
		access.ErrRefused: 401, &access.LimitError{}: 429, access.ErrBusy: 503,
		ErrOften: 429, ErrBusy: 503, ErrPanic: 500, &http.MaxBytesError{}: 413, context.DeadlineExceeded: 504, errors.New("other"): 0,
	} {
		if got := Status(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
}
