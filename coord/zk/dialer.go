package zk

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// dial opens a link; it is the library's dialer.
func (c *conn) dial(_, address string, _ time.Duration) (net.Conn, error) {
	if err := c.backOff(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.attemptTimeout())
	defer cancel()
	l, err := c.dialLink(ctx, address)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && c.ctx.Err() != nil {
		_ = l.Close()
		err = errConnEnded
	}
	if err != nil {
		c.failLocked(address, err)
		return nil, err
	}
	l.address = address
	c.link = l
	return l, nil
}

func (c *conn) dialLink(ctx context.Context, address string) (*link, error) {
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if c.config.TLS != nil {
		secure := tls.Client(raw, tlsFor(c.config.TLS, address))
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = raw.Close()
			return nil, fmt.Errorf("TLS with %s: %w", address, err)
		}
		raw = secure
	}
	raw = &zxidReader{Conn: raw, saw: c.noteZxid, erase: c.oneLink}
	deadline, _ := ctx.Deadline()
	l, err := newLink(raw, deadline)
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return l, nil
}

// attemptTimeout bounds one attempt to open a link, including the handshake. For the first link it is
// a quarter of a server's share of DialTimeout, doubled after each round over the servers: a server
// that was just started may never answer a connect request, and time must be left for the next one.
// For later links it is shorter, because the session would end.
func (c *conn) attemptTimeout() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	const least = 500 * time.Millisecond
	if c.timeout == 0 {
		servers := len(c.config.Servers)
		share := c.config.DialTimeout / time.Duration(servers)
		return max(least, share/4<<min(c.failures/servers, 2))
	}
	return max(least, c.timeout/6)
}

// backOff waits before an attempt to connect: not in the first round over the servers, then longer
// after each round.
func (c *conn) backOff() error {
	c.mu.Lock()
	rounds := c.failures / len(c.config.Servers)
	longest := c.config.MaxBackoff
	if c.timeout > 0 {
		longest = min(longest, c.timeout/10)
	}
	c.mu.Unlock()
	if rounds == 0 {
		return c.ctx.Err()
	}
	wait := min(longest, minBackoff<<min(rounds-1, 10))
	if !sleep.For(c.ctx, sleep.Jitter(wait)) {
		return errConnEnded
	}
	return nil
}

// failLocked records an attempt to connect that failed.
func (c *conn) failLocked(address string, err error) {
	c.failures++
	c.lastErr = err
	if c.timeout != 0 || c.answers.denial != nil {
		return
	}
	c.answers.failed(address, err)
	if c.answers.allDeny(c.config.Servers) {
		c.answers.denial = c.answers.denied[0]
		close(c.denied)
	}
}

// tlsFor returns the TLS configuration for the server at an address.
func tlsFor(config *tls.Config, address string) *tls.Config {
	config = config.Clone()
	if host, _, err := net.SplitHostPort(address); err == nil && config.ServerName == "" {
		config.ServerName = host
	}
	return config
}

// hosts implements the library's HostProvider: it returns the servers in turn. Only after a round
// over the servers that failed does the library check whether it was closed.
type hosts struct {
	over <-chan struct{} // closed when the conn has ended

	mu      sync.Mutex
	servers []string
	next    int
}

// Init is called once, with the servers in random order.
func (h *hosts) Init(servers []string) error {
	h.servers = servers
	return nil
}

// Len is the number of servers.
func (h *hosts) Len() int { return len(h.servers) }

// Connected is called after a handshake. Next returns another server in any case.
func (h *hosts) Connected() {}

// Next reports a failed round only when the conn has ended. Otherwise the library would wait for a
// second after each round, but the dialer decides how long to wait.
func (h *hosts) Next() (server string, failed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	server = h.servers[h.next%len(h.servers)]
	h.next++
	select {
	case <-h.over:
		return server, true
	default:
		return server, false
	}
}
