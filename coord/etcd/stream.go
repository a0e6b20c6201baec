package etcd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/elasticjob-go/elasticjob/coord"
)

// watchStream is one stream of etcd's Watch service. It carries the watches of all followers.
// One goroutine receives and hands each answer to its follower; another one sends.
//
// A server answers in this order: it works on requests one after the other, so watches are
// confirmed or refused in the order in which they were asked for. What a watch brings comes
// after its confirmation, and in the order of revisions. A progress answer with revision R is
// sent only while no watch on the stream is behind, and after everything up to R that any
// watch had to bring. So it speaks for all watches that were confirmed before it: a watch of
// new events that was asked for later brings nothing up to R anyway. But a watch that began
// at an earlier revision may still have to bring something. Therefore the stream asks for no
// progress until all those are confirmed that it takes over from the stream before it.
type watchStream struct {
	watches  *watches
	ctx      context.Context
	end      context.CancelCauseFunc
	epoch    int64        // of the store, when the stream began
	progress atomic.Int64 // everything up to this revision has come

	wake chan struct{} // wakes the sender

	mu       sync.Mutex
	over     bool // it takes no requests any more
	routes   map[int64]*follower
	last     int64           // the id of the newest watch
	queue    []watchRequest  // not sent yet
	sent     []watchRequest  // not answered yet, in the order of the answers
	answered int64           // the id of the last watch that was confirmed or refused
	cancels  []int64         // ids of watches to cancel
	partial  []*mvccpb.Event // of an answer whose last fragment has not come yet
	takeover int             // watches that it takes over and that are not confirmed yet
	goal     int64           // the revision that progress is to reach
	since    time.Time       // progress is below the goal
	askedAt  time.Time       // when progress was asked for last
	pause    time.Duration   // from askedAt to the next request
	heard    int             // answers of all kinds
	checked  int             // heard at the last check
	strikes  int             // checks in a row without an answer
	checking bool            // the next check is due
	check    *time.Timer
}

// watchRequest asks for a watch on the range of a follower. Its id is chosen here.
type watchRequest struct {
	id   int64
	keys keyRange
	from int64 // the first revision that matters; 0 for new events only
}

const (
	// unanswered is how many watches are asked for before the first of them is confirmed.
	unanswered = 64
	// To answer a progress request the server looks at all watches of the stream. So the
	// pause between two of them grows with the number of watches.
	leastPause    = 2 * time.Millisecond
	pausePerWatch = time.Microsecond
	// While there is no answer the pause doubles.
	noAnswerPause = 20 * time.Millisecond
	mostPause     = time.Second
	// strikesOut checks in a row without an answer, spread over the request time-out, prove
	// that a stream is silent. A pause of this process is only one.
	strikesOut = 4
)

var (
	errSilent = fmt.Errorf("%w: the watch is silent", coord.ErrUnavailable)
	errBehind = fmt.Errorf("%w: the watch stays behind the store", coord.ErrUnavailable)
)

func newWatchStream(ctx context.Context, w *watches, epoch int64) *watchStream {
	s := &watchStream{watches: w, epoch: epoch, wake: make(chan struct{}, 1), routes: make(map[int64]*follower), takeover: 1}
	s.ctx, s.end = context.WithCancelCause(clientv3.WithRequireLeader(ctx))
	return s
}

// request asks for a watch on a follower's range. It returns its id, 0 if the stream has ended.
func (s *watchStream) request(f *follower, from int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return 0
	}
	s.last++
	s.routes[s.last] = f
	s.queue = append(s.queue, watchRequest{s.last, f.keys, from})
	if from > 0 {
		s.takeover++
	}
	s.awaitLocked()
	return s.last
}

// drop ends a watch. What still comes of it finds no follower.
func (s *watchStream) drop(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.routes[id]; !ok || s.over {
		return
	}
	delete(s.routes, id)
	if id <= s.answered { // otherwise it is cancelled when it is confirmed, or never asked for
		s.cancels = append(s.cancels, id)
		s.wakeLocked()
	}
}

// want has progress asked for until it has reached a revision.
func (s *watchStream) want(revision int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || revision <= s.goal || revision <= s.progress.Load() {
		return
	}
	if s.goal <= s.progress.Load() {
		s.since = time.Now()
	}
	s.goal = revision
	s.awaitLocked()
}

