package etcd

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// connections are the ones that a client has, by the server's address, so that one that
// has gone silent can be closed: gRPC has no door for that.
type connections struct {
	dialled func() // is called for each new one, unless it is nil
	mu      sync.Mutex
	last    map[string]*connection
}

// connection knows when something was heard on it.
type connection struct {
	net.Conn
	heard  atomic.Pointer[time.Time]
	forget func()
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

// dial is what gRPC connects with.
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
		if c.last[to] == known {
			delete(c.last, to)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		c.last = make(map[string]*connection)
	}
	c.last[to] = known
	if c.dialled != nil {
		c.dialled()
	}
	return known, nil
}

// drop closes the newest connection to an address if nothing was heard on it for as long
// as something was asked, since. The client makes another.
func (c *connections) drop(address string, since time.Time) {
	c.mu.Lock()
	conn, ok := c.last[address]
	c.mu.Unlock()
	if !ok {
		return
	}
	if heard := conn.heard.Load(); heard == nil || heard.Before(since) {
		_ = conn.Close() // it is given up, in whatever state it is
	}
}
