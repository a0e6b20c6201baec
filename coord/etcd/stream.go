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
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/elasticjob-go/elasticjob/coord"
)

// watchStream is one stream of etcd's Watch service. It carries the watches of all watchers.
// One goroutine receives and hands each answer to its watcher; another one sends.
//
// A server answers in this order: it works on requests one after the other, so watches are
// confirmed or refused in the order in which they were requested. The events of a watch follow its
// confirmation, in the order of revisions. A progress answer with revision R is sent only while no
// watch on the stream lags behind, and after every event up to R of every watch. So it counts for
// all watches that were confirmed before it; a watch from now on that was requested later has no
// events up to R anyway. But a watch from an earlier revision may still have events to deliver.
// Therefore the stream asks for no progress while unconfirmed is not 0.
type watchStream struct {
	watchers    *watchers
	ctx         context.Context
	cancel      context.CancelCauseFunc
	incarnation int64        // of the store, when the stream began
	progress    atomic.Int64 // every event up to this revision has arrived

	wake chan struct{} // wakes the sender

	mu          sync.Mutex         // guards all below
	ended       bool               // the stream takes no requests any more
	routes      map[int64]*watcher // by the id of the watch
	last        int64              // the id of the newest watch
	queue       []watchRequest     // not sent yet
	sent        []watchRequest     // not answered yet, in the order of the answers
	answered    int64              // the id of the newest watch that was confirmed or refused
	cancels     []int64            // ids of watches to cancel
	fragments   []*mvccpb.Event    // of an answer whose last fragment has not arrived yet
	unconfirmed int                // watches of the previous stream that are not confirmed here yet; one more until all of them are requested

	wanted      int64         // the revision that progress must reach
	wantedSince time.Time     // when progress fell below wanted
	askedAt     time.Time     // when progress was requested last
	pause       time.Duration // from askedAt to the next request

	// While an answer is due, answerTimer runs checkAnswers again and again.
	timing        bool
	answerTimer   *time.Timer
	answers       int // counts answers of all kinds
	answersBefore int // answers at the last check
	silentChecks  int // checks in a row without an answer
}

// watchRequest asks for a watch on the range of a watcher. Its id is chosen here.
type watchRequest struct {
	id   int64
	keys keyRange
	from int64 // the first revision; 0 is from now on
}

const (
	// maxUnanswered bounds the requests for watches that are sent before the first of them is answered.
	maxUnanswered = 64
	// To answer a progress request the server looks at all watches of the stream. So the
	// pause between two of them grows with the number of watches.
	minPause      = 2 * time.Millisecond
	pausePerWatch = time.Microsecond
	// While there is no answer the pause doubles.
	noAnswerPause = 20 * time.Millisecond
	maxPause      = time.Second
	// maxSilentChecks is how many checks in a row without an answer prove that a stream is silent.
	// They are spread over the request time-out: a pause of this process counts as one of them.
	maxSilentChecks = 4
)

var (
	errSilent = fmt.Errorf("%w: the watch is silent", coord.ErrUnavailable)
	errBehind = fmt.Errorf("%w: the watch stays behind the store", coord.ErrUnavailable)
)

func newWatchStream(ctx context.Context, ws *watchers, incarnation int64) *watchStream {
	s := &watchStream{watchers: ws, incarnation: incarnation, wake: make(chan struct{}, 1), routes: make(map[int64]*watcher), unconfirmed: 1}
	s.ctx, s.cancel = context.WithCancelCause(clientv3.WithRequireLeader(ctx))
	return s
}

// requestWatch requests a watch on a watcher's range from a revision, 0 for now. It returns the id of
// the watch, or 0 if the stream has ended.
func (s *watchStream) requestWatch(w *watcher, from int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return 0
	}
	s.last++
	s.routes[s.last] = w
	s.queue = append(s.queue, watchRequest{s.last, w.keys, from})
	if from > 0 {
		s.unconfirmed++
	}
	s.expectAnswerLocked()
	return s.last
}

// cancelWatch cancels a watch. Its events that still arrive are ignored.
func (s *watchStream) cancelWatch(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.routes[id]; !ok || s.ended {
		return
	}
	delete(s.routes, id)
	if id <= s.answered { // otherwise handleCreated cancels it, or it is never requested
		s.cancels = append(s.cancels, id)
		s.wakeLocked()
	}
}

