// Package fence is a resource that looks at fencing tokens: the stand-in for the database
// that a user's handlers write to. It keeps the largest token for each name and takes a
// write only with one that is not smaller, as
//
//	UPDATE … SET …, fence = $token WHERE name = $name AND fence <= $token
//
// would. A name is that of one item of one job: tokens of different items do not compare.
package fence

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
)

// Table is the resource. It serves clients over a socket and shares no memory with them, so
// no fault of a client changes what it takes.
type Table struct {
	listener net.Listener
	serving  sync.WaitGroup

	mu     sync.Mutex
	fences map[string]int64
	conns  map[net.Conn]struct{} // nil once the table is closed
}

type request struct {
	Name  string `json:"name"`
	Token int64  `json:"token"`
}

type answer struct {
	Accepted bool `json:"accepted"`
}

// Serve starts a table at the path of a socket. The caller closes it.
func Serve(path string) (*Table, error) {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("fence: %w", err)
	}
	t := &Table{listener: listener, fences: map[string]int64{}, conns: map[net.Conn]struct{}{}}
	t.serving.Go(t.accept)
	return t, nil
}

// Close ends all connections, and waits for what served them.
func (t *Table) Close() error {
	err := t.listener.Close()
	t.mu.Lock()
	for conn := range t.conns {
		_ = conn.Close()
	}
	t.conns = nil
	t.mu.Unlock()
	t.serving.Wait()
	if err != nil {
		return fmt.Errorf("fence: %w", err)
	}
	return nil
}

func (t *Table) accept() {
	for {
		conn, err := t.listener.Accept()
		if err != nil {
			return // closed
		}
		t.mu.Lock()
		if t.conns == nil {
			t.mu.Unlock()
			_ = conn.Close()
			return
		}
		t.conns[conn] = struct{}{}
		t.mu.Unlock()
		t.serving.Go(func() { t.serve(conn) })
	}
}

// serve answers one client until it goes away.
func (t *Table) serve(conn net.Conn) {
	defer func() {
		_ = conn.Close()
		t.mu.Lock()
		delete(t.conns, conn)
		t.mu.Unlock()
	}()
	in, out := json.NewDecoder(conn), json.NewEncoder(conn)
	for {
		var r request
		if in.Decode(&r) != nil || out.Encode(answer{t.Write(r.Name, r.Token)}) != nil {
			return
		}
	}
}

// Write reports whether the table takes a write with the token.
func (t *Table) Write(name string, token int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fences[name] > token {
		return false
	}
	t.fences[name] = token
	return true
}

// Client is one connection to a table. Its methods may be called from any goroutine.
type Client struct {
	mu   sync.Mutex
	conn net.Conn
	in   *json.Decoder
	out  *json.Encoder
}

// Dial connects to the table at the path.
func Dial(ctx context.Context, path string) (*Client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("fence: %w", err)
	}
	return &Client{conn: conn, in: json.NewDecoder(conn), out: json.NewEncoder(conn)}, nil
}

// Write asks the table to take a write.
func (c *Client) Write(name string, token int64) (accepted bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var a answer
	if err = c.out.Encode(request{name, token}); err == nil {
		err = c.in.Decode(&a)
	}
	if err != nil {
		return false, fmt.Errorf("fence: %w", err)
	}
	return a.Accepted, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }
