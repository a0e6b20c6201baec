package coordtest

import (
	"context"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Factory starts a store for one test and stops it when the test ends. Cases share a store
// if they can: each has a namespace of its own.
type Factory func(t testing.TB) Store

// Store is a running store, with what the suite does to it from outside. An adapter's test
// implements it with a server and a proxy for each registry, or with a simulated store.
type Store interface {
	// Dial opens a registry over a link of its own. The suite closes it.
	Dial(ctx context.Context, o Options) (coord.Registry, Link, error)

	// Forget makes the store drop its history, so that a view that was cut off
	// cannot catch up event by event: compaction on etcd. A store without history
	// does nothing.
	Forget(ctx context.Context) error

	// Expire ends a session at the store, as if its time-out had passed.
	Expire(ctx context.Context, id coord.SessionID) error

	// Sessions and Watches count the sessions (on etcd leases) and the watches that the
	// store holds for all its clients.
	Sessions(ctx context.Context) (int, error)
	Watches(ctx context.Context) (int, error)
}

// Options are those of one registry. The zero value is a trusted client of namespace "test".
type Options struct {
	Namespace string
	// SessionTimeout is the time-out to ask for; 0 means 2 s.
	SessionTimeout time.Duration
	// Credentials chooses who dials.
	Credentials Credentials
	// Nowhere dials an address where nobody listens, with a connect time-out of 1 s.
	Nowhere bool
}

// Credentials says how a registry identifies itself and its server.
type Credentials int

// The ways to dial. Those after Trusted need the store to have a user and a
// certificate; it may start a second server for them when they are first asked for.
const (
	// Trusted dials the plain server.
	Trusted Credentials = iota
	// Password dials a server that asks for a user, with the right password.
	Password
	// WrongPassword dials the same server with another password.
	WrongPassword
	// TLS dials a server with a certificate, trusting it.
	TLS
	// UntrustedTLS dials the same server, trusting another authority.
	UntrustedTLS
)

// Link is the connection of one registry to its store. Its faults last until Heal.
type Link interface {
	// Cut closes the connections and refuses new ones.
	Cut()
	// BlackHole keeps connections open, and lets nothing through in either direction.
	BlackHole()
	// Pause keeps connections open, and delays everything until Heal, like a server that is stopped.
	Pause()
	// DropAnswers lets requests through but no answers, so outcomes are unknown.
	DropAnswers()
	// DropRequests drops requests, and lets through what the store sends.
	DropRequests()
	// Delay makes every answer late by d.
	Delay(d time.Duration)
	// Heal ends all faults.
	Heal()
}
