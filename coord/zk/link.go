package zk

import (
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"time"
)

// handshake is a server's answer when a client opens a session or takes it up again. The
// client library does not give it out, so the link reads it from the connection.
type handshake struct {
	sent     time.Time // just before the request was sent
	session  int64     // 0 if the session has expired
	timeout  time.Duration
	password []byte
}

// link is a network connection that reads the handshake at its start, and bounds the time
// for it: the library would wait for ten times its read time-out.
type link struct {
	net.Conn
	address string // of the server
	opened  time.Time

	mu     sync.Mutex
	sent   time.Time
	answer []byte     // what has come of the handshake; nil once it is complete
	result *handshake // nil until it is complete
	err    error      // why the handshake failed
}

// newLink wraps a connection. The handshake has to be complete by the deadline.
func newLink(conn net.Conn, deadline time.Time) (*link, error) {
	l := &link{Conn: conn, opened: time.Now(), answer: make([]byte, 0, 64)}
	return l, conn.SetDeadline(deadline)
}

// maxHandshake is larger than any handshake.
const maxHandshake = 1024

var errNotZooKeeper = errors.New("this is no ZooKeeper server, or it expects TLS")

// handshake returns the handshake if it is complete, and why it failed if it did.
func (l *link) handshake() (*handshake, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.result, l.err
}

// Write closes the link if it fails, but returns no error: the library learns of the end
// when it reads.
//
// If the library is told that a request could not be written, it answers that request, and
// later, when the link has ended, it answers all open requests, this one a second time. If
// that request was the log-in on a new link, or if the library is being closed, nobody takes
// the second answer, and the library waits for ever
// (https://github.com/go-zookeeper/zk/pull/163).
func (l *link) Write(b []byte) (int, error) {
	l.mu.Lock()
	if l.sent.IsZero() {
		l.sent = time.Now()
	}
	l.mu.Unlock()
	if _, err := l.Conn.Write(b); err != nil {
		l.mu.Lock()
		l.err = err
		l.mu.Unlock()
		_ = l.Conn.Close() // err is what matters
	}
	return len(b), nil
}

// Read also collects and parses the handshake, until it is complete.
func (l *link) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.result != nil {
		return n, err
	}
	l.answer = append(l.answer, b[:n]...)
	if len(l.answer) >= 4 && binary.BigEndian.Uint32(l.answer) > maxHandshake {
		// The library would take this for a length, and allocate that much memory.
		l.err = errNotZooKeeper
		return 0, l.err
	}
	l.result = parseHandshake(l.answer, l.sent)
	if l.result != nil {
		l.answer = nil
	} else if l.err == nil {
		l.err = err
	}
	return n, err
}

// parseHandshake reads a connect response: the length of what follows, the version of the
// protocol, the time-out in milliseconds, the session's id, and the length and bytes of its
// password. It returns nil while a part is missing.
func parseHandshake(b []byte, sent time.Time) *handshake {
	const fixed = 4 + 4 + 4 + 8 + 4
	if len(b) < fixed || len(b) < 4+int(binary.BigEndian.Uint32(b)) {
		return nil
	}
	h := &handshake{
		sent:    sent,
		timeout: time.Duration(binary.BigEndian.Uint32(b[8:])) * time.Millisecond,
		session: int64(binary.BigEndian.Uint64(b[12:])),
	}
	if n := int(int32(binary.BigEndian.Uint32(b[20:]))); n > 0 && len(b) >= fixed+n {
		h.password = b[fixed : fixed+n : fixed+n]
	}
	return h
}

// Until the handshake is complete its own deadline counts, so the library's are ignored.

func (l *link) SetDeadline(t time.Time) error {
	if l.handshakeDone() {
		return l.Conn.SetDeadline(t)
	}
	return nil
}

func (l *link) SetReadDeadline(t time.Time) error {
	if l.handshakeDone() {
		return l.Conn.SetReadDeadline(t)
	}
	return nil
}

func (l *link) SetWriteDeadline(t time.Time) error {
	if l.handshakeDone() {
		return l.Conn.SetWriteDeadline(t)
	}
	return nil
}

func (l *link) handshakeDone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.result != nil
}
