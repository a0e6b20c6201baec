package zk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/broadcast"
	"github.com/elasticjob-go/elasticjob/coord/internal/lifetime"
	"github.com/elasticjob-go/elasticjob/internal/liveness"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/internal/storeclock"
)

// Registry implements [coord.Registry] on a ZooKeeper ensemble.
type Registry struct {
	config    Config
	log       *zap.Logger
	root      string          // the full path of the namespace's node
	acl       []zookeeper.ACL // of every node
	ctx       context.Context // ends when Close begins, with ErrClosed
	cancel    context.CancelCauseFunc
	closeCtx  context.Context // ends with the context of Close; then nothing more is sent to the store
	endClose  context.CancelFunc
	running   sync.WaitGroup // all goroutines of the registry; see start
	identity  identity
	feed      feed
	deadlines deadlines
	closed    chan struct{} // closed when Close has ended
	views     views
	liveness  liveness.Monitor
	clock     *storeclock.Keeper
	clocked   sync.Once // starts clock

	mu      sync.Mutex       // guards all below
	session *session         // nil between a lost session and the next
	changed broadcast.Signal // of session
}

var (
	_ coord.Registry  = (*Registry)(nil)
	_ coord.Inspector = (*Registry)(nil)
)

// Dial opens a registry with its session, and checks that it may use its namespace.
// It returns within [Config.DialTimeout].
//
// Errors: [coord.ErrInvalidConfig] naming the field; [coord.ErrUnavailable] naming the
// servers; [coord.ErrDenied] for a wrong password, a namespace that belongs to another
// user, or certificates that are not trusted; the cause of ctx.
func Dial(ctx context.Context, cfg Config) (*Registry, error) {
	cfg, err := cfg.withDefaults()
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
		config:    cfg,
		log:       cfg.Logger.With(zap.String("namespace", cfg.Namespace)),
		root:      "/" + cfg.Namespace,
		acl:       cfg.acl(),
		deadlines: deadlines{timeout: cfg.RequestTimeout},
		closed:    make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	r.closeCtx, r.endClose = context.WithCancel(context.Background())
	r.feed = feed{r: r, maxOrphans: maxOrphans}
	r.clock = storeclock.New(r.Session, r.compareClock)
	session, err := openSession(ctx, &r.config, &r.identity, &r.liveness)
	if err != nil {
		return nil, err
	}
	if err := r.enterNamespace(ctx, session.conn); err != nil {
		_ = session.close(ctx, err) // err is what matters
		return nil, err
	}
	r.session = session
	r.liveness.Start(session.conn.sessionTimeout(), r.views.outageBegan, r.views.outageEnded)
	r.running.Go(func() { r.keepSessions(session) })
	r.running.Go(r.feed.run)
	return r, nil
}

// enterNamespace reads the namespace's node, and creates it if there is none. This checks the
// password: ZooKeeper accepts any, and refuses access to nodes later.
func (r *Registry) enterNamespace(ctx context.Context, c *conn) error {
	for {
		_, err := call(contextOnly(ctx), c, func(client *zookeeper.Conn) (struct{}, error) {
			_, _, err := client.Get(r.root)
			if errors.Is(err, zookeeper.ErrNoNode) {
				err = r.makeNode(client, r.root)
			}
			return struct{}{}, err
		})
		if err == nil || !isLost(err) || c.ctx.Err() != nil {
			return convertError(err, "namespace "+r.config.Namespace)
		}
	}
}

// makeNode creates a persistent node without a value, and its parents, unless it exists. It tries a
// parent only if that is missing, because parents may be denied to this user.
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

// keepSessions opens a new session whenever one is lost, until the registry is closed.
func (r *Registry) keepSessions(session *session) {
	for {
		<-session.ctx.Done()
		if !r.setSession(nil) {
			return // Close ends the session
		}
		session.log().Warn("session lost", zap.Error(context.Cause(session.ctx)))
		lost := session
		closeLost := func() {
			// Work that obeys the session's context may need until then to return.
			select {
			case <-lost.expiry():
			case <-r.ctx.Done():
			}
			_ = lost.close(r.closeCtx, coord.ErrSessionLost) // if that fails, the session times out at the store
		}
		if !r.start(closeLost) {
			closeLost() // Close has begun, and does not close this session
		}
		var err error
		for session, err = openSession(r.ctx, &r.config, &r.identity, &r.liveness); err != nil; session, err = openSession(r.ctx, &r.config, &r.identity, &r.liveness) {
			if r.ctx.Err() != nil {
				return
			}
			r.log.Warn("cannot open a new session yet", zap.Error(err))
			r.liveness.Suspect()
			r.pause()
		}
		if !r.setSession(session) {
			_ = session.close(r.closeCtx, coord.ErrClosed) // nobody has used it, so it does not matter if that fails
			return
		}
		r.endOutdated()
	}
}

