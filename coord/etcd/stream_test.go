package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/elasticjob-go/elasticjob/coord"
)

// fakeStore is the Watch service of a store, as far as the tests write it down. It answers
// nothing by itself, unless confirms is set.
type fakeStore struct {
	confirms func(*pb.WatchCreateRequest) *pb.WatchResponse
	streams  chan *fakeStream
}

type fakeStream struct {
	grpc.ClientStream
	ctx      context.Context
	store    *fakeStore
	mu       sync.Mutex
	creates  []*pb.WatchCreateRequest
	cancels  []int64
	progress int
	answers  chan *pb.WatchResponse
	broken   chan error
}

func (s *fakeStore) Watch(ctx context.Context, _ ...grpc.CallOption) (pb.Watch_WatchClient, error) {
	stream := &fakeStream{ctx: ctx, store: s, answers: make(chan *pb.WatchResponse, 10_000), broken: make(chan error, 1)}
	select {
	case s.streams <- stream:
		return stream, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *fakeStream) Send(r *pb.WatchRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r := r.RequestUnion.(type) {
	case *pb.WatchRequest_CreateRequest:
		s.creates = append(s.creates, r.CreateRequest)
		if s.store.confirms != nil {
			s.answers <- s.store.confirms(r.CreateRequest)
		}
	case *pb.WatchRequest_CancelRequest:
		s.cancels = append(s.cancels, r.CancelRequest.WatchId)
	case *pb.WatchRequest_ProgressRequest:
		s.progress++
	}
	return nil
}

func (s *fakeStream) Recv() (*pb.WatchResponse, error) {
	select {
	case answer := <-s.answers:
		return answer, nil
	case err := <-s.broken:
		return nil, err
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	}
}

// requests returns what was sent so far.
func (s *fakeStream) requests() (creates []*pb.WatchCreateRequest, cancels []int64, progress int) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.creates), slices.Clone(s.cancels), s.progress
}

func (s *fakeStream) answer(answers ...*pb.WatchResponse) {
	for _, a := range answers {
		s.answers <- a
	}
	synctest.Wait()
}

func created(id, revision int64) *pb.WatchResponse {
	return &pb.WatchResponse{WatchId: id, Created: true, Header: &pb.ResponseHeader{Revision: revision}}
}

func refused(reason error) *pb.WatchResponse {
	return &pb.WatchResponse{WatchId: -1, Created: true, Canceled: true, CancelReason: reason.Error()}
}

func progress(revision int64) *pb.WatchResponse {
	return &pb.WatchResponse{WatchId: -1, Header: &pb.ResponseHeader{Revision: revision}}
}

func brought(id int64, revisions ...int64) *pb.WatchResponse {
	a := &pb.WatchResponse{WatchId: id, Header: &pb.ResponseHeader{Revision: 1_000_000}} // it may be ahead of the events
	for _, revision := range revisions {
		a.Events = append(a.Events, &mvccpb.Event{Kv: &mvccpb.KeyValue{ModRevision: revision}})
	}
	return a
}

// recorder is a target that notes what it is told. It is read at the revision that at says.
type recorder struct {
	at      func(trusted int64) (int64, error)
	applied []int64
	faults  int
	end     error
}

func (t *recorder) String() string { return "recorder" }
func (t *recorder) load(_ context.Context, trusted int64) (int64, error) {
	return t.at(trusted)
}
func (t *recorder) apply(events []*mvccpb.Event) error {
	for _, e := range events {
		t.applied = append(t.applied, e.Kv.ModRevision)
	}
	return nil
}
func (t *recorder) faultChanged()   { t.faults++ }
func (t *recorder) ended(err error) { t.end = err }

const fakePatience = 4 * time.Second

// fake is a registry as far as watches need one.
func fake(t *testing.T, store *fakeStore) *Registry {
	store.streams = make(chan *fakeStream)
	r := &Registry{log: zap.NewNop(), config: Config{RequestTimeout: fakePatience}}
	r.identity.verifyWanted = make(chan struct{}, 1)
	r.ctx, r.end = context.WithCancelCause(context.Background())
	r.watchers = &watchers{
		registry: r, client: store, patience: fakePatience, openings: make(chan struct{}, maxOpenings),
		live: map[*watcher]struct{}{}, faulty: map[*watcher]struct{}{},
	}
	r.start(r.watchers.run)
	return r
}

