package ops

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// ImplementRequest says what runs a job from now on.
type ImplementRequest struct {
	// From is the implementation that the job has to have; see Settings. elastic-job 2.1 leaves it empty.
	From string
	// To is the one that it gets, in up to 1,000 bytes: see CreateRequest.Implementation.
	To string
	// Version is the one that the configuration has to have: see Settings. 0 is any.
	Version int64
}

// Implement gives the job another implementation: the program, or its class, has another name. What
// else the job is, and has, stays. It is one commit.
//
// Processes that run the job under the old name run on, with a fault, until they end; none starts with
// that name any more (jobtype.ErrImplementationConflict), and those with the new one may start at once. A
// job.Runner leaves the job, in order, if it does not offer the new one. So nobody runs the job only
// while no process has the new name. JVM members do as processes do, without the fault.
//
// Errors: ErrNoJob; ErrImplementationChanged; ErrConfigChanged; those of a read and of a commit; one for
// a bad name.
func (j *Job) Implement(ctx context.Context, r ImplementRequest) error {
	return j.again(ctx, "implement", func() error {
		if err := checkImplementation(r.To); err != nil {
			return err
		}
		config, err := j.config(ctx)
		if err != nil {
			return err
		}
		root, err := j.ops.reg.Get(ctx, j.name.Root())
		switch {
		case errors.Is(err, coord.ErrNoNode):
			return ErrNoJob // it was removed between the two reads
		case err != nil:
			return err
		case r.Version != 0 && config.Modified != r.Version:
			return fmt.Errorf("%w: it has version %d, not %d", ErrConfigChanged, config.Modified, r.Version)
		case string(root.Value) != r.From:
			return fmt.Errorf("%w: it has %s, not %s", ErrImplementationChanged, brief.Quote(string(root.Value)), brief.Quote(r.From))
		case r.From == r.To:
			return nil
		}
		act, err := j.ops.act(j.name, ActionImplement)
		if err != nil {
			return err
		}
		_, err = act.says("", r.From, r.To).commit(ctx,
			coord.AtVersion(j.name.Config(), config.Version), coord.SetAt(j.name.Root(), []byte(r.To), root.Version))
		return err
	})
}

// maxImplementation is the bound of job.WithImplementation.
const maxImplementation = 1_000

func checkImplementation(name string) error {
	if name == "" || len(name) > maxImplementation || !utf8.ValidString(name) {
		return wrong("implementation", "implementation %s: UTF-8 of 1 to %d bytes is allowed", brief.Quote(name), maxImplementation)
	}
	return nil
}
