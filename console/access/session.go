package access

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Session is what a log-in has begun. It is printed without its secret.
type Session struct {
	// Key names the session, and is no secret: it is that of its principal.
	Key string
	// User is the name of whom it is.
	User string
	// Expires is when it ends at the latest.
	Expires time.Time
	value   string
}

// Value is the secret: what the cookie has, and the header Access-Token.
func (s Session) Value() string { return s.value }

// Format writes the session without its secret, whatever the verb is.
func (s Session) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "%s of %s", s.Key, s.User) }

// SessionInfo is a session as others see it.
type SessionInfo struct {
	Key     string    `json:"key"`
	User    string    `json:"user"`
	Address string    `json:"address,omitempty"`
	Began   time.Time `json:"began"`
	Used    time.Time `json:"used"`
	Expires time.Time `json:"expires"`
}

// session is a session on the server. What its user may do is not kept here, unless nobody else knows it.
type session struct {
	SessionInfo
	// Account is the name in the users file, and Password the sum of what his hash was at the log-in; both empty for
	// somebody from elsewhere, whose grants stay as they are.
	Account  string  `json:"account,omitempty"`
	Password string  `json:"password,omitempty"`
	Grants   []Grant `json:"grants,omitempty"`
}

const keyPrefix = "session:"

// BySession reports whether it came by a session: by the cookie, or the header Access-Token.
func (p *Principal) BySession() bool { return p != nil && strings.HasPrefix(p.Key, keyPrefix) }

// sessions are all sessions of a console. Their number is bounded: when there is one too many, the one ends that was
// used longest ago.
type sessions struct {
	changes          *changes // is told of each that ends before its time
	idle, absolute   time.Duration
	most, mostOfUser int

	mu        sync.Mutex
	all       map[string]*session // by Key
	isChanged atomic.Bool         // since they were written
}

// keyOf returns the key of a session by its secret.
func keyOf(value string) string {
	sum := sha256.Sum256([]byte(value))
	return keyPrefix + hex.EncodeToString(sum[:16])
}

// begin begins a session.
func (s *sessions) begin(n session) Session {
	value, now := random(), time.Now()
	n.Key, n.Began, n.Used, n.Expires = keyOf(value), now, now, now.Add(s.absolute)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom(n.User, now)
	s.all[n.Key] = &n
	s.isChanged.Store(true)
	return Session{Key: n.Key, User: n.User, Expires: n.Expires, value: value}
}

// makeRoom ends what is over, and the oldest of a user, and of all, if there are as many as may be.
func (s *sessions) makeRoom(user string, now time.Time) {
	var oldest, oldestOfUser *session
	ofUser := 0
	for key, n := range s.all {
		if s.isOver(n, now) {
			delete(s.all, key)
			continue
		}
		oldest = older(oldest, n)
		if n.User == user {
			ofUser++
			oldestOfUser = older(oldestOfUser, n)
		}
	}
	switch {
	case ofUser >= s.mostOfUser:
		s.drop(oldestOfUser.Key)
	case len(s.all) >= s.most:
		s.drop(oldest.Key)
	}
}

// drop ends a session. mu is held.
func (s *sessions) drop(key string) {
	delete(s.all, key)
	s.isChanged.Store(true)
	s.changes.tell()
}

func older(a, b *session) *session {
	if a == nil || b.Used.Before(a.Used) {
		return b
	}
	return a
}

func (s *sessions) isOver(n *session, now time.Time) bool {
	return !now.Before(n.Expires) || now.Sub(n.Used) >= s.idle
}

// find returns a copy of a session that goes on, and notes that it was used.
func (s *sessions) find(value string, isUse bool) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, now := s.all[keyOf(value)], time.Now()
	if n == nil {
		return session{}, false
	}
	if s.isOver(n, now) {
		delete(s.all, n.Key)
		return session{}, false
	}
	if isUse {
		if now.Truncate(time.Minute).After(n.Used) {
			s.isChanged.Store(true)
		}
		n.Used = now
	}
	return *n, true
}

// end ends a session, and returns it.
func (s *sessions) end(key string) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.all[key]
	if n == nil {
		return session{}, false
	}
	s.drop(key)
	return *n, !s.isOver(n, time.Now())
}

// endIf ends the sessions for which that holds.
func (s *sessions) endIf(holds func(session) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, n := range s.all {
		if holds(*n) {
			s.drop(key)
		}
	}
}

// merge takes over what another console has written since the file had some sessions: which it has begun, used and ended.
func (s *sessions) merge(theirs map[string]*session, had map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, n := range s.all {
		switch other := theirs[key]; {
		case other != nil && other.Used.After(n.Used):
			n.Used = other.Used
		case other == nil && had[key]:
			delete(s.all, key)
			s.changes.tell()
		}
	}
	for key, n := range theirs {
		if s.all[key] == nil && !had[key] && n != nil && n.Key == key && !s.isOver(n, time.Now()) {
			s.all[key] = n
		}
	}
}

// written returns all of them, which are written now.
func (s *sessions) written() map[string]session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isChanged.Store(false)
	all := make(map[string]session, len(s.all))
	for key, n := range s.all {
		all[key] = *n
	}
	return all
}

// list returns the sessions that go on.
func (s *sessions) list() []session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []session
	for _, n := range s.all {
		if !s.isOver(n, time.Now()) {
			all = append(all, *n)
		}
	}
	return all
}