func (r *Registry) closeFake() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.end(coord.ErrClosed)
	r.running.Wait()
}

// followed opens a watcher that is read at a revision, with the watch of this id.
func followed(t *testing.T, r *Registry, s *fakeStream, id, revision int64) (*watcher, *recorder) {
	t.Helper()
	target := &recorder{at: func(int64) (int64, error) { return revision, nil }}
	f := newWatcher(t.Context(), r, keyRange{fmt.Sprint(id), fmt.Sprint(id + 1)}, target)
	opened := make(chan error, 1)
	go func() { opened <- f.open(t.Context()) }()
	synctest.Wait()
	s.answer(created(id, revision))
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	return f, target
}

func inFake(t *testing.T, store *fakeStore, do func(t *testing.T, r *Registry)) {
	synctest.Test(t, func(t *testing.T) {
		r := fake(t, store)
		defer r.closeFake()
		do(t, r)
	})
}

// Events that the load contained already are not applied again. Only what an answer proves
// counts as applied: its events, or the header of a progress answer.
func TestFollowsFromWhatWasLoaded(t *testing.T) {
	store := &fakeStore{}
	inFake(t, store, func(t *testing.T, r *Registry) {
		s := <-store.streams
		f, target := followed(t, r, s, 1, 10)
		for _, step := range []struct {
			answer  *pb.WatchResponse
			applied int64
		}{
			{brought(1, 8, 9, 10), 10},
			{brought(1, 10, 11, 11, 12), 12}, // one of several batches: its header is ahead
			{brought(1, 12), 12},             // once more
			{brought(2, 13), 12},             // of a watch that nobody knows
			{progress(15), 15},
			{progress(14), 15},
			{brought(1, 16, 16), 16},
		} {
			if s.answer(step.answer); f.position() != step.applied {
				t.Errorf("after %v: applied up to %d, want %d", step.answer, f.position(), step.applied)
			}
		}
		if want := []int64{11, 11, 12, 16, 16}; !slices.Equal(target.applied, want) {
			t.Errorf("applied %v, want %v", target.applied, want)
		}
	})
}

// What comes while the range is read is kept, also over a break of the stream. Fragments are
// one answer.
func TestWhatComesWhileTheRangeIsRead(t *testing.T) {
	store := &fakeStore{}
	inFake(t, store, func(t *testing.T, r *Registry) {
		s := <-store.streams
		reading := make(chan int64)
		target := &recorder{at: func(int64) (int64, error) { return <-reading, nil }}
		f := newWatcher(t.Context(), r, keyRange{"a", "b"}, target)
		opened := make(chan error, 1)
		go func() { opened <- f.open(t.Context()) }()
		synctest.Wait()
		s.answer(created(1, 10), brought(1, 11), brought(1, 12))
		s.broken <- io.EOF
		s = <-store.streams
		creates, _, _ := s.requests()
		if len(creates) != 1 || creates[0].StartRevision != 10 {
			t.Fatalf("asked for %v, want a watch from revision 10", creates)
		}
		part := brought(1, 13, 13)
		part.Fragment = true
		s.answer(created(1, 12), brought(1, 11, 12), part, brought(1, 13, 14))
		reading <- 11
		if err := <-opened; err != nil {
			t.Fatal(err)
		}
		if want := []int64{12, 13, 13, 13, 14}; !slices.Equal(target.applied, want) {
			t.Errorf("applied %v, want %v", target.applied, want)
		}
	})
}

// More events than can be buffered while the range is read are dropped. Then everything begins anew, and what
// was dropped does not count as applied.
func TestTooMuchNews(t *testing.T) {
	store := &fakeStore{}
	inFake(t, store, func(t *testing.T, r *Registry) {
		s := <-store.streams
		f, target := followed(t, r, s, 1, 10)
		reading := make(chan error)
		var trusted []int64
		target.at = func(revision int64) (int64, error) {
			trusted = append(trusted, revision)
			return 20, <-reading
		}
		f.markSuspect()
		f.resyncIfSuspect()
		synctest.Wait()
		for range maxBuffered/1000 + 1 {
			s.answer(brought(1, slices.Repeat([]int64{12}, 1000)...))
		}
		s.answer(progress(15))
		reading <- coord.ErrUnavailable // whatever becomes of that attempt
		time.Sleep(time.Second)
		creates, _, _ := s.requests()
		if len(creates) != 2 || creates[1].StartRevision != 0 {
			t.Fatalf("asked for %v, want another watch", creates)
		}
		s.answer(created(2, 20))
		reading <- nil
		synctest.Wait()
		if f.position() != 20 || len(target.applied) != 0 || !slices.Equal(trusted, []int64{10, 10}) {
			t.Errorf("at %d, applied %d events, trusted %d", f.position(), len(target.applied), trusted)
		}
	})
}

