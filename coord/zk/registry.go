package zk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/storeclock"
)

// Registry implements [coord.Registry] on a ZooKeeper ensemble.
type Registry struct {
	cfg       Config
	root      string          // of the namespace, as the servers know it
	acl       []zookeeper.ACL // of every node
	ctx       context.Context // ends with Close, with ErrClosed
	cancel    context.CancelCauseFunc
	goodbye   context.Context // ends with that of Close: nothing more is said to the store
	hurry     context.CancelFunc
	running   sync.WaitGroup // all that was started; see spawn
	history   history
	feed      feed
	deadlines deadlines
	closed    chan struct{} // closed when Close is through
	views     views
	clock     *storeclock.Keeper
	clocked   sync.Once // somebody has asked for it

	mu      sync.Mutex    // guards all below
	session *session      // nil between a lost session and the next
	changed chan struct{} // closed when session changes
}

var _ coord.Registry = (*Registry)(nil)

// Dial opens a registry with its session, and makes sure that it may use its namespace.
// It returns within Config.DialTimeout.
//
// Errors: [coord.ErrInvalidConfig] naming the field; [coord.ErrUnavailable] naming the
// servers; [coord.ErrDenied] for a wrong password, a namespace that belongs to another
// user, or certificates that are not trusted; the cause of ctx.
func Dial(ctx context.Context, cfg Config) (*Registry, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, fmt.Errorf("zk: %w", err)
	}
	r, err := dial(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("zk: dial %s: %w", strings.Join(cfg.Servers, ", "), err)
	}
	return r, nil
}

func dial(ctx context.Context, cfg Config) (*Registry, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.DialTimeout,
		fmt.Errorf("%w: no session within %v", coord.ErrUnavailable, cfg.DialTimeout))
	defer cancel()
	r := &Registry{
		cfg:       cfg,
		root:      "/" + cfg.Namespace,
		acl:       zookeeper.WorldACL(zookeeper.PermAll),
		deadlines: deadlines{timeout: cfg.RequestTimeout},
		closed:    make(chan struct{}),
		changed:   make(chan struct{}),
	}
	if cfg.Digest != "" {
		r.acl = zookeeper.AuthACL(zookeeper.PermAll) // CREATOR_ALL
	}
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	r.goodbye, r.hurry = context.WithCancel(context.Background())
	r.feed = feed{r: r, maxOrphans: maxOrphans, changed: make(chan struct{})}
	r.clock = storeclock.New(r.Session, r.compareClock)
	session, err := openSession(ctx, &r.cfg, &r.history)
	if err != nil {
		return nil, err
	}
	if err := r.enter(ctx, session.conn); err != nil {
		_ = session.close(ctx, err) // err is what matters
		return nil, err
	}
	r.session = session
	r.running.Go(func() { r.succeed(session) })
	r.running.Go(r.feed.run)
	return r, nil
}

// enter makes the namespace's node if it is not there, and reads it: whether a
// password is right shows only in what it opens.
func (r *Registry) enter(ctx context.Context, c *conn) error {
	for {
		_, err := call(unlimited(ctx), c, func(client *zookeeper.Conn) (struct{}, error) {
			_, _, err := client.Get(r.root)
			if errors.Is(err, zookeeper.ErrNoNode) {
				err = r.makeNode(client, r.root)
			}
			return struct{}{}, err
		})
		if err == nil || !isLost(err) || c.ctx.Err() != nil {
			return convertError(err, "namespace "+r.cfg.Namespace)
		}
	}
}

// makeNode makes a persistent node without a value, and its parents, unless it is
// there. It begins with the deepest: higher up may be forbidden ground.
func (r *Registry) makeNode(client *zookeeper.Conn, path string) error {
	for {
		_, err := client.Create(path, []byte{}, 0, r.acl)
		switch {
		case err == nil, errors.Is(err, zookeeper.ErrNodeExists):
			return nil
		case !errors.Is(err, zookeeper.ErrNoNode):
			return err
		}
		if err := r.makeNode(client, path[:strings.LastIndexByte(path, '/')]); err != nil {
			return err
		}
	}
}

