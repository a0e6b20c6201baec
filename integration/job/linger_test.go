package job_test

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/job"
)

// withLinger makes runs that have ended wait longer for the other runs of their claim: on a busy machine handlers may
// return one by one, and these tests count commits.
func withLinger(d time.Duration) job.Option {
	return func(o *setup.Options) error {
		o.Linger = d
		return nil
	}
}
