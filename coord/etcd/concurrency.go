package etcd

import (
	"context"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/client/v3/namespace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Concurrency returns a session for the Mutex, Election and STM of etcd's package concurrency, on
// the registry's connection and lease. It waits for a session of the registry if necessary.
//
// When the registry's session ends, at its own deadline at the latest, the concurrency session
// ends with it: Done is closed, Ctx has the cause that [coord.Session.Context] has, and the
// requests and watches of Client fail with that cause. The caller asks for another one then.
// Close or Orphan one that is not needed any more.
//
// The lease outlives Close, and so does a lock that is held. An Unlock or Resign that fails has to
// be repeated, and needs a context that lasts, such as that of Client.
//
// Client has KV, Watcher and Lease, belongs to the registry, and sees the keys of the namespace
// without their prefix "/{namespace}/". So a Mutex with the prefix "a/b" stands in the queue of
// the latch a/b. Prefixes that begin with a slash, such as "/locks/report", are outside the tree,
// where no job, node or latch has keys; only "/sessions/" is the registry's.
//
// All concurrency sessions of a registry share one lease, and etcd names the key of a Mutex after
// the lease. So two goroutines of a process can lock the same prefix at the same time, which a
// [coord.Latch] prevents.
//
// Errors: [coord.ErrSessionLost] and [coord.ErrClosed]; the cause of ctx.
func (r *Registry) Concurrency(ctx context.Context) (*concurrency.Session, error) {
	s, err := r.awaitSession(ctx)
	if err != nil {
		return nil, fmt.Errorf("etcd: concurrency session: %w", err)
	}
	return concurrency.NewSession(s.client, concurrency.WithLease(clientv3.LeaseID(s.lease)), concurrency.WithContext(s.ctx))
}

// newSessionClient returns a client for what programs do in a session. It has no goroutine while
// nobody watches.
func (r *Registry) newSessionClient(s *session) *clientv3.Client {
	kv := sessionKV{clientv3.RetryKVClient(r.client), s}
	watch := sessionWatch{r.watchers.client, s}
	client := clientv3.NewCtxClient(s.ctx)
	client.KV = namespace.NewKV(clientv3.NewKVFromKVClient(kv, r.client), r.keys.prefix)
	client.Watcher = namespace.NewWatcher(clientv3.NewWatchFromWatchClient(watch, r.client), r.keys.prefix)
	client.Lease = namespace.NewLease(sessionLease{r.client.Lease, s}, r.keys.prefix)
	return client
}

// failure is the error of a request that a program made in the session.
func (s *session) failure(err error) error {
	if s.ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("etcd: session %x: %w", s.lease, context.Cause(s.ctx))
}

// bound returns a context that ends with the session, too. It fails if the session has ended.
func (s *session) bound(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if !s.Alive() {
		return nil, nil, s.failure(nil)
	}
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(s.ctx, cancel)
	return ctx, func() {
		unhook()
		cancel()
	}, nil
}

// inSession makes a request that ends with the session. It waits for a connection: without one an
// Unlock would fail at once, and leave its key for as long as the lease is renewed.
func inSession[Request, Answer any](
	ctx context.Context, s *session,
	send func(context.Context, *Request, ...grpc.CallOption) (*Answer, error), request *Request, opts []grpc.CallOption,
) (*Answer, error) {
	ctx, cancel, err := s.bound(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	answer, err := send(ctx, request, append(opts, grpc.WaitForReady(true))...)
	if err != nil {
		return nil, s.failure(err)
	}
	return answer, nil
}

// sessionKV is a KV service whose requests end with a session.
type sessionKV struct {
	pb.KVClient
	session *session
}

func (kv sessionKV) Range(ctx context.Context, in *pb.RangeRequest, opts ...grpc.CallOption) (*pb.RangeResponse, error) {
	return inSession(ctx, kv.session, kv.KVClient.Range, in, opts)
}

func (kv sessionKV) Put(ctx context.Context, in *pb.PutRequest, opts ...grpc.CallOption) (*pb.PutResponse, error) {
	return inSession(ctx, kv.session, kv.KVClient.Put, in, opts)
}

func (kv sessionKV) DeleteRange(ctx context.Context, in *pb.DeleteRangeRequest, opts ...grpc.CallOption) (*pb.DeleteRangeResponse, error) {
	return inSession(ctx, kv.session, kv.KVClient.DeleteRange, in, opts)
}

func (kv sessionKV) Txn(ctx context.Context, in *pb.TxnRequest, opts ...grpc.CallOption) (*pb.TxnResponse, error) {
	return inSession(ctx, kv.session, kv.KVClient.Txn, in, opts)
}

// sessionWatch is a watch service whose streams end with a session.
type sessionWatch struct {
	pb.WatchClient
	session *session
}

func (w sessionWatch) Watch(ctx context.Context, opts ...grpc.CallOption) (pb.Watch_WatchClient, error) {
	ctx, cancel, err := w.session.bound(ctx)
	if err != nil {
		return nil, err
	}
	stream, err := w.WatchClient.Watch(ctx, opts...)
	if err != nil {
		cancel()
		return nil, w.session.failure(err)
	}
	return sessionStream{stream, w.session, cancel}, nil
}

// sessionStream is a stream of a sessionWatch.
type sessionStream struct {
	pb.Watch_WatchClient
	session *session
	cancel  context.CancelFunc
}

// Recv returns an error of a broken stream when the server refuses the stream's token: then the
// client opens another stream, which logs in again, and moves its watches there. By itself the
// client would fail each new watch until all older ones have ended.
func (s sessionStream) Recv() (*pb.WatchResponse, error) {
	answer, err := s.Watch_WatchClient.Recv()
	if err == nil && answer.Canceled && refusedToken(reasonError(answer.CancelReason)) {
		err = status.Error(codes.Unavailable, answer.CancelReason)
	}
	if err != nil {
		s.cancel()
		return nil, s.session.failure(err)
	}
	return answer, nil
}

// sessionLease is the lease service of a program that has a session. The registry renews and
// revokes the session's lease.
type sessionLease struct {
	clientv3.Lease
	session *session
}

// KeepAlive renews nothing if it is the session's lease. The channel is closed when the session
// ends.
func (l sessionLease) KeepAlive(ctx context.Context, id clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	if int64(id) != l.session.lease {
		return l.Lease.KeepAlive(ctx, id)
	}
	ctx, cancel, err := l.session.bound(ctx)
	if err != nil {
		return nil, err
	}
	ended := make(chan *clientv3.LeaseKeepAliveResponse)
	context.AfterFunc(ctx, func() {
		cancel()
		close(ended)
	})
	return ended, nil
}

// Revoke does nothing if it is the session's lease.
func (l sessionLease) Revoke(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseRevokeResponse, error) {
	if int64(id) != l.session.lease {
		return l.Lease.Revoke(ctx, id)
	}
	return &clientv3.LeaseRevokeResponse{Header: &pb.ResponseHeader{}}, nil
}

// Close does nothing: the registry closes the service.
func (sessionLease) Close() error { return nil }
