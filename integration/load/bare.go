package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Bare is a process that does to etcd what fires do, with nothing but gRPC: it claims items
// and finishes them, many in a request, and watches all of it.
type Bare struct{}

// BareArgs are what it does.
type BareArgs struct {
	Endpoint, Namespace string
	Group, Flight       int
	For                 time.Duration
}

// BareDone is what it has done.
type BareDone struct {
	Fires int64 // claimed and finished
	Took  time.Duration
	CPU   time.Duration
}

// longestBare bounds how long it goes on.
const longestBare = 10 * time.Second

// Run does it.
func (*Bare) Run(a BareArgs, done *BareDone) error {
	conn, err := grpc.NewClient(a.Endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), a.For+time.Minute)
	defer cancel()
	b := &bareClient{kv: pb.NewKVClient(conn), namespace: a.Namespace + "/"}
	if err := b.setUp(ctx, a.Group*a.Flight); err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	w, err := b.watch(ctx, conn)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer w.wait() // it ends when the connection does
	defer cancel()
	before, err := ownCPU()
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := b.fires(ctx, a, begin.Add(a.For)); err != nil {
		return err
	}
	done.Fires, done.Took = b.count.Load(), time.Since(begin)
	after, err := ownCPU()
	done.CPU = after - before
	if err := errors.Join(err, w.await(3*done.Fires)); err != nil { // a claim is two events, a finish is one
		return err
	}
	return b.clean(ctx)
}

type bareClient struct {
	kv        pb.KVClient
	namespace string
	session   int64 // the revision that created the node of the session
	count     atomic.Int64
}

func (b *bareClient) key(item int, name string) []byte {
	return fmt.Appendf(nil, "%sload/sharding/%05d/%s", b.namespace, item, name)
}

func (b *bareClient) sessionKey() []byte { return []byte(b.namespace + "load/instances/one") }

const bareOwner = "10.0.0.1@-@1@-@0123456789ab"

// setUp writes the session, and an owner and the last tick of each item.
func (b *bareClient) setUp(ctx context.Context, items int) error {
	wrote, err := b.kv.Put(ctx, &pb.PutRequest{Key: b.sessionKey(), Value: []byte(bareOwner)})
	if err != nil {
		return err
	}
	b.session = wrote.Header.Revision
	for i := range items {
		for _, name := range []string{"instance", "fired"} {
			if _, err := b.kv.Put(ctx, &pb.PutRequest{Key: b.key(i, name), Value: []byte(bareOwner)}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bareClient) clean(ctx context.Context) error {
	_, err := b.kv.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte(b.namespace), RangeEnd: b.end()})
	return err
}

// end is the end of the keys that begin with the namespace: '0' follows its last '/'.
func (b *bareClient) end() []byte { return []byte(b.namespace[:len(b.namespace)-1] + "0") }

// watcher counts the events of a watch.
type watcher struct {
	stream pb.Watch_WatchClient
	seen   atomic.Int64
	more   chan struct{} // has a signal after some were seen
	ended  chan struct{}
	err    error // once ended is closed
}

// watch watches all nodes until ctx ends. The caller waits for it.
func (b *bareClient) watch(ctx context.Context, conn *grpc.ClientConn) (*watcher, error) {
	stream, err := pb.NewWatchClient(conn).Watch(ctx)
	if err != nil {
		return nil, err
	}
	create := &pb.WatchCreateRequest{Key: []byte(b.namespace), RangeEnd: b.end()}
	if err := stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: create}}); err != nil {
		return nil, err
	}
	if created, err := stream.Recv(); err != nil || !created.Created {
		return nil, errors.Join(errors.New("it was not created"), err)
	}
	w := &watcher{stream: stream, more: make(chan struct{}, 1), ended: make(chan struct{})}
	go w.run()
	return w, nil
}

func (w *watcher) run() {
	defer close(w.ended)
	for {
		answer, err := w.stream.Recv()
		if err != nil {
			w.err = err
			return
		}
		w.seen.Add(int64(len(answer.Events)))
		select {
		case w.more <- struct{}{}:
		default:
		}
	}
}

