package ops

import "github.com/elasticjob-go/elasticjob/trace/history"

// WithHistory is for [Ops.History]: a *sqltrace.Tracer, say. It stays the caller's.
func WithHistory(r history.Reader) Option { return func(o *Ops) { o.history = r } }

// History returns what answers questions about the past of the jobs: how executions have ended, what
// they have logged, and what operators have changed. The newest of that is known without it, too:
// [Ops.Audit].
//
// Errors: ErrNoHistory.
func (o *Ops) History() (history.Reader, error) {
	if o.history == nil {
		return nil, ErrNoHistory
	}
	return o.history, nil
}
