package etcd_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// gateway stands between a registry and the store. It keeps the requests in their order.
type gateway struct {
	pb.KVClient
	// pass decides about a request: it may ask the store, or answer in its place.
	pass func(request *pb.TxnRequest, ask func() (*pb.TxnResponse, error)) (*pb.TxnResponse, error)

	mu       sync.Mutex
	requests []*pb.TxnRequest
}

func stand(r *etcd.Registry, pass func(*pb.TxnRequest, func() (*pb.TxnResponse, error)) (*pb.TxnResponse, error)) *gateway {
	g := &gateway{pass: pass}
	r.Between(func(kv pb.KVClient) pb.KVClient { g.KVClient = kv; return g })
	return g
}

func (g *gateway) Txn(ctx context.Context, request *pb.TxnRequest, options ...grpc.CallOption) (*pb.TxnResponse, error) {
	g.mu.Lock()
	g.requests = append(g.requests, request)
	g.mu.Unlock()
	for _, o := range options { // the request has found a connection
		if o, ok := o.(grpc.PeerCallOption); ok {
			o.PeerAddr.Addr = &net.TCPAddr{}
		}
	}
	if g.pass == nil {
		return g.KVClient.Txn(ctx, request, options...)
	}
	return g.pass(request, func() (*pb.TxnResponse, error) { return g.KVClient.Txn(ctx, request, options...) })
}

// sizes are how many commits each request had.
func (g *gateway) sizes() []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	var sizes []int
	for _, request := range g.requests {
		sizes = append(sizes, len(members(request)))
	}
	return sizes
}

// members are the commits of a request.
func members(request *pb.TxnRequest) []*pb.TxnRequest {
	var members []*pb.TxnRequest
	for _, op := range request.Success {
		if nested := op.GetRequestTxn(); nested != nil {
			members = append(members, nested)
		}
	}
	if members == nil {
		return []*pb.TxnRequest{request}
	}
	return members
}

// puts reports whether a request puts a key that contains something.
func puts(request *pb.TxnRequest, part string) bool {
	for _, member := range members(request) {
		for _, op := range member.Success {
			if bytes.Contains(op.GetRequestPut().GetKey(), []byte(part)) {
				return true
			}
		}
	}
	return false
}

// call is one commit of several at the same time.
type call struct {
	ctx context.Context // nil means that of the test
	ops []coord.Op

	revision int64
	err      error
}

func calling(ops ...coord.Op) *call { return &call{ops: ops} }

// commitAll commits when all have come to wait at the registry, in this order. between, if it
// is not nil, runs before any is sent.
func commitAll(t *testing.T, r *etcd.Registry, between func(), calls ...*call) {
	t.Helper()
	release := r.Hold()
	var running sync.WaitGroup
	for i, c := range calls {
		if c.ctx == nil {
			c.ctx = within(t)
		}
		running.Go(func() { c.revision, c.err = r.Commit(c.ctx, c.ops...) })
		if err := awaitWaiting(within(t), r, i+1); err != nil {
			t.Error(err)
		}
	}
	if between != nil {
		between()
	}
	release()
	running.Wait()
}