// succeed lets each lost session be followed by another, until the registry is closed.
func (r *Registry) succeed(session *session) {
	for {
		<-session.ctx.Done()
		if !r.admit(nil) {
			return // Close ends the session
		}
		lost := session
		farewell := func() {
			// Whoever honours the session's context may need the margin to return.
			select {
			case <-lost.spent():
			case <-r.ctx.Done():
			}
			// What the store could not be told it finds out by itself.
			_ = lost.close(r.goodbye, coord.ErrSessionLost)
		}
		if !r.spawn(farewell) {
			farewell() // Close has begun, and found no session
		}
		var err error
		for session, err = openSession(r.ctx, &r.cfg, &r.history); err != nil; session, err = openSession(r.ctx, &r.cfg, &r.history) {
			if r.ctx.Err() != nil {
				return
			}
			r.cfg.Logger.Warn("session not opened", zap.String("namespace", r.cfg.Namespace), zap.Error(err))
			r.pause()
		}
		if !r.admit(session) {
			_ = session.close(r.goodbye, coord.ErrClosed) // nobody has used it
			return
		}
		r.outdate()
	}
}

// outdate ends what belongs to an earlier era of the store than the newest.
func (r *Registry) outdate() {
	era := int64(r.history.now().era)
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if s != nil && s.conn.era.Load() < era {
		s.end(errPutBack)
	}
	if ch := r.feed.current(); ch != nil && ch.conn.era.Load() < era {
		ch.end()
	}
}

// pause waits before something that failed is tried again.
func (r *Registry) pause() {
	timer := time.NewTimer(r.cfg.MaxBackoff/2 + rand.N(r.cfg.MaxBackoff/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.ctx.Done():
	}
}

// admit makes a session, or none, the current one. It does not once Close has begun.
func (r *Registry) admit(session *session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return false
	}
	r.session = session
	close(r.changed)
	r.changed = make(chan struct{})
	return true
}

// spawn runs f on a goroutine that Close waits for. It does not once that has begun.
func (r *Registry) spawn(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return false
	}
	r.running.Go(f)
	return true
}

// Session implements [coord.Registry].
func (r *Registry) Session(ctx context.Context) (coord.Session, error) {
	s, err := r.current(unlimited(ctx))
	if err != nil {
		return nil, fmt.Errorf("zk: session: %w", err)
	}
	return s, nil
}

// current waits for a session.
func (r *Registry) current(l limit) (*session, error) {
	for {
		r.mu.Lock()
		s, changed := r.session, r.changed
		r.mu.Unlock()
		if r.ctx.Err() != nil {
			return nil, context.Cause(r.ctx)
		}
		if err := l.over(); err != nil {
			return nil, err
		}
		if s != nil && s.ctx.Err() == nil {
			return s, nil
		}
		select {
		case <-changed:
		case <-r.ctx.Done():
		case <-l.Done():
		case <-l.late:
		}
	}
}

// full is a path as the servers know it.
func (r *Registry) full(path string) string {
	if path == "" {
		return r.root
	}
	return r.root + "/" + path
}

// relative is the opposite of full.
func (r *Registry) relative(full string) string {
	return strings.TrimPrefix(strings.TrimPrefix(full, r.root), "/")
}

// limit bounds one request.
func (r *Registry) limit(ctx context.Context) limit { return limit{ctx, r.deadlines.next()} }

// read makes a request that changes nothing, and makes it again when the connection
// is lost over it.
func read[T any](l limit, r *Registry, request func(*zookeeper.Conn) (T, error)) (T, error) {
	for {
		s, err := r.current(l)
		if err != nil {
			var none T
			return none, err
		}
		value, err := call(l, s.conn, request)
		if err == nil || !isLost(err) {
			return value, err
		}
	}
}

