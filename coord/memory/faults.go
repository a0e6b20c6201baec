package memory

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Method names a call that a registry makes to its store.
type Method int

// The calls for which a [Fault] can be set. Release is that of a latch. Open begins a
// session, at Dial and after each loss.
const (
	AnyMethod Method = iota
	Open
	Get
	List
	Walk // one page of it
	Commit
	OpenView
	Sync
	Acquire
	Release
	Close
)

func (m Method) String() string {
	return [...]string{"call", "open", "get", "list", "walk", "commit", "view", "sync", "acquire", "release", "close"}[m]
}

// writes reports whether the call changes the tree, so that without an answer its outcome
// is unknown.
func (m Method) writes() bool { return m == Commit || m == Acquire || m == Release }

// Fault makes calls fail. The fields of the first group choose the calls: a call has to
// match all of them that are not zero. Those of the second group say what happens.
type Fault struct {
	// Method is the call; AnyMethod means every call but Open and Close.
	Method Method
	// Kind chooses commits that have an operation of this kind; at Path, if that is set.
	Kind coord.OpKind
	// Path is a pattern for the path of a call, or of any operation of a commit, as
	// for path.Match. "/**" at its end means the node and everything below it.
	Path string
	// Registry is the Name in a registry's Config.
	Registry string
	// Skip is how many calls pass first. Times is how many calls fail then, before the
	// fault ends; 0 means that it does not end.
	Skip, Times int

	// Delay is how long the call waits before it goes to the store.
	Delay time.Duration
	// Before is returned, and the call is not carried out. ErrUnknownOutcome here is
	// that of a commit which was not done.
	Before error
	// Late carries out a commit or release so much later although Before was
	// returned; 0 means never. ErrUnknownOutcome in Before is then that of a commit
	// which is done later.
	Late time.Duration
	// After is returned although the call was carried out, also in place of the call's
	// own error. ErrUnknownOutcome here is that of a commit which was done.
	After error
}

// Injection is a [Fault] that is set.
type Injection struct {
	store *Store
	fault Fault
	seen  int // calls that match it
	hits  int // calls that failed by it
}

// Inject sets a fault. If a call matches several, the one that was injected first counts.
// A malformed pattern panics, because the test is wrong then.
func (s *Store) Inject(f Fault) *Injection {
	if _, err := path.Match(f.Path, ""); err != nil {
		panic("memory: fault with the pattern " + f.Path + ": " + err.Error())
	}
	in := &Injection{store: s, fault: f}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.injected = append(s.injected, in)
	return in
}

// Hits returns how many calls the fault has hit.
func (in *Injection) Hits() int {
	in.store.mu.Lock()
	defer in.store.mu.Unlock()
	return in.hits
}

// Remove ends the fault. Calls that are to be carried out late still are.
func (in *Injection) Remove() {
	in.store.mu.Lock()
	defer in.store.mu.Unlock()
	in.store.injected = slices.DeleteFunc(in.store.injected, func(other *Injection) bool { return other == in })
}

// call is one call as faults see it.
type call struct {
	method Method
	path   string
	ops    []coord.Op
}

// faultFor counts a call, and returns the fault that hits it, or nil.
func (s *Store) faultFor(registry string, c call) *Injection {
	for _, in := range s.injected {
		if !in.fault.matches(registry, c) {
			continue
		}
		if in.seen++; in.seen <= in.fault.Skip || in.fault.Times > 0 && in.hits >= in.fault.Times {
			continue
		}
		in.hits++
		return in
	}
	return nil
}

// matches reports whether the fault is for a call.
func (f *Fault) matches(registry string, c call) bool {
	if f.Method != c.method && (f.Method != AnyMethod || c.method == Open || c.method == Close) {
		return false
	}
	if f.Registry != "" && f.Registry != registry {
		return false
	}
	if f.Kind == 0 && (f.Path == "" || c.ops == nil && matchPath(f.Path, c.path)) {
		return true
	}
	return slices.ContainsFunc(c.ops, func(op coord.Op) bool {
		return (f.Kind == 0 || f.Kind == op.Kind) && (f.Path == "" || matchPath(f.Path, op.Path))
	})
}

