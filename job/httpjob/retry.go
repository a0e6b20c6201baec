package httpjob

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
)

// maxBackoff bounds the pause before a request is sent again, unless the first one is longer.
const maxBackoff = 30 * time.Second

// send sends a message until there is an answer to keep, or it may not be sent again.
func (x *exchange) send(ctx context.Context, m *message) (*answer, error) {
	backoff := sleep.Backoff{Min: x.backoff, Max: max(x.backoff, maxBackoff)}
	for failures := 1; ; failures++ {
		a, err := x.once(ctx, m)
		if failures > x.attempts || ctx.Err() != nil || !x.isRepeated(m, a, err) {
			return a, err
		}
		wait := backoff.Next()
		if a != nil {
			wait = max(wait, a.retryAfter)
		}
		if until, ok := ctx.Deadline(); ok && time.Until(until) <= wait {
			return a, err // it would wait in vain
		}
		job.Logger(ctx).Info("the request is sent again", "because", problem(a, err), "pause", wait)
		if !sleep.For(ctx, wait) {
			return nil, context.Cause(ctx)
		}
	}
}

// isRepeated reports whether a message may be sent again after what has come of it.
func (x *exchange) isRepeated(m *message, a *answer, err error) bool {
	if err != nil {
		l, isLost := errors.AsType[*lost](err)
		return isLost && (!l.sent || m.repeatable) && !isLasting(err)
	}
	if !m.repeatable || x.isSuccess(a.code) || a.retryAfter > x.maxRetryAfter {
		return false
	}
	return slices.Contains([]int{
		http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}, a.code)
}

// isLasting reports whether an error will be the same a moment later: certificates that do not
// fit, an answer that is refused.
func isLasting(err error) bool {
	if _, ok := errors.AsType[*refusal](err); ok {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	// An alert of TLS has no type of its own.
	e, ok := errors.AsType[*net.OpError](err)
	return ok && (e.Op == "remote error" || e.Op == "local error")
}
