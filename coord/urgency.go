package coord

import "context"

// Urgency says which of the commits that wait at a registry go first. It changes neither
// what a commit does nor whether it is done: where nothing waits it means nothing. Package
// etcd heeds it. The others, which let no commit wait for another, ignore it.
type Urgency int

// A more urgent commit goes before a less urgent one that came earlier. The oldest that
// waits always goes with the next request, so no commit waits for ever. Values beyond these
// mean the nearest one.
const (
	Usual   Urgency = iota // the default
	Sooner                 // somebody is already late
	Soonest                // others wait for what it writes
)

type urgencyKey struct{}

// WithUrgency returns a context whose commits have this urgency.
func WithUrgency(ctx context.Context, u Urgency) context.Context {
	return context.WithValue(ctx, urgencyKey{}, u)
}

// UrgencyOf returns the urgency of a context's commits, between Usual and Soonest.
func UrgencyOf(ctx context.Context) Urgency {
	u, _ := ctx.Value(urgencyKey{}).(Urgency)
	return min(max(u, Usual), Soonest)
}
