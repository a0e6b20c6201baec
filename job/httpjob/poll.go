package httpjob

import (
	"context"
	"net/http"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// pollFor asks at the Location of an answer 202 until the answer is another one.
func (x *exchange) pollFor(ctx context.Context, m *message, a *answer) (*answer, error) {
	ctx, end := context.WithTimeoutCause(ctx, x.pollTimeout, timedOut{"the server has not finished after", x.pollTimeout, keyPollTimeout})
	defer end()
	for p := m; a.code == http.StatusAccepted; {
		if a.location != "" {
			var err error
			if p, err = m.poll(a.from, a.location); err != nil {
				return nil, err
			}
		}
		pause := x.pollInterval
		if a.retryAfter > 0 {
			pause = min(a.retryAfter, max(x.maxRetryAfter, x.pollInterval))
		}
		if !sleep.For(ctx, pause) {
			return nil, context.Cause(ctx)
		}
		var err error
		if a, err = x.send(ctx, p); err != nil {
			return nil, err
		}
	}
	return a, nil
}
