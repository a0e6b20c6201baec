package etcd

// lifecycle is the state of a [watcher]: of its watch, and of the reads of its range. Both change
// only by the tables of [watchState] and [readState].
type lifecycle struct {
	watch watchState
	read  readState
	// complete reports that the range was read since the watch covers it: the target lacks no
	// event. It is false unless the range is covered.
	complete bool
}

// covered reports whether the watch delivers every event from some revision on, or will as soon as
// it is created on the next stream.
func (l *lifecycle) covered() bool { return l.watch == watchLive || l.watch == watchMoving }

// current reports whether events are applied as the watch delivers them. Otherwise they are
// buffered until the range has been read.
func (l *lifecycle) current() bool { return l.complete && l.read != readLoading }

func (l *lifecycle) ended() bool { return l.watch == watchEnded }

func (l *lifecycle) onWatch(e watchEvent) {
	l.watch = l.watch.next(e)
	l.complete = l.complete && l.covered()
}

func (l *lifecycle) onRead(e readEvent) {
	if e == onRead && l.read == readLoading {
		l.complete = l.covered()
	}
	l.read = l.read.next(e)
}

// watchState is the state of a watcher's watch. A dot is no change:
//
//	state          onRequest      onConfirm  onMove      onInvalidate  onStop
//	watchNone      watchCreating  .          .           .             watchEnded
//	watchCreating  .              watchLive  watchNone   watchNone     watchEnded
//	watchLive      .              .          watchMoving watchNone     watchEnded
//	watchMoving    .              watchLive  .           watchNone     watchEnded
//	watchEnded     .              .          .           .             .
type watchState uint8

const (
	watchNone     watchState = iota // events are missed, so the range must be read once there is a watch
	watchCreating                   // a watch from now on is requested
	watchLive                       // the store has confirmed the watch
	watchMoving                     // the stream broke: the watch is re-created on the next one, from where it was
	watchEnded                      // the watcher has ended
)

// watchEvent changes a watchState.
type watchEvent uint8

const (
	onRequest    watchEvent = iota // a watch was requested on the stream
	onConfirm                      // the store has confirmed it
	onMove                         // the stream was replaced by another one
	onInvalidate                   // events were or will be missed: the watch was cancelled, the buffer overflowed, or the store was restored
	onStop                         // the watcher ends
)

func (s watchState) next(e watchEvent) watchState {
	switch {
	case s == watchEnded || e == onStop:
		return watchEnded
	case e == onInvalidate:
		return watchNone
	case s == watchNone && e == onRequest:
		return watchCreating
	case s == watchCreating && e == onMove:
		return watchNone
	case s == watchLive && e == onMove:
		return watchMoving
	case (s == watchCreating || s == watchMoving) && e == onConfirm:
		return watchLive
	}
	return s
}

// readState is the state of the reads of a watcher's range. A dot is no change:
//
//	state        onDue       onTake      onLoad      onRead   onFail      onGiveUp
//	readIdle     readQueued  readWaiting .           .        .           .
//	readQueued   .           readWaiting .           .        .           .
//	readWaiting  .           .           readLoading .        .           readIdle
//	readLoading  .           .           .           readIdle readWaiting .
type readState uint8

const (
	readIdle    readState = iota // nobody reads, and nobody will
	readQueued                   // a resync is due, at once or after a pause
	readWaiting                  // a reader waits until a watch is confirmed, or for its turn
	readLoading                  // the range is being read; events are buffered meanwhile
)

// readEvent changes a readState.
type readEvent uint8

const (
	onDue    readEvent = iota // the range must be read again
	onTake                    // a reader begins
	onLoad                    // there is a watch, and the reader reads the range
	onRead                    // the range was read
	onFail                    // it could not be read, or what was read does not count
	onGiveUp                  // the reader leaves it at that
)

func (s readState) next(e readEvent) readState {
	switch {
	case s == readIdle && e == onDue:
		return readQueued
	case (s == readIdle || s == readQueued) && e == onTake:
		return readWaiting
	case s == readWaiting && e == onLoad:
		return readLoading
	case s == readLoading && e == onFail:
		return readWaiting
	case s == readLoading && e == onRead, s == readWaiting && e == onGiveUp:
		return readIdle
	}
	return s
}
