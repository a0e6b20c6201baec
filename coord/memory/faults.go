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

// The calls that a [Fault] can meet. Release is that of a latch; Open is the begin
// of a session, at Dial and after each loss.
const (
	AnyMethod Method = iota
	Open
	Get
	List
	Commit
	OpenView
	Sync
	Acquire
	Release
	Now
	Close
)

func (m Method) String() string {
	return [...]string{"call", "open", "get", "list", "commit", "view", "sync", "acquire", "release", "now", "close"}[m]
}

// writes reports whether a call without an answer may have changed something.
func (m Method) writes() bool { return m == Commit || m == Acquire || m == Release }

// Fault makes calls fail. A call meets it when it agrees with every field of the
// first group that is not zero.
type Fault struct {
	// Method is the call; AnyMethod is every one but Open and Close.
	Method Method
	// Kind picks the commits that have an operation of this kind (at Path, if set).
	Kind coord.OpKind
	// Path is a pattern for the path of a call, or of any operation of a commit: as
	// for path.Match, and "/**" at its end is the node and everything below it.
	Path string
	// Registry is the Name of a registry's Config.
	Registry string
	// Skip lets so many calls pass first, and Times ends the fault after so many
	// have met it; 0 is no end.
	Skip, Times int

	// Delay holds the call back before it goes to the store.
	Delay time.Duration
	// Before is returned without carrying the call out. With ErrUnknownOutcome it
	// is an unknown outcome that did not happen.
	Before error
	// Late carries a commit or release out so much later although Before was
	// returned, unless it is 0: an unknown outcome that is yet to happen.
	Late time.Duration
	// After is returned although the call was carried out. With ErrUnknownOutcome
	// it is an unknown outcome that did happen. If the call itself fails, its own
	// error is replaced too.
	After error
}

// Injection is a [Fault] in force.
type Injection struct {
	store *Store
	fault Fault
	seen  int
	hits  int
}

// Inject puts a fault in force. Of several that a call would meet, it meets the
// first injected. A malformed pattern panics: it is a fault of the test.
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

// Hits returns how many calls have met the fault.
func (in *Injection) Hits() int {
	in.store.mu.Lock()
	defer in.store.mu.Unlock()
	return in.hits
}

// Remove ends the fault. Calls that it carries out late are still carried out.
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

// meet returns the fault that a call meets, or nil.
func (s *Store) meet(registry string, c call) *Injection {
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

func matchPath(pattern, name string) bool {
	for prefix, deep := strings.CutSuffix(pattern, "/**"); deep; {
		if ok, _ := path.Match(prefix, name); ok {
			return true
		}
		if name = coord.Parent(name); name == "" {
			return false
		}
	}
	ok, _ := path.Match(pattern, name)
	return ok
}

// linkState is what a link does to what goes over it.
type linkState int

const (
	sound linkState = iota
	answersDropped
	blackHoled
	cut
)

// Link is the connection of one registry to the store. Its faults last until Heal;
// of Cut, BlackHole and DropAnswers the last one counts.
type Link struct{ r *Registry }

// Link returns the connection of the registry.
func (r *Registry) Link() *Link { return &Link{r} }

// Cut closes the connection and refuses new ones: calls fail at once, the session
// is suspended at once, and views stand still.
func (l *Link) Cut() { l.set(func(r *Registry) { r.state = cut }) }

// BlackHole lets nothing through in either direction: calls wait for Heal, their
// context, or the request time-out. What waits when the link heals goes through.
func (l *Link) BlackHole() { l.set(func(r *Registry) { r.state = blackHoled }) }

// DropAnswers lets requests through and no answers: writes happen, and end in
// ErrUnknownOutcome.
func (l *Link) DropAnswers() { l.set(func(r *Registry) { r.state = answersDropped }) }

// Delay makes every answer, and every change of a view, late by d. Renewals of the
// session fail when d is a third of its time-out or more.
func (l *Link) Delay(d time.Duration) { l.set(func(r *Registry) { r.delay = d }) }

// Lag makes the views of this registry show what was committed late by d, and
// leaves everything else alone. 0 shows it at once, also what has been held back
// so far; a lag of hours holds a view still until then.
func (l *Link) Lag(d time.Duration) { l.set(func(r *Registry) { r.lag = d }) }

// Heal ends all faults of the link; the lag of views becomes that of the store.
func (l *Link) Heal() {
	l.set(func(r *Registry) { r.state, r.delay, r.lag = sound, 0, r.store.lag })
}

// FaultViews makes the registry's open views report a fault, or with nil none any more.
// They go on as they did.
func (l *Link) FaultViews(fault error) {
	l.r.store.mu.Lock()
	defer l.r.store.mu.Unlock()
	for v := range l.r.views {
		v.fault = fault
		v.signal()
	}
}

// EndViews ends the registry's open views with an error. No view of a store does that:
// it is for what whoever uses views does should it happen all the same.
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
	l.r.rebase()
	change(l.r)
	l.r.relink()
}

// Down makes the store unreachable for everybody, as Cut does for one. No session
// expires at the store meanwhile, though they are lost to their registries.
func (s *Store) Down() { s.setDown(true) }

// Up ends Down. Sessions that nobody has given up have their full time-out again.
func (s *Store) Up() { s.setDown(false) }

func (s *Store) setDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down == down {
		return
	}
	for r := range s.registries {
		r.rebase()
	}
	s.down = down
	for _, l := range s.leases {
		s.abandon(l, time.Now())
	}
	for r := range s.registries {
		if r.session != nil && !down {
			r.session.stored = time.Now()
		}
		r.relink()
	}
}

// SetClockOffset makes the store's clock, which Registry.Now and Clock read, differ from the
// local one.
func (s *Store) SetClockOffset(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offset = d
}
