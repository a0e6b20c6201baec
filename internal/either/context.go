// Package either makes a context that ends with either of two.
package either

import "context"

// Context returns a context that has the values of the first one and ends with either.
func Context(ctx, other context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() { stop(); cancel(nil) }
}