// Get implements [coord.Registry].
func (r *Registry) Get(ctx context.Context, path string) (coord.Node, error) {
	if err := coord.ValidatePath(path); err != nil {
		return coord.Node{}, fmt.Errorf("zk: get: %w", err)
	}
	full := r.full(path)
	node, err := read(r.limit(ctx), r, func(client *zookeeper.Conn) (coord.Node, error) {
		if _, err := client.Sync(full); err != nil {
			return coord.Node{}, err
		}
		value, stat, err := client.Get(full)
		if err != nil {
			return coord.Node{}, err
		}
		return newNode(path, value, stat), nil
	})
	if err != nil {
		return coord.Node{}, fmt.Errorf("zk: get %w", convertError(err, path))
	}
	return node, nil
}

func newNode(path string, value []byte, stat *zookeeper.Stat) coord.Node {
	return coord.Node{
		Path:     path,
		Value:    value,
		Version:  int64(stat.Version),
		Created:  stat.Czxid,
		Modified: stat.Mzxid,
		Owner:    coord.SessionID(stat.EphemeralOwner),
	}
}

// listers is how many of a list's nodes are asked for at once.
const listers = 32

// List implements [coord.Registry].
func (r *Registry) List(ctx context.Context, path string) ([]coord.Node, error) {
	if err := coord.ValidateRoot(path); err != nil {
		return nil, fmt.Errorf("zk: list: %w", err)
	}
	nodes, err := r.list(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("zk: list %w", convertError(err, path))
	}
	return nodes, nil
}

func (r *Registry) list(ctx context.Context, path string) ([]coord.Node, error) {
	full := r.full(path)
	names, err := read(r.limit(ctx), r, func(client *zookeeper.Conn) ([]string, error) {
		return syncChildren(client, full)
	})
	if errors.Is(err, zookeeper.ErrNoNode) && path == "" {
		return nil, nil // somebody has removed the namespace
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	nodes := make([]coord.Node, len(names))
	err = r.parallel(ctx, len(names), func(client *zookeeper.Conn, i int) error {
		value, stat, err := client.Get(full + "/" + names[i])
		if errors.Is(err, zookeeper.ErrNoNode) {
			return nil // gone meanwhile
		}
		if err != nil {
			return err
		}
		nodes[i] = newNode(coord.Join(path, names[i]), value, stat)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(nodes, func(n coord.Node) bool { return n.Path == "" }), nil
}

func syncChildren(client *zookeeper.Conn, full string) ([]string, error) {
	if _, err := client.Sync(full); err != nil {
		return nil, err
	}
	names, _, err := client.Children(full)
	return names, err
}

// parallel makes n requests that only read, several at a time. Each has the time of
// one request; the first error ends them all.
func (r *Registry) parallel(ctx context.Context, n int, request func(*zookeeper.Conn, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, listers) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				_, err := read(r.limit(ctx), r, func(client *zookeeper.Conn) (struct{}, error) {
					return struct{}{}, request(client, i)
				})
				if err != nil {
					cancel(err) // which is also an end of the caller's context
					return
				}
			}
		})
	}
	workers.Wait()
	return unlimited(ctx).over()
}

// farewell is how long Close waits for a link.
const farewell = time.Second

// Close implements [coord.Registry].
func (r *Registry) Close(ctx context.Context) error {
	r.mu.Lock()
	if r.ctx.Err() != nil {
		r.mu.Unlock()
		<-r.closed
		return nil
	}
	r.cancel(coord.ErrClosed)
	session := r.session
	r.mu.Unlock()
	defer close(r.closed)
	defer r.hurry()
	stop := context.AfterFunc(ctx, r.hurry)
	defer stop()

	var err error
	if session != nil {
		session.end(coord.ErrClosed)
		// A link that has just broken may come back in time to say farewell.
		linked, cancel := context.WithTimeout(ctx, farewell)
		_ = session.conn.await(linked) // what close says next is what matters
		cancel()
		if err = session.close(r.goodbye, coord.ErrClosed); err != nil {
			err = fmt.Errorf("zk: close: %w", err)
		}
	}
	r.running.Wait()
	return err
}
