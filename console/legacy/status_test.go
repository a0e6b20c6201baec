package legacy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

func TestStatusOf(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{access.ErrRefused, 401},
		{&access.LimitError{}, 429},
		{errSome, 403},
		{fmt.Errorf("%w: %w", errBody, errors.New("no JSON")), 400},
		{fmt.Errorf("%w: %w", errBody, &http.MaxBytesError{}), 413},
		{fmt.Errorf("job settle: %w", ops.ErrNoJob), 404},
		{ops.ErrConfigChanged, 409},
		{jobtype.ErrNobodyRunsIt, 409},
		{&jobtype.ConfigError{}, 400},
		{&ops.RequestError{Err: errors.New("no item")}, 400},
		{&connection.EntryError{Err: errors.New("too long")}, 400},
		{coord.ErrTooLarge, 400},
		{coord.ErrSessionLost, 503},
		{coord.ErrConflict, 500},
		{&coord.ConflictError{Reason: coord.ErrDenied}, 502},
		{fmt.Errorf("%w: %w", ops.ErrStoreAway, coord.ErrDenied), 503},
		{fmt.Errorf("%w: %w", ops.ErrBusy, coord.ErrUnknownOutcome), 503},
		{fmt.Errorf("%w: %w", connection.ErrDatabaseAway, context.DeadlineExceeded), 504},
		{context.Canceled, 504},
		{errors.New("other"), 500},
	} {
		if got := statusOf(tt.err); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.err, got, tt.want)
		}
	}
}
