// Package urgency tells a registry which of the commits that wait to be sent go first. The engine
// sets it, and coord/etcd obeys it. It is no part of the contract of package coord: it changes
// neither what a commit does nor whether it is done, and stores that let no commit wait ignore it.
package urgency

import "context"

// Level is how urgent a commit is. A more urgent commit is sent before a less urgent one that came
// earlier. The oldest waiting commit is always part of the next request, so none starves.
type Level int

// The levels. A value beyond them counts as the nearest one.
const (
	Usual   Level = iota // the default
	Sooner               // somebody is already late
	Soonest              // others wait for what it writes
)

type key struct{}

// With returns a context whose commits have this level.
func With(ctx context.Context, l Level) context.Context { return context.WithValue(ctx, key{}, l) }

// Of returns the level of a context's commits, between Usual and Soonest.
func Of(ctx context.Context) Level {
	l, _ := ctx.Value(key{}).(Level)
	return min(max(l, Usual), Soonest)
}
