package zk

import (
	"net"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// SessionPassword is what proves to a server that a connection belongs to the
// registry's session.
func (r *Registry) SessionPassword() (coord.SessionID, []byte) {
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if s == nil {
		return 0, nil
	}
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	return s.ID(), s.conn.password
}

// SetMaxOrphans sets after how many abandoned watches the watch connection is renewed.
// It is called before the first view.
func (r *Registry) SetMaxOrphans(n int) { r.feed.maxOrphans = n }

// Predecessor is how a latch candidate finds the one before it.
var Predecessor = predecessor

// ParseHandshake returns what a server's first answer says, and whether it is complete.
func ParseHandshake(b []byte) (session int64, timeout time.Duration, password []byte, ok bool) {
	h := parseHandshake(b, time.Time{})
	if h == nil {
		return 0, 0, nil, false
	}
	return h.session, h.timeout, h.password, true
}

// Unstamped is a connection to a server whose replies lose their zxid.
func Unstamped(conn net.Conn, saw func(zxid int64)) net.Conn {
	return &stamps{Conn: conn, saw: saw, erase: true}
}

// NewLink is a connection to a server as the client library has it.
func NewLink(conn net.Conn) (net.Conn, error) { return newLink(conn, time.Now().Add(time.Minute)) }

// LoseSession ends the session as if its deadline had passed.
func (r *Registry) LoseSession() {
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	s.end(coord.ErrSessionLost)
}