// awaitLocked wakes the sender, and sees to it that somebody notices if nothing comes back.
func (s *watchStream) awaitLocked() {
	s.wakeLocked()
	if !s.checking {
		s.checking, s.strikes, s.checked = true, 0, s.heard
		if interval := s.watches.patience / strikesOut; s.check == nil {
			s.check = time.AfterFunc(interval, s.lookForLife)
		} else {
			s.check.Reset(interval)
		}
	}
}

func (s *watchStream) wakeLocked() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// lookForLife ends the stream if nothing has come for long though something was asked. It
// also ends one that lives, but brings no progress for longer still: one of its watches is
// stuck at the server. To be slow with many new watches is neither.
func (s *watchStream) lookForLife() {
	s.mu.Lock()
	defer s.mu.Unlock()
	asks := len(s.queue)+len(s.sent) > 0
	if s.over || !asks && s.goal <= s.progress.Load() {
		s.checking = false
		return
	}
	if s.strikes++; s.heard != s.checked {
		s.strikes, s.checked = 0, s.heard
	}
	if asks {
		s.since = time.Now()
	}
	switch {
	case s.strikes >= strikesOut:
		s.endLocked(errSilent)
	case time.Since(s.since) > s.watches.stuck():
		s.endLocked(errBehind)
	default:
		s.check.Reset(s.watches.patience / strikesOut)
	}
}

// leave ends the stream for a reason.
func (s *watchStream) leave(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(reason)
}

func (s *watchStream) endLocked(reason error) {
	s.over = true
	s.end(reason)
}

// aim is the revision that progress is to reach, and since when it has not.
func (s *watchStream) aim() (revision int64, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.goal, s.since
}

// works reports whether the store has answered a request for a watch.
func (s *watchStream) works() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered > 0
}

// serve opens the stream, and receives until it ends. It returns why that was.
func (s *watchStream) serve(client pb.WatchClient) error {
	defer s.leave(nil)
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.check != nil {
			s.check.Stop()
		}
	}()
	stream, err := client.Watch(s.ctx, grpc.WaitForReady(true), grpc.MaxCallRecvMsgSize(math.MaxInt32))
	if err != nil {
		return s.reason(err)
	}
	var sending sync.WaitGroup
	defer sending.Wait()
	defer s.leave(nil)
	sending.Go(func() { s.send(stream) })
	for {
		answer, err := stream.Recv()
		if err != nil {
			return s.reason(err)
		}
		if err := s.receive(answer); err != nil {
			return err
		}
	}
}

// reason is why the stream has ended: what leave was told, or else the error.
func (s *watchStream) reason(err error) error {
	if cause := context.Cause(s.ctx); cause != nil {
		return cause
	}
	return err
}

func (s *watchStream) send(stream pb.Watch_WatchClient) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		request, wait := s.next()
		if request != nil {
			if stream.Send(request) != nil {
				return // Recv tells why
			}
			continue
		}
		timer.Reset(wait)
		select {
		case <-s.wake:
		case <-timer.C:
		case <-s.ctx.Done():
			return
		}
	}
}

// next returns what is to be sent now, or else how long there is nothing to send.
func (s *watchStream) next() (*pb.WatchRequest, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cancels) > 0 {
		id := s.cancels[0]
		s.cancels = dropFirst(s.cancels)
		return &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CancelRequest{CancelRequest: &pb.WatchCancelRequest{WatchId: id}}}, 0
	}
	for len(s.queue) > 0 && len(s.sent) < unanswered {
		create := s.queue[0]
		s.queue = dropFirst(s.queue)
		if s.routes[create.id] == nil {
			s.tookOverLocked(create)
			continue
		}
		s.sent = append(s.sent, create)
		return &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{
			WatchId: create.id, Key: []byte(create.keys.from), RangeEnd: []byte(create.keys.to), StartRevision: create.from, Fragment: true,
		}}}, 0
	}
	if s.takeover > 0 || s.goal <= s.progress.Load() {
		return nil, time.Hour
	}
	if wait := time.Until(s.askedAt.Add(s.pause)); wait > 0 {
		return nil, wait
	}
	s.pause = min(max(2*s.pause, noAnswerPause), mostPause, s.watches.patience/(2*strikesOut))
	s.askedAt = time.Now()
	return &pb.WatchRequest{RequestUnion: &pb.WatchRequest_ProgressRequest{ProgressRequest: &pb.WatchProgressRequest{}}}, 0
}

// dropFirst drops the first element, and all of the memory with the last.
func dropFirst[T any](queue []T) []T {
	if len(queue) == 1 {
		return nil
	}
	return queue[1:]
}

// tookOverLocked counts a watch that is confirmed, or that needs no confirmation any more.
func (s *watchStream) tookOverLocked(create watchRequest) {
	if create.from > 0 {
		s.takeover--
	}
}

// tookOver says that all watches are asked for that the stream takes over.
func (s *watchStream) tookOver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeover--
	s.wakeLocked()
}

// receive hands an answer on. Its error ends the stream.
func (s *watchStream) receive(answer *pb.WatchResponse) error {
	if !answer.Canceled { // a member without a leader cancels, too
		s.watches.registry.liveness.Answered()
	}
	switch {
	case answer.Created:
		return s.confirmed(answer)
	case answer.Canceled:
		if f := s.forget(answer.WatchId); f != nil {
			f.cancelled(s, answer.WatchId, cancelReason(answer))
		}
	case len(answer.Events) == 0 && answer.WatchId == clientv3.InvalidWatchID:
		s.progressed(answer.Header.GetRevision())
	default:
		if f, events := s.whole(answer); f != nil {
			f.brought(s, answer.WatchId, events)
		}
	}
	return nil
}

// confirmed handles the answer to the oldest request for a watch. A server that refuses one
// does not name it.
func (s *watchStream) confirmed(answer *pb.WatchResponse) error {
	s.mu.Lock()
	s.heard++
	if len(s.sent) == 0 {
		s.mu.Unlock()
		return errors.New("the server confirms a watch that nobody asked for")
	}
	create := s.sent[0]
	refused := answer.Canceled || answer.WatchId == clientv3.InvalidWatchID
	if !refused && answer.WatchId != create.id {
		s.mu.Unlock()
		return fmt.Errorf("the server confirms watch %d, not %d", answer.WatchId, create.id)
	}
	reason := cancelReason(answer)
	if refused && refusedToken(reason) {
		s.mu.Unlock()
		return reason // nothing else works on this stream either: only a new one logs in again
	}
	s.sent = dropFirst(s.sent)
	s.answered = create.id
	s.tookOverLocked(create)
	f := s.routes[create.id]
	switch {
	case refused:
		delete(s.routes, create.id)
	case f == nil:
		s.cancels = append(s.cancels, create.id)
	}
	s.wakeLocked()
	s.mu.Unlock()
	switch {
	case f == nil:
	case refused:
		f.cancelled(s, create.id, reason)
	default:
		f.confirmed(s, create.id, answer.Header.GetRevision())
	}
	return nil
}

// forget notes that the server has ended a watch, and returns its follower.
func (s *watchStream) forget(id int64) *follower {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard++
	f := s.routes[id]
	delete(s.routes, id)
	return f
}

// whole returns the events of an answer, with those of the fragments before it. The server
// sends the fragments of one answer one after the other. The follower is nil while there are
// more to come, and if the watch was dropped.
func (s *watchStream) whole(answer *pb.WatchResponse) (*follower, []*mvccpb.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard++
	f := s.routes[answer.WatchId]
	events := answer.Events
	if f != nil && (answer.Fragment || s.partial != nil) {
		s.partial = append(s.partial, events...)
		events = s.partial
	}
	if answer.Fragment {
		return nil, nil
	}
	s.partial = nil
	return f, events
}

// progressed notes that everything up to a revision has come.
func (s *watchStream) progressed(revision int64) {
	s.mu.Lock()
	s.heard++
	if s.takeover > 0 || revision <= s.progress.Load() {
		revision = s.progress.Load()
	} else {
		s.progress.Store(revision)
		s.since = time.Now()
	}
	// An answer that is not enough comes from a member that is a moment behind.
	s.pause = leastPause + time.Duration(len(s.routes))*pausePerWatch
	s.wakeLocked()
	s.mu.Unlock()
	s.watches.progressed(s, revision)
}

// cancelReason is why the server has ended or refused a watch, as one of etcd's errors.
func cancelReason(answer *pb.WatchResponse) error {
	if answer.CompactRevision > 0 {
		return rpctypes.ErrCompacted
	}
	return reasonError(answer.CancelReason)
}
