package zk

// viewState is the state of a view. A dot is no change:
//
//	state          onWatcher   onLoad   onAnswer       onStale    onClose
//	viewOpening    .           viewLive .              .          viewEnded
//	viewLive       .           .        viewRechecking viewStale  viewEnded
//	viewRechecking .           viewLive .              viewStale  viewEnded
//	viewStale      viewLoading .        .              .          viewEnded
//	viewLoading    .           viewLive .              viewStale  viewEnded
//	viewEnded      .           .        .              .          .
type viewState uint8

const (
	viewOpening    viewState = iota // nobody has read the subtree yet
	viewLive                        // it was read, and a watcher reads what changes
	viewRechecking                  // an outage is over: the fault lasts until the watcher knows that it missed nothing
	viewStale                       // the connection of its watcher has ended, or the store refuses to be read
	viewLoading                     // the next watcher reads the subtree again
	viewEnded                       // the view was closed, or could not be opened
)

// viewEvent changes a viewState.
type viewEvent uint8

const (
	onWatcher viewEvent = iota // a watcher begins
	onLoad                     // a watcher has read the subtree, or knows that it missed nothing
	onAnswer                   // the store answers again after an outage
	onStale                    // the watcher has ended
	onClose                    // the view ends
)

func (s viewState) next(e viewEvent) viewState {
	switch {
	case s == viewEnded || e == onClose:
		return viewEnded
	case e == onLoad && s != viewStale:
		return viewLive
	case s == viewStale && e == onWatcher:
		return viewLoading
	case s == viewLive && e == onAnswer:
		return viewRechecking
	case s != viewOpening && e == onStale:
		return viewStale
	}
	return s
}

// on is the only way to change the state.
func (s *viewState) on(e viewEvent) { *s = s.next(e) }
