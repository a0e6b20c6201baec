package zk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/latch"
)

// The names of candidates are those of Curator's LeaderLatch: _c_<id>-latch-<sequence>. The order of their
// sequences is that of their creation.
const (
	protectedPrefix = "_c_"
	latchPrefix     = "latch-"
)

// Latch implements [coord.Registry].
func (r *Registry) Latch(path string) (coord.Latch, error) {
	if err := coord.ValidatePath(path); err != nil {
		return nil, fmt.Errorf("zk: latch: %w", err)
	}
	join := func(ctx context.Context, s coord.Session) (latch.Place, error) {
		p := &latchPlace{r: r, session: s.(*session), latch: path, id: newID()}
		return p, convertError(p.join(ctx), path)
	}
	isPlace := func(name string) bool { return strings.Contains(name, latchPrefix) }
	return latch.New(latch.Config{Name: "zk", Registry: r, Path: path, Join: join, IsPlace: isPlace, Start: r.start}), nil
}

// newID makes a random UUID, as Curator does.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// latchPlace is a place in the queue of a latch. A node whose creation got no answer is found by the unique id.
type latchPlace struct {
	r       *Registry
	session *session
	latch   string
	id      string

	mu        sync.Mutex // held while the node is made or looked for
	name      string     // of the node; empty while it is unknown
	withdrawn bool
}

// errWithdrawn: the place was removed before an attempt to create its node.
var errWithdrawn = errors.New("withdrawn")

// Path implements [latch.Place].
func (p *latchPlace) Path() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return coord.Join(p.latch, p.name)
}

// try makes a request in the session until it is answered: again whenever the link breaks. One attempt at a time
// has the place, because one that was abandoned may still be running.
func (p *latchPlace) try(ctx context.Context, request func(*zookeeper.Conn) error) error {
	for {
		_, err := call(contextOnly(ctx), p.session.conn, func(client *zookeeper.Conn) (struct{}, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			return struct{}{}, request(client)
		})
		if p.session.ctx.Err() != nil {
			return context.Cause(p.session.ctx)
		}
		if err == nil || !isLost(err) {
			return err
		}
	}
}

// join creates the node. If that gets no answer it looks for the node before it tries again.
func (p *latchPlace) join(ctx context.Context) error {
	full, unsure := p.r.full(p.latch), false
	return p.try(ctx, func(client *zookeeper.Conn) error {
		if p.withdrawn {
			return errWithdrawn
		}
		if unsure {
			if err := p.find(client); err != nil || p.name != "" {
				return err
			}
		}
		unsure = true
		create := func() (string, error) {
			return client.Create(full+"/"+protectedPrefix+p.id+"-"+latchPrefix, []byte{}, zookeeper.FlagEphemeral|zookeeper.FlagSequence, p.r.acl)
		}
		created, err := create()
		if errors.Is(err, zookeeper.ErrNoNode) {
			if err := p.r.makeNode(client, full); err != nil {
				return err
			}
			created, err = create()
		}
		if err == nil {
			p.name = coord.Base(created)
		}
		return err
	})
}

// find looks for the node, and sets its name if there is one.
func (p *latchPlace) find(client *zookeeper.Conn) error {
	names, err := syncChildren(client, p.r.full(p.latch))
	if errors.Is(err, zookeeper.ErrNoNode) {
		return nil
	}
	for _, name := range names {
		if strings.HasPrefix(name, protectedPrefix+p.id) {
			p.name = name
		}
	}
	return err
}

// Remove implements [latch.Place].
func (p *latchPlace) Remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, p.r.config.RequestTimeout, errTimeout)
	defer cancel()
	err := p.try(ctx, func(client *zookeeper.Conn) error {
		p.withdrawn = true
		if p.name == "" {
			if err := p.find(client); err != nil || p.name == "" {
				return err
			}
		}
		err := client.Delete(p.r.full(p.latch)+"/"+p.name, -1)
		if errors.Is(err, zookeeper.ErrNoNode) {
			err = nil
		}
		return err
	})
	return convertError(err, p.latch)
}