func TestCommitsThatWaitShareARequest(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	g := stand(r, nil)
	commit(t, r, coord.Put("there", nil), coord.Put("kept", nil))
	if sizes := g.sizes(); len(sizes) != 1 || sizes[0] != 1 || len(g.requests[0].Compare) == 0 {
		t.Errorf("a commit that finds nothing on its way went as %v", g.requests[0])
	}

	calls := []*call{
		calling(coord.Create("kept", nil)), // never holds
		calling(coord.Exists("there")),
		calling(coord.Create("a/e", nil)),
		calling(coord.Delete("kept"), coord.Put("kept2", nil)), // concerns what another one reads
		calling(coord.Delete("none"), coord.Put("b", nil)),
	}
	for i := range 10 {
		calls = append(calls, calling(coord.Put(fmt.Sprintf("a/%d", i), nil), coord.CreateEphemeral(fmt.Sprintf("e/%d", i), nil)))
	}
	commitAll(t, r, nil, calls...)
	want := []error{coord.ErrNodeExists, nil, nil, nil, coord.ErrNoNode}
	for i, c := range calls {
		if i == 0 && c.err == nil {
			continue // the removal came first
		}
		if i < len(want) && !errors.Is(c.err, want[i]) || i >= len(want) && c.err != nil {
			t.Errorf("%v: got the error %v", c.ops, c.err)
		}
	}
	for _, c := range append(calls[5:], calls[2]) {
		for _, op := range c.ops {
			if n, err := r.Get(within(t), op.Path); err != nil || n.Modified != c.revision {
				t.Errorf("%v: got %+v, %v; it was written at %d", c.ops, n, err, c.revision)
			}
		}
		if c.revision != calls[5].revision {
			t.Errorf("%v went alone", c.ops)
		}
	}
	if sizes := g.sizes(); max(sizes[1], sizes[2]) != 14 {
		t.Errorf("the requests had %d commits", sizes)
	}
	if groups, waiting := r.CommitGroups(); groups[14] != 1 || groups[1] == 0 || waiting != 0 {
		t.Errorf("the registry has counted %d, and %d wait", groups, waiting)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	tried := map[string]bool{}
	for _, request := range g.requests {
		for _, member := range members(request) {
			written, nested := fmt.Sprint(member.Success), len(members(request)) > 1
			conditionsAlone := len(member.Success) == 0 // always ask
			if nested && len(member.Failure) > 0 && !conditionsAlone && !tried[written] {
				t.Errorf("the first attempt asks why it fails: %v", member)
			}
			tried[written] = true
		}
	}
}

// The server refuses a request that is too large in any way, and that costs another one.
func TestGroupsStayWithinWhatAServerTakes(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	g := stand(r, func(_ *pb.TxnRequest, ask func() (*pb.TxnResponse, error)) (*pb.TxnResponse, error) {
		answer, err := ask()
		if err != nil {
			t.Errorf("refused: %v", err)
		}
		return answer, err
	})
	many := func(i int) *call {
		var ops []coord.Op
		for j := range coord.MaxOps {
			ops = append(ops, coord.Put(fmt.Sprintf("many/%d/%d", i, j), nil))
		}
		return calling(ops...)
	}
	large := func(i, size int) *call {
		return calling(coord.Create(fmt.Sprintf("large/%d", i), make([]byte, size)))
	}
	var calls []*call
	for i := range 7 {
		calls = append(calls, large(i, 300_000))
	}
	calls = append(calls, large(7, coord.MaxCommitBytes-10), large(8, 10))
	for i := range 7 {
		calls = append(calls, many(i))
	}
	for i := range 2 * etcd.MaxMembers {
		calls = append(calls, calling(coord.Put(fmt.Sprintf("small/%d", i), nil)))
	}
	commitAll(t, r, nil, calls...)
	for _, c := range calls {
		if c.err != nil {
			t.Errorf("%v: %v", c.ops[0], c.err)
		}
	}
	if n := len(g.sizes()); n > 20 {
		t.Errorf("%d requests", n)
	}
}

func TestCallersLeaveAGroup(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{RequestTimeout: patience})
	arrived, pass := make(chan struct{}), make(chan struct{})
	stand(r, func(_ *pb.TxnRequest, ask func() (*pb.TxnResponse, error)) (*pb.TxnResponse, error) {
		close(arrived)
		<-pass
		return ask()
	})
	reason := errors.New("enough")
	leaver := func(path string) (*call, context.CancelCauseFunc) {
		ctx, leave := context.WithCancelCause(t.Context())
		return &call{ctx: ctx, ops: []coord.Op{coord.Put(path, nil)}}, leave
	}
	early, leaveEarly := leaver("early")
	late, leaveLate := leaver("late")
	leave := func() {
		leaveEarly(reason)
		if err := awaitWaiting(within(t), r, 2); err != nil {
			t.Error(err)
		}
		go func() { // ends with the test's context, if not before
			select {
			case <-arrived:
			case <-t.Context().Done():
			}
			leaveLate(reason)
			close(pass)
		}()
	}
	stays := calling(coord.Put("stays", nil))
	commitAll(t, r, leave, early, late, stays)
	if !errors.Is(early.err, reason) || errors.Is(early.err, coord.ErrUnknownOutcome) {
		t.Errorf("left before it was sent: %v", early.err)
	}
	if late.err != nil && (!errors.Is(late.err, reason) || !errors.Is(late.err, coord.ErrUnknownOutcome) || !strings.Contains(late.err.Error(), "put late")) {
		t.Errorf("left after it was sent: %v", late.err)
	}
	if stays.err != nil {
		t.Errorf("stayed: %v", stays.err)
	}
	for path, want := range map[string]error{"early": coord.ErrNoNode, "late": nil, "stays": nil} {
		if _, err := r.Get(within(t), path); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A caller that leaves while its request is on its way gets an answer at once, and may use
// its buffers again.
func TestALeaverDoesNotWaitForItsGroup(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{RequestTimeout: patience})
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	stand(r, func(_ *pb.TxnRequest, ask func() (*pb.TxnResponse, error)) (*pb.TxnResponse, error) {
		leave()
		select {
		case <-left:
		case <-t.Context().Done():
		}
		return ask()
	})
	release := r.Hold()
	var running sync.WaitGroup
	var errs [2]error
	running.Go(func() {
		defer close(left)
		ops := []coord.Op{coord.Put("leaves", []byte("value"))}
		_, errs[0] = r.Commit(ctx, ops...)
		copy(ops[0].Value, "other")
		clear(ops)
	})
	running.Go(func() { _, errs[1] = r.Commit(within(t), coord.Put("stays", nil)) })
	err := awaitWaiting(within(t), r, 2)
	release()
	running.Wait()
	if err != nil || !errors.Is(errs[0], coord.ErrUnknownOutcome) || !errors.Is(errs[0], context.Canceled) || errs[1] != nil {
		t.Errorf("%v; left: %v; stayed: %v", err, errs[0], errs[1])
	}
	if n, err := r.Get(within(t), "leaves"); err != nil || string(n.Value) != "value" {
		t.Errorf("got %q, %v", n.Value, err)
	}
}

// If the store refuses a request for what one commit wants, only that one fails.
func TestARefusedGroupIsSplit(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	for name, c := range map[string]struct {
		refusal error
		want    error // of the commit that is to blame
		others  error
	}{
		"too large":     {rpctypes.ErrGRPCRequestTooLarge, coord.ErrTooLarge, nil},
		"too many ops":  {rpctypes.ErrGRPCTooManyOps, coord.ErrTooLarge, nil},
		"gRPC's bound":  {status.Error(codes.ResourceExhausted, "trying to send message larger than max (2 vs. 1)"), coord.ErrTooLarge, nil},
		"denied":        {rpctypes.ErrGRPCPermissionDenied, coord.ErrDenied, nil},
		"duplicate key": {rpctypes.ErrGRPCDuplicateKey, coord.ErrUnavailable, nil},
		"no space left": {rpctypes.ErrGRPCNoSpace, coord.ErrUnavailable, nil},
		"overloaded":    {rpctypes.ErrGRPCRequestTooManyRequests, coord.ErrUnavailable, coord.ErrUnavailable},
		"no leader":     {rpctypes.ErrGRPCNoLeader, coord.ErrUnknownOutcome, coord.ErrUnknownOutcome},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := dial(t, server, etcd.Config{})
			g := stand(r, func(request *pb.TxnRequest, ask func() (*pb.TxnResponse, error)) (*pb.TxnResponse, error) {
				if puts(request, "guilty") {
					return nil, c.refusal
				}
				return ask()
			})
			var calls []*call
			for i := range 16 {
				calls = append(calls, calling(coord.Put(fmt.Sprintf("innocent/%d", i), nil)))
			}
			guilty := calling(coord.Put("guilty", nil))
			commitAll(t, r, nil, append(calls, guilty)...)
			if !errors.Is(guilty.err, c.want) || !strings.Contains(guilty.err.Error(), "put guilty") {
				t.Errorf("got the error %v", guilty.err)
			}
			for _, other := range calls {
				if !errors.Is(other.err, c.others) {
					t.Errorf("%v: %v", other.ops, other.err)
				}
			}
			if n := len(g.sizes()); c.others != nil && n != 1 || n > 12 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// An answer that is lost leaves each commit's outcome unknown.
func TestUnknownOutcomeIsThatOfEach(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{})
	r, links := dial(t, server, etcd.Config{RequestTimeout: 5 * time.Second}) // time enough to send them
	calls := []*call{calling(coord.Put("a", nil)), calling(coord.Put("b", nil)), calling(coord.Delete("a/none"))}
	commitAll(t, r, links[0].DropAnswers, calls...)
	for _, c := range calls {
		if !errors.Is(c.err, coord.ErrUnknownOutcome) || !strings.Contains(c.err.Error(), c.ops[0].String()) {
			t.Errorf("%v: got the error %v", c.ops, c.err)
		}
	}
}

// If the store has dropped the session, those who create ephemeral nodes fail, and nobody
// else.
func TestALostLeaseFailsThoseThatNeedIt(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	s := session(t, r)
	stand(r, func(request *pb.TxnRequest, ask func() (*pb.TxnResponse, error)) (*pb.TxnResponse, error) {
		if puts(request, "/e/") {
			return nil, rpctypes.ErrGRPCLeaseNotFound
		}
		return ask()
	})
	create := []*call{calling(coord.CreateEphemeral("e/1", nil)), calling(coord.CreateEphemeral("e/2", nil))}
	other := []*call{calling(coord.Put("a", nil)), calling(coord.Create("b", nil))}
	commitAll(t, r, nil, create[0], other[0], create[1], other[1])
	for _, c := range create {
		if !errors.Is(c.err, coord.ErrSessionLost) {
			t.Errorf("%v: %v", c.ops, c.err)
		}
	}
	for _, c := range other {
		if c.err != nil {
			t.Errorf("%v: %v", c.ops, c.err)
		}
	}
	if s.Context().Err() == nil {
		t.Error("the session lives on")
	}
}

// What waits creates nothing for a session that has ended meanwhile, nor in the next one.
func TestALostSessionWhileACommitWaits(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	s := session(t, r)
	derived := &call{ctx: s.Context(), ops: []coord.Op{coord.CreateEphemeral("e", nil)}}
	free := calling(coord.CreateEphemeral("f", nil))
	other := calling(coord.Put("a", nil))
	lose := func() {
		if _, err := server.Admin().Revoke(within(t), clientv3.LeaseID(s.ID())); err != nil {
			t.Error(err)
		}
		<-s.Context().Done()
		session(t, r)
	}
	commitAll(t, r, lose, derived, free, other)
	for _, c := range []*call{derived, free} {
		if !errors.Is(c.err, coord.ErrSessionLost) || errors.Is(c.err, coord.ErrUnknownOutcome) {
			t.Errorf("%v: %v", c.ops, c.err)
		}
		if _, err := r.Get(within(t), c.ops[0].Path); !errors.Is(err, coord.ErrNoNode) {
			t.Errorf("%v: %v", c.ops, err)
		}
	}
	if other.err != nil {
		t.Errorf("%v: %v", other.ops, other.err)
	}
}

func TestWhatEndsTheWaitForARequest(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	t.Run("too long", func(t *testing.T) {
		r, _ := dial(t, server, etcd.Config{RequestTimeout: time.Second})
		release := r.Hold()
		_, err := r.Commit(within(t), coord.Put("a", nil))
		if !errors.Is(err, coord.ErrUnavailable) || !strings.Contains(err.Error(), "not sent within 1s") {
			t.Errorf("got the error %v", err)
		}
		release()
		commit(t, r, coord.Absent("a"))
	})
	t.Run("Close", func(t *testing.T) {
		r, _ := dial(t, server, etcd.Config{})
		release := r.Hold()
		ended := make(chan error, 1)
		go func() {
			_, err := r.Commit(within(t), coord.Put("a", nil))
			ended <- err
		}()
		err := awaitWaiting(within(t), r, 1)
		_ = r.Close(within(t)) // how it ends is not the question
		if got := <-ended; err != nil || !errors.Is(got, coord.ErrClosed) || errors.Is(got, coord.ErrUnknownOutcome) {
			t.Errorf("%v; got the error %v", err, got)
		}
		release()
	})
}

// A request that neither reads nor writes is answered by any member of the store from its own
// copy, which may be old. So conditions alone ask why they fail, unless they are in a group.
func TestConditionsAloneAreNotAskedOfACopy(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	g := stand(r, nil)
	var many []coord.Op
	for i := range coord.MaxOps / 2 {
		many = append(many, coord.Absent(fmt.Sprintf("none/%d", i)))
	}
	commit(t, r, many...)
	commit(t, r, many[0])
	few, all := calling(many[0]), calling(many...)
	commitAll(t, r, nil, few)
	commitAll(t, r, nil, all)
	if few.err != nil || all.err != nil {
		t.Errorf("%v, %v", few.err, all.err)
	}
	for _, request := range g.requests {
		if len(request.Success) == 0 && len(request.Failure) == 0 {
			t.Errorf("a request of %d conditions neither reads nor writes", len(request.Compare))
		}
	}
}
