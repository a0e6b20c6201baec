package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/either"
	"github.com/elasticjob-go/elasticjob/internal/liveness"
	"github.com/elasticjob-go/elasticjob/internal/storeclock"
)

// Registry is a [coord.Registry] over etcd.
type Registry struct {
	config      Config
	log         *zap.Logger
	keys        keyspace
	client      *clientv3.Client
	kv          pb.KVClient // for commits, which need to know whether they were sent
	lease       pb.LeaseClient
	connections connections
	late        error // the cause of the context of a request that has timed out

	ctx     context.Context // ends with Close, with the cause ErrClosed
	end     context.CancelCauseFunc
	once    sync.Once
	mu      sync.Mutex
	closed  bool           // Close has begun, so no goroutine starts any more; guarded by mu
	running sync.WaitGroup // all goroutines of the registry

	committer committer
	sessions  sessions
	watchers  *watchers
	identity  identity
	liveness  liveness.Monitor
	clock     *storeclock.Keeper
	clocked   sync.Once // somebody has asked for it

	candidates atomic.Int64 // counts latch candidates; their names contain the number
}

var (
	_ coord.Registry  = (*Registry)(nil)
	_ coord.Inspector = (*Registry)(nil)
)

// Dial connects to a store and opens a session. ctx and [Config.DialTimeout] bound Dial; the
// registry lives until Close.
//
// Errors: [coord.ErrInvalidConfig] naming the field; [coord.ErrUnavailable] if nobody
// answers in time, [coord.ErrDenied] for a wrong password or a certificate that one side
// does not trust, both naming the endpoints; [coord.ErrUnsupported] for a server before
// etcd 3.5; the cause of ctx.
func Dial(ctx context.Context, config Config) (*Registry, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, config.DialTimeout, noAnswer(config.DialTimeout))
	defer cancel()
	r := &Registry{
		config: config,
		log:    config.Logger.With(zap.String("namespace", config.Namespace)),
		keys:   newKeyspace(config.Namespace),
		late:   noAnswer(config.RequestTimeout),
	}
	r.committer.registry = r
	r.identity.verifyWanted = make(chan struct{}, 1)
	r.connections.dialled = r.identity.connected
	r.clock = storeclock.New(r.Session, r.compareClock)
	client, err := connect(ctx, config, &r.connections, r.observe)
	if err != nil {
		return nil, dialError(ctx, err, config)
	}
	r.config.Password = "" // the client has it, and whatever holds a registry may be printed
	r.client = client
	r.kv = pb.NewKVClient(client.ActiveConnection())
	r.lease = pb.NewLeaseClient(client.ActiveConnection())
	r.watchers = newWatchers(r)
	r.ctx, r.end = context.WithCancelCause(context.Background())
	r.liveness.Start(config.SessionTimeout, r.outageBegan, r.outageEnded)

	inUse, err := r.checkServer(ctx)
	var first *session
	if err == nil {
		first, err = r.openSession(ctx)
	}
	if err != nil {
		// Goroutines may still revoke a lease; wait for them until ctx ends.
		defer context.AfterFunc(ctx, func() { r.end(coord.ErrClosed) })()
		r.running.Wait()
		r.end(coord.ErrClosed)
		r.liveness.Stop()
		_ = client.Close()
		return nil, fmt.Errorf("etcd: dial %s: %w", strings.Join(config.Endpoints, ", "), err)
	}
	r.start(r.watchers.run)
	r.start(func() { r.keepSessions(first) })
	r.start(r.runVerify)
	if config.SyncInterval > 0 {
		r.start(r.keepEndpoints)
	}
	r.start(func() { r.warnOfHistory(inUse) })
	return r, nil
}

// Close implements [coord.Registry].
func (r *Registry) Close(ctx context.Context) error {
	var err error
	r.once.Do(func() {
		r.mu.Lock()
		r.closed = true
		r.mu.Unlock()
		r.end(coord.ErrClosed)
		r.running.Wait()
		r.liveness.Stop()
		err = r.endSession(ctx)
		_ = r.client.Close()
	})
	return err
}

// start runs a function on a goroutine that Close waits for. Once Close has begun it runs
// nothing, and reports false.
func (r *Registry) start(run func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.running.Go(run)
	return true
}

// request runs one request to the store within the caller's context, the request
// time-out and the life of the registry.
func (r *Registry) request(ctx context.Context, what string, send func(context.Context) error) error {
	ctx, cancel, err := r.bound(ctx)
	if err != nil {
		return fmt.Errorf("etcd: %s: %w", what, err)
	}
	defer cancel()
	return convertError(ctx, send(ctx), what)
}

// get reads a key, or what the options say, in one request.
func (r *Registry) get(ctx context.Context, what, key string, options ...clientv3.OpOption) (read *clientv3.GetResponse, err error) {
	err = r.request(ctx, what, func(ctx context.Context) (err error) {
		read, err = r.client.Get(ctx, key, options...)
		return err
	})
	return read, err
}

// bound returns the context of one request. When it ends, its cause is the error for the
// caller.
func (r *Registry) bound(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if r.ctx.Err() != nil {
		return nil, nil, context.Cause(r.ctx)
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	ctx, leave := either.Context(ctx, r.ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, r.config.RequestTimeout, r.late)
	return ctx, func() {
		cancel()
		leave()
	}, nil
}

// Get implements [coord.Registry].
func (r *Registry) Get(ctx context.Context, path string) (coord.Node, error) {
	if err := coord.ValidatePath(path); err != nil {
		return coord.Node{}, fmt.Errorf("etcd: get: %w", err)
	}
	what := "get " + path
	for {
		read, err := r.get(ctx, what, r.keys.key(path))
		if err != nil {
			return coord.Node{}, err
		}
		if len(read.Kvs) > 0 {
			return newNode(path, read.Kvs[0]), nil
		}
		// Read at the same revision: otherwise a node that is created in between is missed.
		parent, err := r.hasBelow(ctx, what, path, read.Header.Revision)
		switch {
		case errors.Is(err, errCompacted):
			continue
		case err != nil:
			return coord.Node{}, err
		case !parent:
			return coord.Node{}, fmt.Errorf("etcd: %s: %w", what, coord.ErrNoNode)
		}
		return coord.Node{Path: path}, nil
	}
}

// Session implements [coord.Registry].
func (r *Registry) Session(ctx context.Context) (coord.Session, error) {
	s, err := r.awaitSession(ctx)
	if err != nil {
		return nil, fmt.Errorf("etcd: session: %w", err)
	}
	return s, nil
}

// String says which registry it is, without secrets.
func (r *Registry) String() string { return "registry of " + r.config.String() }

// Format implements [fmt.Formatter]: for every verb it writes String, so that no verb prints
// secrets.
func (r *Registry) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) } // fmt keeps its errors to itself
