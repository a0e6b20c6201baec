package exit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/errclass"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/migrate"
)

func TestTable(t *testing.T) {
	last := exit.Code(-1)
	for _, m := range exit.Meanings() {
		if m.Code <= last || m.Meaning == "" {
			t.Errorf("code %d is out of order, or means nothing", m.Code)
		}
		last = m.Code
	}
}

func TestCodes(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want exit.Code
	}{
		{nil, exit.Done},
		{errors.New("any"), exit.Failed},
		{exit.Errorf(exit.Findings, "some"), exit.Findings},
		{fmt.Errorf("with words: %w", exit.With(exit.Usage, ops.ErrNoJob)), exit.Usage},
		{fmt.Errorf("job settle: %w", ops.ErrNoJob), exit.NotFound},
		{ops.ErrConfigChanged, exit.Conflict},
		{fmt.Errorf("%w: %w", ops.ErrBusy, coord.ErrConflict), exit.Conflict},
		{&coord.ConflictError{Reason: coord.ErrDenied}, exit.Denied},
		{fmt.Errorf("%w: %w", coord.ErrUnavailable, coord.ErrDenied), exit.Denied},
		{coord.ErrUnavailable, exit.Unreachable},
		{fmt.Errorf("%w: %w", coord.ErrUnknownOutcome, context.DeadlineExceeded), exit.Unreachable},
		{context.DeadlineExceeded, exit.NotInTime},
		{fmt.Errorf("%w: %w", access.ErrLocked, context.DeadlineExceeded), exit.NotInTime},
		{fmt.Errorf("%w: %w", ops.ErrBusy, coord.ErrUnknownOutcome), exit.Unreachable},
		{&coord.ConflictError{Reason: coord.ErrNoNode}, exit.Conflict},
		{&job.ConfigError{}, exit.Usage},
		{migrate.ErrDiffers, exit.Findings},
		{errclass.InvalidArgument.New("", ""), exit.Usage},
		{errclass.OutOfRange.New("", ""), exit.Failed},
		{errclass.NotFound.New("", ""), exit.NotFound},
		{errclass.AlreadyExists.New("", ""), exit.Conflict},
		{errclass.FailedPrecondition.New("", ""), exit.Conflict},
		{errclass.Aborted.New("", ""), exit.Conflict},
		{errclass.Busy.New("", ""), exit.Conflict},
		{errclass.PermissionDenied.New("", ""), exit.Denied},
		{errclass.Unavailable.New("", ""), exit.Unreachable},
		{errclass.Unimplemented.New("", ""), exit.Unreachable},
	} {
		if got := exit.Of(tc.err); got != tc.want {
			t.Errorf("%v: got %d, want %d", tc.err, got, tc.want)
		}
	}
	if exit.With(exit.Failed, nil) != nil {
		t.Error("no error has become one")
	}
}