// requestProgress asks the store for progress notifications until one reaches a revision.
func (s *watchStream) requestProgress(revision int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || revision <= s.wanted || revision <= s.progress.Load() {
		return
	}
	if s.wanted <= s.progress.Load() {
		s.wantedSince = time.Now()
	}
	s.wanted = revision
	s.expectAnswerLocked()
}

// expectAnswerLocked wakes the sender, and starts answerTimer if it does not run.
func (s *watchStream) expectAnswerLocked() {
	s.wakeLocked()
	if !s.timing {
		s.timing, s.silentChecks, s.answersBefore = true, 0, s.answers
		if interval := s.watchers.patience / maxSilentChecks; s.answerTimer == nil {
			s.answerTimer = time.AfterFunc(interval, s.checkAnswers)
		} else {
			s.answerTimer.Reset(interval)
		}
	}
}

func (s *watchStream) wakeLocked() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// checkAnswers stops a stream that is silent: nothing arrived for the request time-out though an
// answer is due. It also stops one that delivers answers, but has not made the wanted progress for
// longer still, because one of its watches is stuck at the server. While requests for watches are
// unanswered that time does not begin: a server may be slow with many of them.
func (s *watchStream) checkAnswers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	asks := len(s.queue)+len(s.sent) > 0
	if s.ended || !asks && s.wanted <= s.progress.Load() {
		s.timing = false
		return
	}
	if s.silentChecks++; s.answers != s.answersBefore {
		s.silentChecks, s.answersBefore = 0, s.answers
	}
	if asks {
		s.wantedSince = time.Now()
	}
	switch {
	case s.silentChecks >= maxSilentChecks:
		s.stopLocked(errSilent)
	case time.Since(s.wantedSince) > s.watchers.progressTimeout():
		s.stopLocked(errBehind)
	default:
		s.answerTimer.Reset(s.watchers.patience / maxSilentChecks)
	}
}

// stop ends the stream; serve then returns the reason.
func (s *watchStream) stop(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopLocked(reason)
}

func (s *watchStream) stopLocked(reason error) {
	s.ended = true
	s.cancel(reason)
}

// wantedProgress returns the revision that the next progress notification must reach, and since
// when the stream has waited for it.
func (s *watchStream) wantedProgress() (revision int64, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wanted, s.wantedSince
}

// hasAnswered reports whether the store has answered any request for a watch.
func (s *watchStream) hasAnswered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered > 0
}

// serve opens the stream, and receives until it ends. It returns why the stream ended.
func (s *watchStream) serve(client pb.WatchClient) error {
	defer s.stopAnswerTimer()
	defer s.stop(nil)
	stream, err := client.Watch(s.ctx, grpc.WaitForReady(true), grpc.MaxCallRecvMsgSize(math.MaxInt32))
	if err != nil {
		return s.endReason(err)
	}
	var sending sync.WaitGroup
	defer sending.Wait()
	defer s.stop(nil) // before Wait, so that the sender returns
	sending.Go(func() { s.send(stream) })
	for {
		answer, err := stream.Recv()
		if err != nil {
			return s.endReason(err)
		}
		if err := s.receive(answer); err != nil {
			return err
		}
	}
}

// endReason returns the reason that was passed to stop, or the error if stop was not called.
func (s *watchStream) endReason(err error) error {
	if cause := context.Cause(s.ctx); cause != nil {
		return cause
	}
	return err
}

func (s *watchStream) stopAnswerTimer() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answerTimer != nil {
		s.answerTimer.Stop()
	}
}

// send sends requests until the stream ends.
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

// next returns the next request, or nil and how long to wait for one.
func (s *watchStream) next() (*pb.WatchRequest, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cancels) > 0 {
		id := s.cancels[0]
		s.cancels = dropFirst(s.cancels)
		return &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CancelRequest{CancelRequest: &pb.WatchCancelRequest{WatchId: id}}}, 0
	}
	for len(s.queue) > 0 && len(s.sent) < maxUnanswered {
		create := s.queue[0]
		s.queue = dropFirst(s.queue)
		if s.routes[create.id] == nil {
			s.countConfirmedLocked(create)
			continue
		}
		s.sent = append(s.sent, create)
		return &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{
			WatchId: create.id, Key: []byte(create.keys.from), RangeEnd: []byte(create.keys.to), StartRevision: create.from, Fragment: true,
		}}}, 0
	}
	if s.unconfirmed > 0 || s.wanted <= s.progress.Load() {
		return nil, time.Hour
	}
	if wait := time.Until(s.askedAt.Add(s.pause)); wait > 0 {
		return nil, wait
	}
	s.pause = min(max(2*s.pause, noAnswerPause), maxPause, s.watchers.patience/(2*maxSilentChecks))
	s.askedAt = time.Now()
	return &pb.WatchRequest{RequestUnion: &pb.WatchRequest_ProgressRequest{ProgressRequest: &pb.WatchProgressRequest{}}}, 0
}

