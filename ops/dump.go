package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/job/dump"
)

// Dump returns all that the registry has of the job, secrets too: see [dump.Directly] and
// [dump.Dump.WithoutSecrets].
//
// Errors: ErrNoJob; those of a read.
func (j *Job) Dump(ctx context.Context) (dump.Dump, error) {
	d, err := dump.Directly(ctx, j.ops.reg, string(j.name))
	if errors.Is(err, dump.ErrNoJob) {
		err = fmt.Errorf("%w: %w", ErrNoJob, err)
	}
	return d, err
}
