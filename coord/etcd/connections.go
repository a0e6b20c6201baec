package etcd

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// connections holds the connections of a client, so that one that has gone silent can be
// closed: gRPC offers no way to do that.
type connections struct {
	dialled func() // called for each new connection, unless it is nil
	mu      sync.Mutex
	newest  map[string]*connection // by the server's address
}

// connection knows when something was received on it.
type connection struct {
	net.Conn
	heard  atomic.Pointer[time.Time]
	forget func() // removes it from connections
}

func (c *connection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		now := time.Now()
		c.heard.Store(&now)
	}
	return n, err
}

func (c *connection) Close() error {
	c.forget()
	return c.Conn.Close()
}

// dial opens a connection; it is gRPC's dialer.
func (c *connections) dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	to := conn.RemoteAddr().String()
	known := &connection{Conn: conn}
	known.forget = func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.newest[to] == known {
			delete(c.newest, to)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.newest == nil {
		c.newest = make(map[string]*connection)
	}
	c.newest[to] = known
	if c.dialled != nil {
		c.dialled()
	}
	return known, nil
}

// drop closes the newest connection to an address if nothing was received on it since a
// request was sent, at the time since. The client opens another one.
func (c *connections) drop(address string, since time.Time) {
	c.mu.Lock()
	conn, ok := c.newest[address]
	c.mu.Unlock()
	if !ok {
		return
	}
	if heard := conn.heard.Load(); heard == nil || heard.Before(since) {
		_ = conn.Close() // nobody uses it any more, so it does not matter if that fails
	}
}