// dropFirst removes the first element. With the last one it gives up the array.
func dropFirst[T any](queue []T) []T {
	if len(queue) == 1 {
		return nil
	}
	return queue[1:]
}

// countConfirmedLocked counts down unconfirmed for a watch that was answered, or will not be requested.
func (s *watchStream) countConfirmedLocked(create watchRequest) {
	if create.from > 0 {
		s.unconfirmed--
	}
}

// allMoved is called once all watches of the previous stream are requested here.
func (s *watchStream) allMoved() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unconfirmed--
	s.wakeLocked()
}

// receive passes an answer to the watcher that it is for. An error ends the stream.
func (s *watchStream) receive(answer *pb.WatchResponse) error {
	if !answer.Canceled { // a member without a leader cancels, too
		s.watchers.registry.liveness.Answered()
	}
	switch {
	case answer.Created:
		return s.handleCreated(answer)
	case answer.Canceled:
		if w := s.removeWatch(answer.WatchId); w != nil {
			w.cancelled(s, answer.WatchId, cancelReason(answer))
		}
	case len(answer.Events) == 0 && answer.WatchId == clientv3.InvalidWatchID:
		s.handleProgress(answer.Header.GetRevision())
	default:
		if w, events := s.assemble(answer); w != nil {
			w.deliver(s, answer.WatchId, events)
		}
	}
	return nil
}

// handleCreated handles the answer to the oldest unanswered request for a watch: a confirmation, or a
// refusal, which does not name the watch.
func (s *watchStream) handleCreated(answer *pb.WatchResponse) error {
	s.mu.Lock()
	s.answers++
	if len(s.sent) == 0 {
		s.mu.Unlock()
		return errors.New("the server confirms a watch that nobody requested")
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
		return reason // only a new stream logs in again
	}
	s.sent = dropFirst(s.sent)
	s.answered = create.id
	s.countConfirmedLocked(create)
	w := s.routes[create.id]
	switch {
	case refused:
		delete(s.routes, create.id)
	case w == nil:
		s.cancels = append(s.cancels, create.id)
	}
	s.wakeLocked()
	s.mu.Unlock()
	switch {
	case w == nil:
	case refused:
		w.cancelled(s, create.id, reason)
	default:
		w.created(s, create.id, answer.Header.GetRevision())
	}
	return nil
}

// removeWatch removes a watch that the server has cancelled. It returns its watcher, or nil.
func (s *watchStream) removeWatch(id int64) *watcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers++
	w := s.routes[id]
	delete(s.routes, id)
	return w
}

// assemble collects the fragments of an answer, which the server sends one after the other. With the
// last one it returns all their events and the watcher, nil if the watch was cancelled. Before
// that the watcher is nil.
func (s *watchStream) assemble(answer *pb.WatchResponse) (*watcher, []*mvccpb.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers++
	w := s.routes[answer.WatchId]
	events := answer.Events
	if w != nil && (answer.Fragment || s.fragments != nil) {
		s.fragments = append(s.fragments, events...)
		events = s.fragments
	}
	if answer.Fragment {
		return nil, nil
	}
	s.fragments = nil
	return w, events
}

// handleProgress handles a progress notification.
func (s *watchStream) handleProgress(revision int64) {
	s.mu.Lock()
	s.answers++
	if s.unconfirmed > 0 || revision <= s.progress.Load() {
		revision = s.progress.Load()
	} else {
		s.progress.Store(revision)
		s.wantedSince = time.Now()
	}
	// A revision that is too low comes from a member that lags behind: ask again after a short pause.
	s.pause = minPause + time.Duration(len(s.routes))*pausePerWatch
	s.wakeLocked()
	s.mu.Unlock()
	s.watchers.handleProgress(s, revision)
}