// When the stream breaks its watches move to another one, from where they were. Nothing is
// read again. Progress is not asked for before all have moved: until then an answer proves
// nothing.
func TestWatchesMove(t *testing.T) {
	store := &fakeStore{}
	inFake(t, store, func(t *testing.T, r *Registry) {
		s := <-store.streams
		a, _ := followed(t, r, s, 1, 10)
		b, target := followed(t, r, s, 2, 10)
		s.answer(brought(1, 12), progress(15), brought(2, 16))
		target.at = func(int64) (int64, error) { t.Error("read again"); return 16, nil }
		s.broken <- io.EOF
		s = <-store.streams
		creates, _, _ := s.requests()
		from := map[string]int64{}
		id := map[string]int64{}
		for _, c := range creates {
			from[string(c.Key)], id[string(c.Key)] = c.StartRevision, c.WatchId
		}
		if len(creates) != 2 || from["1"] != 15 || from["2"] != 16 {
			t.Fatalf("asked for %v, want watches from 15 and 16", from)
		}
		r.identity.noteRevision(20, 0)
		r.requestProgress()
		s.answer(created(1, 20))
		time.Sleep(time.Second)
		if _, _, asked := s.requests(); asked > 0 {
			t.Error("asked for progress too early")
		}
		s.answer(created(2, 20))
		if _, _, asked := s.requests(); asked == 0 {
			t.Error("not asked for progress")
		}
		s.answer(brought(id["2"], 16, 17))
		if a.position() != 15 || b.position() != 17 {
			t.Errorf("at %d and %d, want 15 and 17", a.position(), b.position())
		}
		s.answer(progress(20))
		if a.position() != 20 || b.position() != 20 {
			t.Errorf("at %d and %d, want 20", a.position(), b.position())
		}
		if !slices.Equal(target.applied, []int64{16, 17}) {
			t.Errorf("applied %v", target.applied)
		}
	})
}

// A watch that is refused, and one that fell behind the compaction, is a matter of its own
// watcher.
func TestOneWatchIsRefused(t *testing.T) {
	store := &fakeStore{}
	inFake(t, store, func(t *testing.T, r *Registry) {
		s := <-store.streams
		a, target := followed(t, r, s, 1, 10)
		denied := newWatcher(t.Context(), r, keyRange{"x", "y"}, &recorder{})
		opened := make(chan error, 1)
		go func() { opened <- denied.open(t.Context()) }()
		synctest.Wait()
		s.answer(refused(rpctypes.ErrGRPCPermissionDenied))
		if err := <-opened; !errors.Is(err, coord.ErrDenied) {
			t.Errorf("opened with %v", err)
		}
		time.Sleep(2 * time.Second)
		target.at = func(int64) (int64, error) { return 30, nil }
		s.answer(&pb.WatchResponse{WatchId: 1, Canceled: true, CompactRevision: 25})
		creates, _, _ := s.requests()
		last := creates[len(creates)-1]
		if string(last.Key) != "1" || last.StartRevision != 0 {
			t.Fatalf("asked for %v", last)
		}
		s.answer(created(last.WatchId, 30), brought(last.WatchId, 31))
		if a.position() != 31 || a.Fault() != nil {
			t.Errorf("at %d, fault %v", a.position(), a.Fault())
		}
	})
}

