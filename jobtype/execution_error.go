package jobtype

import (
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// ExecutionError is a failed execution, as the error handler THROW gives it to the program.
type ExecutionError struct {
	ShardingContext ShardingContext
	Err             error // what the last attempt returned
}

// Error names the job and the item, and says what went wrong.
func (e *ExecutionError) Error() string {
	return fmt.Sprintf("job %s: item %d: %v", brief.Text(e.ShardingContext.JobName), e.ShardingContext.Item, e.Err)
}

// Unwrap returns Err.
func (e *ExecutionError) Unwrap() error { return e.Err }