// endOutdated ends the session and the watch connection if they belong to an earlier incarnation of
// the store.
func (r *Registry) endOutdated() {
	incarnation := int64(r.identity.now().incarnation)
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if s != nil && s.conn.incarnation.Load() < incarnation {
		s.End(lifetime.ErrRestored)
	}
	if wc := r.feed.current(); wc != nil && wc.conn.incarnation.Load() < incarnation {
		wc.end(nil)
	}
}

// pause waits before another attempt.
func (r *Registry) pause() {
	sleep.For(r.ctx, sleep.Jitter(r.config.MaxBackoff))
}

// setSession sets the current session, nil for none. It reports false once Close has begun.
func (r *Registry) setSession(session *session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return false
	}
	r.session = session
	r.changed.Fire()
	return true
}

// start runs a function on a goroutine that Close waits for. Once Close has begun it runs nothing,
// and reports false.
func (r *Registry) start(f func()) bool {
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
	s, err := r.awaitSession(contextOnly(ctx))
	if err != nil {
		return nil, fmt.Errorf("zk: session: %w", err)
	}
	return s, nil
}

// awaitSession returns a session that is not lost, and waits for one if necessary.
func (r *Registry) awaitSession(l limit) (*session, error) {
	return awaitUsable(r, l, func() (*session, bool, <-chan struct{}) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.session, r.session != nil && r.session.ctx.Err() == nil, r.changed.Next()
	})
}

// full returns the full path of a node, as servers know it.
func (r *Registry) full(path string) string {
	if path == "" {
		return r.root
	}
	return r.root + "/" + path
}

// relative returns the path in the namespace of a full path.
func (r *Registry) relative(full string) string {
	return strings.TrimPrefix(strings.TrimPrefix(full, r.root), "/")
}

// limit returns the limit of one request: ctx and the request time-out.
func (r *Registry) limit(ctx context.Context) limit { return limit{ctx, r.deadlines.next()} }

// read makes a request that changes nothing, again whenever the connection breaks.
func read[T any](l limit, r *Registry, request func(*zookeeper.Conn) (T, error)) (T, error) {
	for {
		s, err := r.awaitSession(l)
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

// listers is how many nodes of a list are read at once.
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
		return nil, nil // somebody has removed the namespace's node
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	nodes := make([]coord.Node, len(names))
	err = r.parallel(ctx, listers, len(names), func(client *zookeeper.Conn, i int) error {
		value, stat, err := client.Get(full + "/" + names[i])
		if errors.Is(err, zookeeper.ErrNoNode) {
			return nil // it was removed meanwhile
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

// parallel makes n requests that only read, at most most at a time. Each has the whole request
// time-out. The first error ends all.
func (r *Registry) parallel(ctx context.Context, most, n int, request func(*zookeeper.Conn, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, most) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				_, err := read(r.limit(ctx), r, func(client *zookeeper.Conn) (struct{}, error) {
					return struct{}{}, request(client, i)
				})
				if err != nil {
					cancel(err) // over returns it below, or the cause of the caller's context
					return
				}
			}
		})
	}
	workers.Wait()
	return contextOnly(ctx).cause()
}

// closeLinkWait is how long Close waits for a link, if there is none.
const closeLinkWait = time.Second

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
	r.liveness.Stop()
	defer close(r.closed)
	defer r.endClose()
	stop := context.AfterFunc(ctx, r.endClose)
	defer stop()

	var err error
	if session != nil {
		session.End(coord.ErrClosed)
		// If the link has just broken there may be another in time to end the session.
		linked, cancel := context.WithTimeout(ctx, closeLinkWait)
		_ = session.conn.awaitLink(linked) // without a link, close below returns the error
		cancel()
		if err = session.close(r.closeCtx, coord.ErrClosed); err != nil {
			err = fmt.Errorf("zk: close: %w", err)
		}
	}
	r.running.Wait()
	return err
}
