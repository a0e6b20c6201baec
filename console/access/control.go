package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// Options say who may log in, and how.
type Options struct {
	// File is the users file. Without one there are no users but those whom others know: see [Control.LoginAs] and
	// Proxy.
	File File
	// Secure says that browsers reach the console by TLS alone, although requests come without: something before it ends
	// TLS. Cookies are then for TLS only, as they are for a request by TLS.
	Secure bool
	// Proxy says which proxies are trusted.
	Proxy Proxy
	// Idle is how long a session lasts without a request. Default 30 minutes.
	Idle time.Duration
	// Absolute is how long it lasts at all. Default 12 hours.
	Absolute time.Duration
	// Sessions bounds how many there are, SessionsOfUser how many one user has: the one that was used longest ago ends.
	// Defaults 10000 and 20.
	Sessions, SessionsOfUser int
	// Hashes bounds how many passwords are checked at the same time, for each takes 19 MiB (or as much as its hash
	// says, 128 at most) and a core. Default 4.
	Hashes int
	// Trail gets every log-in and every change of users. Empty: no file does. See [TrailOf].
	Trail Trail
	// Tell gets the same, for a log. It must return at once, and may be called by several goroutines.
	Tell func(Event)
}

// Control says who sends a request. It is safe for use by several goroutines.
type Control struct {
	o        Options
	users    *watched
	uses     *uses
	sessions *sessions
	stored   *sessionFile
	changes  *changes
	limits   *limiter
	floods   *floods
	key      []byte // signs what only this process has to know again
	slots    chan struct{}
	waiting  chan struct{}

	disk sync.Mutex // held with the lock of the folder, for which one would look every 20 ms otherwise

	mu     sync.Mutex
	kept   map[place]kept
	faults map[string]error // by what is wrong

	cancel context.CancelFunc
	done   chan struct{}
	soon   chan struct{} // wakes keep: sessions are to be written
}

// Open reads the users file. Close the Control.
//
// Errors: those of [File.Read]; one that says which option is wrong.
func Open(o Options) (*Control, error) {
	o.Idle, o.Absolute = cmp.Or(o.Idle, 30*time.Minute), cmp.Or(o.Absolute, 12*time.Hour)
	o.Sessions, o.SessionsOfUser, o.Hashes = cmp.Or(o.Sessions, 10_000), cmp.Or(o.SessionsOfUser, 20), cmp.Or(o.Hashes, 4)
	if o.Idle < 0 || o.Absolute < 0 || o.Sessions < 0 || o.SessionsOfUser < 0 || o.Hashes < 0 {
		return nil, errors.New("access: Idle, Absolute, Sessions, SessionsOfUser and Hashes cannot be below 0")
	}
	if err := o.Proxy.prepare(); err != nil {
		return nil, fmt.Errorf("access: Proxy: %w", err)
	}
	c := &Control{
		o: o, key: make([]byte, 32), changes: newChanges(), limits: newLimiter(), floods: newFloods(), kept: map[place]kept{}, faults: map[string]error{},
		slots: make(chan struct{}, o.Hashes), waiting: make(chan struct{}, maxWaiting), done: make(chan struct{}), soon: make(chan struct{}, 1),
	}
	_, _ = rand.Read(c.key) // never fails
	c.sessions = &sessions{changes: c.changes, idle: o.Idle, absolute: o.Absolute, most: o.Sessions, mostOfUser: o.SessionsOfUser, all: map[string]*session{}}
	var err error
	if c.users, err = watch(o.File, c.tell, c.changes); err != nil {
		return nil, err
	}
	path, sessions := "", ""
	if o.File != "" {
		path, sessions = o.File.uses(), o.File.sessions()
	}
	c.uses, err = readUses(path)
	c.fault("uses", err)
	c.stored = &sessionFile{path: sessions, of: c.sessions}
	c.fault("sessions", c.stored.read())
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(context.Background())
	go c.keep(ctx)
	return c, nil
}

// Changed returns a channel that is closed when somebody's log-in has ended, or the users file has changed, whoever has
// changed it: what [Control.Again] said may not hold any more. That a session is over because of its age is not told.
func (c *Control) Changed() <-chan struct{} { return c.changes.wait() }

// Close writes the sessions, for the next process, and when tokens were last used, and tells of log-ins that were counted only.
//
// Errors: why the first could not be written.
func (c *Control) Close() error {
	c.cancel()
	<-c.done
	c.tellRest()
	return errors.Join(c.stored.write(context.Background()), c.saveUses(context.Background()))
}

// lookEvery is how often the users file and the sessions are looked at while nobody sends a request.
const lookEvery = 2 * time.Second

// keep looks at the users file and the sessions, for those who wait for a change, and writes the sessions. Each minute it writes the last uses
// of tokens, and tells how many log-ins were counted only.
func (c *Control) keep(ctx context.Context) {
	defer close(c.done)
	looks, writes := time.NewTicker(lookEvery), time.NewTicker(time.Minute)
	defer looks.Stop()
	defer writes.Stop()
	for {
		select {
		case <-looks.C:
			c.users.roster()
			c.writeSoon()
		case <-c.soon:
			c.disk.Lock()
			c.fault("sessions", c.stored.write(ctx))
			c.disk.Unlock()
		case <-writes.C:
			c.fault("uses", c.saveUses(ctx))
			c.tellRest()
		case <-ctx.Done():
			return
		}
	}
}

// writeSoon has keep write the sessions that have changed, for other consoles and the next process, and take over those of others:
// nobody waits for a disk.
func (c *Control) writeSoon() {
	select {
	case c.soon <- struct{}{}:
	default:
	}
}

func (c *Control) saveUses(ctx context.Context) error {
	ids := map[string]bool{}
	for _, t := range c.users.roster().tokens {
		ids[t.token.ID()] = true
	}
	return c.uses.write(ctx, func(id string) bool { return ids[id] })
}

// Fault returns what is wrong now, for an operator: the users file cannot be read, so that the users stay as they
// were, or the trail cannot be written, or the sessions, or the last uses of tokens. nil if nothing is.
func (c *Control) Fault() error {
	bad := c.users.bad()
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(bad, c.faults["trail"], c.faults["sessions"], c.faults["uses"])
}

func (c *Control) fault(of string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults[of] = err
}

// tell tells of an event.
func (c *Control) tell(e Event) {
	e.Time = now()
	if c.o.Tell != nil {
		c.o.Tell(e)
	}
	if c.o.Trail != "" {
		c.disk.Lock()
		defer c.disk.Unlock()
		c.fault("trail", c.o.Trail.Append(context.Background(), e)) // bounded by itself; what was done is told, whether or not its request goes on
	}
}

// refused tells of a log-in that was refused, unless there are too many from its address.
func (c *Control) refused(kind Kind, user, token string, from netip.Addr, why error) {
	if c.users.roster().users.Users[user] == nil {
		user = ""
	}
	c.bounded(Event{Kind: kind, User: user, Token: token, Detail: why.Error()}, from)
}

// bounded tells of an event, unless there are too many like it from its address: then it is counted.
func (c *Control) bounded(e Event, from netip.Addr) {
	e.Address = text(from)
	if more, isTold := c.floods.next(e, from); isTold {
		e.More = more
		c.tell(e)
	}
}

func (c *Control) tellRest() {
	for _, e := range c.floods.rest() {
		c.tell(e)
	}
}

func text(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}