// matchPath reports whether a path, or with /** a path above it, matches a pattern.
func matchPath(pattern, name string) bool {
	prefix, deep := strings.CutSuffix(pattern, "/**")
	for {
		if ok, _ := path.Match(prefix, name); ok || !deep {
			return ok
		}
		if name = coord.Parent(name); name == "" {
			return false
		}
	}
}

// linkState is what passes a link.
type linkState int

const (
	sound linkState = iota
	answersDropped
	blackHoled
	cut
)

// Link is the connection of one registry to the store. Its faults last until Heal. Of
// Cut, BlackHole and DropAnswers the last call counts.
type Link struct{ r *Registry }

// Link returns the connection of the registry.
func (r *Registry) Link() *Link { return &Link{r} }

// Cut closes the connection and refuses new ones: calls fail at once, the session
// is suspended at once, and views do not change.
func (l *Link) Cut() { l.set(func(r *Registry) { r.state = cut }) }

// BlackHole lets nothing through in either direction: calls wait for Heal, for the end of
// their context, or for the request time-out. Those that still wait at Heal go through.
func (l *Link) BlackHole() { l.set(func(r *Registry) { r.state = blackHoled }) }

// DropAnswers lets requests through but no answers: writes are done, and return
// ErrUnknownOutcome.
func (l *Link) DropAnswers() { l.set(func(r *Registry) { r.state = answersDropped }) }

// Delay makes every answer, and every change of a view, late by d. Renewals of the
// session fail when d is a third of its time-out or more.
func (l *Link) Delay(d time.Duration) { l.set(func(r *Registry) { r.delay = d }) }

// Lag makes the views of this registry show commits late by d, and changes nothing else.
// With 0 they show the present at once; with hours they do not change until then.
func (l *Link) Lag(d time.Duration) { l.set(func(r *Registry) { r.lag = d }) }

// Heal ends all faults of the link; the lag of views becomes that of the store.
func (l *Link) Heal() {
	l.set(func(r *Registry) { r.state, r.delay, r.lag = sound, 0, r.store.lag })
}

// FaultViews makes the registry's open views report a fault, or none with nil. They still
// follow the store.
func (l *Link) FaultViews(fault error) {
	l.r.store.mu.Lock()
	defer l.r.store.mu.Unlock()
	for v := range l.r.views {
		v.fault = fault
		v.changed.Fire()
	}
}

// EndViews ends the registry's open views with an error. No real view ends so: it is for
// tests of what a program does if one does all the same.
func (l *Link) EndViews(err error) {
	l.r.store.mu.Lock()
	defer l.r.store.mu.Unlock()
	for v := range l.r.views {
		v.end(err)
	}
}

func (l *Link) set(change func(*Registry)) {
	s := l.r.store
	s.mu.Lock()
	defer s.mu.Unlock()
	l.r.noteRenewals()
	change(l.r)
	l.r.applyLink()
}

// Down makes the store unreachable for all registries, as Cut does for one. Meanwhile
// registries lose their sessions, but the store expires none.
func (s *Store) Down() { s.setDown(true) }

// Up ends Down. At the store all sessions have their full time-out again.
func (s *Store) Up() { s.setDown(false) }

func (s *Store) setDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down == down {
		return
	}
	for r := range s.registries {
		r.noteRenewals()
	}
	s.down = down
	for _, l := range s.leases {
		s.startExpiry(l, time.Now())
	}
	for r := range s.registries {
		if r.session != nil && !down {
			r.session.arrived = time.Now()
		}
		r.applyLink()
	}
}

// SetClockOffset sets how far the store's clock, which Registry.Clock tells, is ahead of
// the local one.
func (s *Store) SetClockOffset(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offset = d
}