// await waits until so many events were seen, or the watch ends.
func (w *watcher) await(events int64) error {
	for w.seen.Load() < events {
		select {
		case <-w.more:
		case <-w.ended:
			return fmt.Errorf("the watch has shown %d of %d events: %w", w.seen.Load(), events, w.err)
		}
	}
	return nil
}

func (w *watcher) wait() { <-w.ended }

// fires lets a few requests be in flight until the time is over.
func (b *bareClient) fires(ctx context.Context, a BareArgs, until time.Time) error {
	errs := make([]error, a.Flight)
	var all sync.WaitGroup
	for n := range a.Flight {
		all.Go(func() {
			items := make([]int, a.Group)
			for i := range items {
				items[i] = n*a.Group + i
			}
			fired := make([]int64, a.Group) // revisions of the last ticks; 0 is any
			for time.Now().Before(until) && errs[n] == nil {
				errs[n] = b.fire(ctx, items, fired)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// fire claims a group of items in one request, and finishes them in another.
func (b *bareClient) fire(ctx context.Context, items []int, fired []int64) error {
	var claims, finishes pb.TxnRequest
	for i, item := range items {
		claims.Success = append(claims.Success, nested(b.claim(item, fired[i])))
	}
	revision, err := b.commit(ctx, &claims)
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	for i, item := range items {
		fired[i] = revision
		finishes.Success = append(finishes.Success, nested(b.finish(item, revision)))
	}
	if _, err := b.commit(ctx, &finishes); err != nil {
		return fmt.Errorf("finish: %w", err)
	}
	b.count.Add(int64(len(items)))
	return nil
}

// commit returns the revision, or an error if a condition of any item did not hold.
func (b *bareClient) commit(ctx context.Context, request *pb.TxnRequest) (int64, error) {
	answer, err := b.kv.Txn(ctx, request)
	if err != nil {
		return 0, err
	}
	for i, one := range answer.Responses {
		if !one.GetResponseTxn().Succeeded {
			return 0, fmt.Errorf("item %d of the group: a condition did not hold", i)
		}
	}
	return answer.Header.Revision, nil
}

func nested(one *pb.TxnRequest) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: one}}
}

func (b *bareClient) claim(item int, fired int64) *pb.TxnRequest {
	instance, tick, running := b.key(item, "instance"), b.key(item, "fired"), b.key(item, "running")
	last := modified(tick, pb.Compare_EQUAL, fired)
	if fired == 0 {
		last = modified(tick, pb.Compare_GREATER, 0)
	}
	return &pb.TxnRequest{
		Compare: []*pb.Compare{
			b.lives(),
			{Key: instance, Target: pb.Compare_VALUE, TargetUnion: &pb.Compare_Value{Value: []byte(bareOwner)}},
			modified(running, pb.Compare_EQUAL, 0),
			last,
		},
		Success: []*pb.RequestOp{put(running), put(tick)},
	}
}

func (b *bareClient) finish(item int, claimed int64) *pb.TxnRequest {
	running := b.key(item, "running")
	return &pb.TxnRequest{
		Compare: []*pb.Compare{b.lives(), modified(running, pb.Compare_EQUAL, claimed)},
		Success: []*pb.RequestOp{{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: &pb.DeleteRangeRequest{Key: running}}}},
	}
}

func (b *bareClient) lives() *pb.Compare {
	return &pb.Compare{Key: b.sessionKey(), Target: pb.Compare_CREATE, TargetUnion: &pb.Compare_CreateRevision{CreateRevision: b.session}}
}

func modified(key []byte, than pb.Compare_CompareResult, revision int64) *pb.Compare {
	return &pb.Compare{Key: key, Result: than, Target: pb.Compare_MOD, TargetUnion: &pb.Compare_ModRevision{ModRevision: revision}}
}

func put(key []byte) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: key, Value: []byte(bareOwner)}}}
}