// A stream that refuses a token is replaced: only a new one logs in again. The next one may
// refuse it, too, because the member lags behind the one that handled the log-in. Who waits for
// a watch goes on waiting, but not for ever.
func TestStreamLogsInAgain(t *testing.T) {
	store := &fakeStore{}
	inFake(t, store, func(t *testing.T, r *Registry) {
		s := <-store.streams
		target := &recorder{at: func(int64) (int64, error) { return 10, nil }}
		f := newWatcher(t.Context(), r, keyRange{"a", "b"}, target)
		opened := make(chan error, 1)
		go func() { opened <- f.open(t.Context()) }()
		synctest.Wait()
		for range 3 {
			s.answer(refused(rpctypes.ErrGRPCInvalidAuthToken))
			s = <-store.streams
			synctest.Wait()
		}
		s.answer(created(1, 10))
		if err := <-opened; err != nil {
			t.Error(err)
		}
	})
	store = &fakeStore{}
	inFake(t, store, func(t *testing.T, r *Registry) {
		s := <-store.streams
		f := newWatcher(t.Context(), r, keyRange{"a", "b"}, &recorder{})
		opened := make(chan error, 1)
		go func() { opened <- f.open(t.Context()) }()
		began := time.Now()
		for len(opened) == 0 {
			synctest.Wait()
			s.answer(refused(rpctypes.ErrGRPCInvalidAuthToken))
			s = <-store.streams
			synctest.Wait()
		}
		if err := <-opened; !errors.Is(err, coord.ErrDenied) {
			t.Errorf("opened with %v", err)
		}
		if took := time.Since(began); took < fakePatience || took > 3*fakePatience {
			t.Errorf("given up after %v", took)
		}
	})
}

// Watches are asked for some at a time. One that is dropped before it is asked for never is,
// and one that is dropped before it is confirmed is cancelled then.
func TestRequestsArePaced(t *testing.T) {
	store := &fakeStore{}
	inFake(t, store, func(t *testing.T, r *Registry) {
		s := <-store.streams
		ctx, cancel := context.WithCancel(t.Context())
		var opening sync.WaitGroup
		for range 3 * maxUnanswered {
			f := newWatcher(ctx, r, keyRange{"a", "b"}, &recorder{at: func(int64) (int64, error) { return 1, nil }})
			opening.Go(func() { _ = f.open(ctx) }) // the end of ctx, or nil
		}
		creates, _, _ := s.requests()
		if len(creates) != maxUnanswered {
			t.Fatalf("asked for %d at once, want %d", len(creates), maxUnanswered)
		}
		s.answer(created(1, 1), created(2, 1))
		if creates, _, _ = s.requests(); len(creates) != maxUnanswered+2 {
			t.Fatalf("asked for %d after two answers, want %d", len(creates), maxUnanswered+2)
		}
		cancel()
		opening.Wait()
		synctest.Wait()
		for id := int64(3); id <= maxUnanswered+2; id++ {
			s.answer(created(id, 1))
		}
		creates, cancels, _ := s.requests()
		if len(creates) != maxUnanswered+2 || len(cancels) != maxUnanswered {
			t.Errorf("asked for %d and cancelled %d, want %d and %d", len(creates), len(cancels), maxUnanswered+2, maxUnanswered)
		}
	})
}

// A stream is silent when nothing comes on it for long though something was asked. To be
// slow is not silence, and neither is to say nothing while nothing is asked.
func TestSilence(t *testing.T) {
	store := &fakeStore{}
	inFake(t, store, func(t *testing.T, r *Registry) {
		s := <-store.streams
		f, target := followed(t, r, s, 1, 10)
		time.Sleep(time.Hour) // nothing is asked
		const many = 40
		errs := make(chan error, many)
		for range many {
			f := newWatcher(t.Context(), r, keyRange{"a", "b"}, &recorder{at: func(int64) (int64, error) { return 10, nil }})
			go func() { errs <- f.open(t.Context()) }()
		}
		for id := int64(2); id < 2+many; id++ { // slow, but alive
			time.Sleep(fakePatience / 2)
			s.answer(created(id, 10))
		}
		for range many {
			if err := <-errs; err != nil {
				t.Fatal(err)
			}
		}
		r.identity.noteRevision(20, 0)
		r.requestProgress()
		begin := time.Now()
		s = <-store.streams
		if took := time.Since(begin); took < fakePatience || took > 2*fakePatience {
			t.Errorf("silent after %v", took)
		}
		synctest.Wait()
		if !errors.Is(f.Fault(), coord.ErrUnavailable) || target.faults != 1 {
			t.Errorf("the fault is %v, told %d times", f.Fault(), target.faults)
		}
		creates, _, _ := s.requests()
		for _, c := range creates {
			s.answer(created(c.WatchId, 20))
		}
		r.identity.noteRevision(21, 0)
		r.requestProgress()
		s.answer(progress(21))
		if f.Fault() != nil || f.position() != 21 {
			t.Errorf("the fault is %v at %d", f.Fault(), f.position())
		}
	})
}

