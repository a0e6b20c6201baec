package zk

import (
	"net"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// SessionPassword returns the registry's session, and the password with which a client can
// take it up.
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

// SetMaxOrphans sets after how many abandoned watches the watch connection is replaced. Call
// it before the first view.
func (r *Registry) SetMaxOrphans(n int) { r.feed.maxOrphans = n }

// ParseHandshake parses a server's first answer; ok is false if it is not complete.
func ParseHandshake(b []byte) (session int64, timeout time.Duration, password []byte, ok bool) {
	h := parseHandshake(b, time.Time{})
	if h == nil {
		return 0, 0, nil, false
	}
	return h.session, h.timeout, h.password, true
}

// EraseZxids returns a connection whose replies have the zxid 0.
func EraseZxids(conn net.Conn, saw func(zxid int64)) net.Conn {
	return &zxidReader{Conn: conn, saw: saw, erase: true}
}

// NewLink returns a connection as the client library gets it.
func NewLink(conn net.Conn) (net.Conn, error) { return newLink(conn, time.Now().Add(time.Minute)) }

// LoseSession ends the session as if its deadline had passed.
func (r *Registry) LoseSession() {
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	s.End(coord.ErrSessionLost)
}

// Lacks reports whether a view of the registry says that a node is not there.
func (r *Registry) Lacks(path string) bool { return r.views.lacks(path) }

// ReadServer reads a server's answer to srvr.
var ReadServer = readServer
