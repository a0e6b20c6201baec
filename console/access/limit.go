package access

import (
	"fmt"
	"math"
	"net/netip"
	"sync"
	"time"
)

// LimitError is ErrLimited with the time to wait.
type LimitError struct{ After time.Duration }

func (e *LimitError) Error() string {
	return fmt.Sprintf("%v: try again in %v", ErrLimited, e.After.Round(time.Second))
}

// Unwrap returns ErrLimited.
func (e *LimitError) Unwrap() error { return ErrLimited }

// policy says how failures slow down what comes after them. A key's level rises by one with each failure, and falls with
// time. Above free, each failure doubles the wait for the next try, from first to most. It rises to 10 above free at most, so
// that it is soon forgotten how long somebody has been guessing.
type policy struct {
	free        float64
	falls       time.Duration // by one in this time
	first, most time.Duration
}

// One address gets no more than 20 tries in its first 9 minutes, and 13 in each hour after that. So it never takes a
// name over the free ones of that: only many addresses do, and then the wait is short.
var (
	byAddress = policy{free: 10, falls: 10 * time.Minute, first: time.Second, most: 5 * time.Minute}
	byName    = policy{free: 30, falls: time.Minute, first: time.Second, most: 30 * time.Second}
)

// bucket is what is known of a key.
type bucket struct {
	level float64
	at    time.Time // when the level was that
	until time.Time // no try before
	// What failed last, and how often one after the other: a success takes back its own failures only, or who
	// guesses would log in as himself now and then.
	last string
	run  float64
}

func (b *bucket) fall(p policy, now time.Time) {
	b.level = max(0, b.level-float64(now.Sub(b.at))/float64(p.falls))
	b.at = now
}

func (b *bucket) fail(p policy, what string, now time.Time) {
	b.fall(p, now)
	b.level = min(b.level+1, p.free+maxOver)
	if b.last != what {
		b.last, b.run = what, 0
	}
	b.run++
	if over := b.level - p.free; over > 0 {
		wait := time.Duration(float64(p.first) * math.Exp2(over-1))
		b.until = now.Add(min(wait, p.most))
	}
}

func (b *bucket) succeed(what string) {
	if b.last == what {
		b.level, b.run, b.until = max(0, b.level-b.run), 0, time.Time{}
	}
}

// limiter slows down who guesses passwords. The memory is bounded: when it is full, what failed least recently is
// forgotten. It does not outlive the process.
type limiter struct {
	mu        sync.Mutex
	addresses map[netip.Prefix]*bucket
	names     map[string]*bucket
	// known has when a user last logged in from an address: there the failures of others do not slow him down.
	known map[place]time.Time
}

type place struct {
	name string
	from netip.Prefix
}

const maxOver = 10

const maxBuckets = 10_000 // of each kind

func newLimiter() *limiter {
	return &limiter{addresses: map[netip.Prefix]*bucket{}, names: map[string]*bucket{}, known: map[place]time.Time{}}
}

// network returns what counts as one address: for IPv6 the /64 that one subscriber has.
func network(a netip.Addr) netip.Prefix {
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Unmap().Prefix(min(bits, a.Unmap().BitLen())) // the zero prefix stands for what is no address
	return p
}

// try returns a LimitError if a log-in has to wait.
func (l *limiter) try(name string, from netip.Addr) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, net := time.Now(), network(from)
	var until time.Time
	if b := l.addresses[net]; b != nil {
		until = b.until
	}
	if b := l.names[name]; b != nil && l.known[place{name, net}].IsZero() && b.until.After(until) {
		until = b.until
	}
	if until.After(now) {
		return &LimitError{After: until.Sub(now)}
	}
	return nil
}

// failed counts a log-in that failed.
func (l *limiter) failed(name string, from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, net := time.Now(), network(from)
	at(l.addresses, net, now).fail(byAddress, name, now)
	at(l.names, name, now).fail(byName, "", now)
}

// succeeded takes back the failures before a log-in.
func (l *limiter) succeeded(name string, from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, net := time.Now(), network(from)
	if b := l.addresses[net]; b != nil {
		b.succeed(name)
	}
	if b := l.names[name]; b != nil {
		b.succeed("")
	}
	if len(l.known) >= maxBuckets {
		drop(l.known, func(t time.Time) time.Time { return t })
	}
	l.known[place{name, net}] = now
}

func at[K comparable](buckets map[K]*bucket, key K, now time.Time) *bucket {
	b := buckets[key]
	if b == nil {
		if len(buckets) >= maxBuckets {
			drop(buckets, func(b *bucket) time.Time { return b.at })
		}
		b = &bucket{at: now}
		buckets[key] = b
	}
	return b
}

// drop removes the entry that is the oldest.
func drop[K comparable, V any](entries map[K]V, age func(V) time.Time) {
	var oldest K
	var when time.Time
	for key, value := range entries {
		if t := age(value); when.IsZero() || t.Before(when) {
			oldest, when = key, t
		}
	}
	delete(entries, oldest)
}