// After the store was put back nothing counts until the range is read again: not the progress
// of the stream, and no events that the watch brings before that.
func TestNothingCountsBeforeTheRangeIsRead(t *testing.T) {
	store := &fakeStore{}
	inFake(t, store, func(t *testing.T, r *Registry) {
		s := <-store.streams
		f, target := followed(t, r, s, 1, 100)
		reading := make(chan int64)
		target.at = func(int64) (int64, error) { return <-reading, nil }
		r.handleRestore(r.identity.now(), storeState{revision: 50})
		s = <-store.streams
		if creates, _, _ := s.requests(); len(creates) != 1 || creates[0].StartRevision != 0 {
			t.Fatalf("asked for %v", creates)
		}
		r.identity.noteRevision(51, r.identity.now().incarnation)
		r.requestProgress()
		s.answer(progress(51), created(1, 51), brought(1, 52))
		if f.position() != 0 || len(target.applied) != 0 {
			t.Errorf("at %d, applied %v, and the range is not read yet", f.position(), target.applied)
		}
		reading <- 52
		synctest.Wait()
		s.answer(brought(1, 53), progress(54))
		if f.position() != 54 || !slices.Equal(target.applied, []int64{53}) {
			t.Errorf("at %d, applied %v", f.position(), target.applied)
		}
	})
}

// A stream that brings events, but no progress for long, has a watch that is stuck at the
// server. All watches move; the next stream gets more time.
func TestStuckWatchIsFound(t *testing.T) {
	store := &fakeStore{confirms: func(c *pb.WatchCreateRequest) *pb.WatchResponse { return created(c.WatchId, 10) }}
	inFake(t, store, func(t *testing.T, r *Registry) {
		s := <-store.streams
		target := &recorder{at: func(int64) (int64, error) { return 10, nil }}
		busy := newWatcher(t.Context(), r, keyRange{"a", "b"}, target)
		quiet := newWatcher(t.Context(), r, keyRange{"c", "d"}, &recorder{at: target.at})
		for _, f := range []*watcher{busy, quiet} {
			if err := f.open(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		last := time.Duration(0)
		for range 2 {
			begin := time.Now()
			revision := busy.position()
			creates, _, _ := s.requests()
			id := creates[slices.IndexFunc(creates, func(c *pb.WatchCreateRequest) bool { return string(c.Key) == "a" })].WatchId
			var next *fakeStream
			for next == nil {
				revision++
				r.identity.noteRevision(revision, 0)
				r.requestProgress()
				s.answer(brought(id, revision))
				select {
				case next = <-store.streams:
				case <-time.After(970 * time.Millisecond): // not when the stream is checked, too
				}
			}
			took := time.Since(begin)
			if took < 2*fakePatience || took <= last {
				t.Errorf("left after %v, and the one before after %v", took, last)
			}
			synctest.Wait()
			if !errors.Is(quiet.Fault(), coord.ErrUnavailable) || busy.Fault() != nil {
				t.Errorf("the faults are %v, and %v of the one that gets events", quiet.Fault(), busy.Fault())
			}
			s, last = next, took
		}
	})
}

// After the store was put back, what a watch of the old state still brings does not count,
// and neither does what was read of the old state.
func TestNothingOfTheOldStateCounts(t *testing.T) {
	store := &fakeStore{confirms: func(c *pb.WatchCreateRequest) *pb.WatchResponse { return created(c.WatchId, 100) }}
	inFake(t, store, func(t *testing.T, r *Registry) {
		s := <-store.streams
		reading := make(chan int64)
		target := &recorder{at: func(int64) (int64, error) { return <-reading, nil }}
		f := newWatcher(t.Context(), r, keyRange{"a", "b"}, target)
		opened := make(chan error, 1)
		go func() { opened <- f.open(t.Context()) }()
		reading <- 100
		if err := <-opened; err != nil {
			t.Fatal(err)
		}
		f.markSuspect()
		f.resyncIfSuspect()
		synctest.Wait() // it is being read
		store.confirms = func(c *pb.WatchCreateRequest) *pb.WatchResponse { return created(c.WatchId, 50) }
		r.handleRestore(r.identity.now(), storeState{revision: 50})
		s.answers <- brought(1, 101)
		<-store.streams
		reading <- 102 // of the old state
		reading <- 50
		synctest.Wait()
		if f.position() != 50 || len(target.applied) != 0 || f.isSuspect() {
			t.Errorf("at %d, applied %v, suspect %v", f.position(), target.applied, f.isSuspect())
		}
	})
}
