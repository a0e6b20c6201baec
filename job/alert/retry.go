package alert

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// The back-off between the attempts to send a message.
const (
	firstBackoff = time.Second
	maxBackoff   = time.Minute
	// maxRetryAfter bounds how long a receiver may make us wait.
	maxRetryAfter = 5 * time.Minute
)

// Permanent returns an error that says that another attempt would fail, too. nil stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanent{err}
}

type permanent struct{ error }

func (e permanent) Unwrap() error { return e.error }

// RetryAfter returns an error that says when the next attempt may come: up to five minutes
// later, and not before the usual back-off. nil stays nil.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return retryAfter{err, min(d, maxRetryAfter)}
}

type retryAfter struct {
	error
	after time.Duration
}

func (e retryAfter) Unwrap() error { return e.error }

// pauseAfter returns how long to wait after an error, if nothing else is said by it.
func pauseAfter(err error, wait time.Duration) time.Duration {
	if e, ok := errors.AsType[retryAfter](err); ok {
		// Not exactly then, either: others were told the same time.
		wait = max(wait, e.after+rand.N(e.after/10+1))
	}
	return wait
}

// try sends a message once. A sender that panics fails for good, and so does one that ends its
// goroutine: it has one of its own, so that the handler's goes on.
func try(ctx context.Context, s Sender, m Message) error {
	over := make(chan error, 1)
	go func() {
		err := Permanent(errors.New("alert: the sender ended its goroutine"))
		defer func() {
			if v := recover(); v != nil {
				err = Permanent(fmt.Errorf("alert: the sender panicked: %v", v))
			}
			over <- err
		}()
		err = s.Send(ctx, m)
	}()
	return <-over
}

// isPermanent reports whether an error comes from Permanent.
func isPermanent(err error) bool {
	_, ok := errors.AsType[permanent](err)
	return ok
}
