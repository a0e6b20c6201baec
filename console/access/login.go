package access

import (
	"context"
	"crypto/hmac"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// maxWaiting bounds how many log-ins wait until their password is checked.
const maxWaiting = 256

// keepFor is how long a password that was right need not be checked anew.
const keepFor = time.Minute

// kept says that a password was right, without knowing it. It counts for the place alone from which it came: no limit
// holds up many requests at a time before the first of them has failed, so from elsewhere they would be guesses.
type kept struct {
	sum   []byte // of name and password, with the key of the process
	hash  Hash   // that it was right for
	until time.Time
}

// Login begins a session of a user of the users file. from is whence he logs in: see [Control.Address].
//
// Errors: ErrRefused; ErrLimited, as a LimitError; ErrBusy; the cause of ctx.
func (c *Control) Login(ctx context.Context, name, password string, from netip.Addr) (Session, error) {
	user, _, err := c.check(ctx, name, password, from)
	if err != nil {
		return Session{}, err
	}
	s := c.sessions.begin(session{SessionInfo: SessionInfo{User: name, Address: text(from)}, Account: name, Password: user.Password.sum()})
	c.bounded(Event{Kind: LoggedIn, By: name, User: name, Session: s.Key, Detail: "by password" + without(user.Grants)}, from)
	c.writeSoon()
	return s, nil
}

// LoginAs begins a session of somebody whom a provider knows, and the users file does not. The name needs a colon, as
// oidc:anna@example.com has, which no name in the file has: so nobody is taken for somebody else. The grants stay as they
// are until the session ends.
//
// Errors: ErrInvalid for a name or grants that are not allowed.
func (c *Control) LoginAs(name string, grants []Grant, from netip.Addr) (Session, error) {
	if err := checkIdentity(name); err != nil {
		return Session{}, err
	}
	provider, _, ok := strings.Cut(name, ":")
	if !ok {
		return Session{}, fmt.Errorf("name %s: %w: it needs a provider, and a colon", brief.Quote(name), ErrInvalid)
	}
	if err := ValidateGrants(grants); err != nil {
		return Session{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	s := c.sessions.begin(session{SessionInfo: SessionInfo{User: name, Address: text(from)}, Grants: clone(grants)})
	c.bounded(Event{Kind: LoggedIn, By: name, User: name, Session: s.Key, Detail: "by " + provider + without(grants)}, from)
	c.writeSoon()
	return s, nil
}

// without says of who may see nothing that it is so: somebody has forgotten to give him grants, or should disable him.
func without(grants []Grant) string {
	if len(grants) > 0 {
		return ""
	}
	return ", without any grants"
}

// Begin is LoginAs for a request, whose answer gets the cookie. A session that the request came by ends.
func (c *Control) Begin(w http.ResponseWriter, r *http.Request, name string, grants []Grant) error {
	s, err := c.LoginAs(name, grants, c.Address(r))
	if err != nil {
		return err
	}
	c.start(w, r, s)
	return nil
}

// Refused tells of a log-in by a provider that was refused, and why, unless there are too many of its address. name is
// whom the provider has named, if it has: one as [Control.LoginAs] takes it, any other is left out.
func (c *Control) Refused(r *http.Request, name, why string) {
	const most = 500
	if checkIdentity(name) != nil || !strings.Contains(name, ":") {
		name = ""
	}
	c.bounded(Event{Kind: LogInRefused, User: name, Detail: brief.Cut(why, most)}, c.Address(r))
}

// BeginByPassword is Login for a request, whose answer gets the cookie. A session that the request came by ends.
func (c *Control) BeginByPassword(w http.ResponseWriter, r *http.Request, name, password string) (Session, error) {
	s, err := c.Login(r.Context(), name, password, c.Address(r))
	if err == nil {
		c.start(w, r, s)
	}
	return s, err
}

// start gives a browser its new session. The old one ends, or it would go on until it is idle.
func (c *Control) start(w http.ResponseWriter, r *http.Request, s Session) {
	for _, cookie := range r.CookiesNamed(c.cookieName(r)) {
		if old, ok := c.sessions.find(cookie.Value, false); ok {
			c.sessions.end(old.Key)
		}
	}
	http.SetCookie(w, c.Cookie(r, s))
}

// checkIdentity returns ErrInvalid for a name that would spoil a log.
func checkIdentity(name string) error {
	const most = 200
	isBad := func(r rune) bool { return !unicode.IsPrint(r) || r == '(' || r == ')' }
	if name == "" || len(name) > most || strings.ContainsFunc(name, isBad) || strings.TrimSpace(name) != name {
		return fmt.Errorf("name %s: %w: allowed are 1 to %d bytes that can be printed, without parentheses", brief.Quote(name), ErrInvalid, most)
	}
	return nil
}

// Logout ends the session of a principal. For one who has none it does nothing.
func (c *Control) Logout(p *Principal) {
	if p == nil {
		return
	}
	if s, ok := c.sessions.end(p.Key); ok {
		from, _ := netip.ParseAddr(p.Address) // it has none, or one that was written
		c.bounded(Event{Kind: LoggedOut, By: s.User, User: s.User, Session: s.Key}, from)
		c.writeSoon()
	}
}

// Sessions returns the sessions of a user, the one that was used last first; those of all if name is empty.
func (c *Control) Sessions(name string) []SessionInfo {
	all := []SessionInfo{}
	r := c.users.roster()
	for _, s := range c.sessions.list() {
		if (name == "" || s.User == name) && r.has(s) {
			all = append(all, s.SessionInfo)
		}
	}
	slices.SortFunc(all, func(a, b SessionInfo) int { return b.Used.Compare(a.Used) })
	return all
}

// EndSession ends a session.
//
// Errors: ErrNoSession.
func (c *Control) EndSession(by Actor, key string) error {
	s, ok := c.sessions.end(key)
	if !ok {
		return fmt.Errorf("session %s: %w", brief.Quote(key), ErrNoSession)
	}
	c.tell(Event{Kind: SessionEnded, By: by.Name, Address: by.Address, User: s.User, Session: key})
	c.writeSoon()
	return nil
}

// check returns the user of that name and password, and what the pair is known by.
func (c *Control) check(ctx context.Context, name, password string, from netip.Addr) (*User, string, error) {
	if CheckName(name) != nil {
		name = "" // nobody's; it need not be kept
	}
	pair := sum(c.key, "password", name, password)
	key := "password:" + hex.EncodeToString(pair[:16])
	at := place{name, network(from)}
	// Whoever has to wait is told nothing, not even by a password that is kept: he could guess it meanwhile.
	if err := c.mayTry(name, from); err != nil {
		return nil, "", err
	}
	if user := c.keptUser(at, pair); user != nil {
		return user, key, nil
	}
	if err := c.wait(ctx); err != nil {
		return nil, "", err
	}
	defer func() { <-c.slots }()
	if err := c.mayTry(name, from); err != nil { // others have failed while this one waited
		return nil, "", err
	}
	if user := c.keptUser(at, pair); user != nil { // another request of the same script was faster
		return user, key, nil
	}
	r := c.users.roster()
	hash, isOwn := r.hashOf(name, c.key)
	fits := len(password) <= MaxPassword && hash.fits(password)
	user := r.users.Users[name]
	if !fits || !isOwn || user.Disabled {
		c.limits.failed(name, from)
		err := fmt.Errorf("%w: wrong name or password", ErrRefused)
		c.refused(LogInRefused, name, "", from, err)
		return nil, "", err
	}
	c.limits.succeeded(name, from)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) >= maxBuckets {
		drop(c.kept, func(k kept) time.Time { return k.until })
	}
	c.kept[at] = kept{sum: pair, hash: hash, until: time.Now().Add(keepFor)}
	return user, key, nil
}

// mayTry returns a LimitError, and tells of it, if a log-in has to wait.
func (c *Control) mayTry(name string, from netip.Addr) error {
	err := c.limits.try(name, from)
	if err != nil {
		c.refused(LogInLimited, name, "", from, err)
	}
	return err
}

// wait waits for a slot to check a password in.
func (c *Control) wait(ctx context.Context) error {
	select {
	case c.waiting <- struct{}{}:
	default:
		return ErrBusy
	}
	defer func() { <-c.waiting }()
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("log-in: %w", context.Cause(ctx))
	}
}

// keptUser returns the user of a pair that was right a moment ago, and still is.
func (c *Control) keptUser(at place, pair []byte) *User {
	c.mu.Lock()
	k, ok := c.kept[at]
	c.mu.Unlock()
	if !ok || !hmac.Equal(k.sum, pair) {
		return nil
	}
	user := c.users.roster().users.Users[at.name]
	if user == nil || user.Disabled || user.Password != k.hash || !time.Now().Before(k.until) {
		c.mu.Lock()
		delete(c.kept, at)
		c.mu.Unlock()
		return nil
	}
	return user
}
