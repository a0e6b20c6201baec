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
	return dumped(dump.Directly(ctx, j.ops.reg, string(j.name)))
}

// DumpOf returns what a process believes of the job beside what the registry has, by the dump service
// of that process, which shows no secrets. [dump.Client.Text] asks a JVM process.
//
// Errors: ErrNoJob; those of a [dump.Client].
func (j *Job) DumpOf(ctx context.Context, process dump.Client) (dump.Dump, error) {
	return dumped(process.Dump(ctx, string(j.name)))
}

func dumped(d dump.Dump, err error) (dump.Dump, error) {
	if errors.Is(err, dump.ErrNoJob) {
		err = fmt.Errorf("%w: %w", ErrNoJob, err)
	}
	return d, err
}
