package access

import (
	"context"
	"slices"
)

// Principal is who sends a request, and what he may do.
type Principal struct {
	// Name is that of the user. The audit has it. A token acts in the name of its user, and is named behind it:
	// anna (token deploy). Who is not in the users file has a word before his name, of who knows him:
	// oidc:anna@example.com, proxy:anna.
	Name string
	// Key is the same for all requests of one session, one token, or one name and password, and for no
	// others. It is no secret. What the console keeps for a caller, it keeps by this.
	Key string
	// User is the name in the users file; empty for who is known by a provider, a proxy or a program alone.
	User string
	// Token is the name of the API token, if one was sent.
	Token string
	// Session is whether a browser adds by itself what the request was known by: a cookie, or what a
	// trusted proxy keeps in one. So a page may have sent the request without the user's knowledge.
	Session bool
	// Address is where it was sent from: behind proxies that are trusted, as they tell. The audit has it.
	Address string
	Grants  []Grant
	// Within narrows Grants: what a token may do, its user must be allowed to do, and it itself. nil narrows
	// nothing.
	Within []Grant
}

// May reports whether the principal has a role for a job of a namespace.
func (p *Principal) May(role Role, namespace, job string) bool {
	return p.has(func(g Grant) bool {
		return g.Role >= role && g.in(namespace) && (len(g.Jobs) == 0 || matchAny(g.Jobs, job))
	})
}

// MayAll reports whether the principal has a role for all jobs of a namespace, also those to come.
func (p *Principal) MayAll(role Role, namespace string) bool {
	return p.has(func(g Grant) bool { return g.Role >= role && g.in(namespace) && g.everyJob() })
}

// MaySome reports whether the principal has a role for some jobs of a namespace.
func (p *Principal) MaySome(role Role, namespace string) bool {
	return p.has(func(g Grant) bool { return g.Role >= role && g.in(namespace) })
}

// MayEverywhere reports whether the principal has a role for everything that the console has.
func (p *Principal) MayEverywhere(role Role) bool {
	return p.has(func(g Grant) bool { return g.Role >= role && g.everyNamespace() && g.everyJob() })
}

// Covers reports whether the principal may do all that a grant allows, by one grant of his own: so he may
// give it to others.
func (p *Principal) Covers(g Grant) bool {
	return p.has(func(own Grant) bool { return own.covers(g) })
}

func (p *Principal) has(holds func(Grant) bool) bool {
	return p != nil && slices.ContainsFunc(p.Grants, holds) && (p.Within == nil || slices.ContainsFunc(p.Within, holds))
}

type key struct{}

// With returns a context of a request of the principal.
func With(ctx context.Context, p *Principal) context.Context { return context.WithValue(ctx, key{}, p) }

// From returns who has sent the request; nil if nobody is known.
func From(ctx context.Context) *Principal {
	p, _ := ctx.Value(key{}).(*Principal) // nil is the answer
	return p
}
