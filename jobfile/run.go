package jobfile

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

// lookEvery is how often Run looks whether the files have changed.
const lookEvery = 2 * time.Second

// Run runs the jobs until ctx ends, or Shutdown is called; then it shuts down, with node.drain
// for handlers that run. Meanwhile it reloads the files ([App.Reload]) at a SIGHUP, and when
// their content has changed: they are read every 2 s, and count when they were the same twice,
// so that a file that is being written is not taken for a whole one. Links are followed, as
// Kubernetes changes them to put new files in force. What a reload did, or why it did not, is in
// the log. With node.serve it ends also if the namespace cannot be followed, with that error.
func (a *App) Run(ctx context.Context) error {
	hangUp := make(chan os.Signal, 1)
	signal.Notify(hangUp, syscall.SIGHUP)
	defer signal.Stop(hangUp)
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return a.drained(ctx)
		case <-a.jobsEnd.Done(): // somebody has called Shutdown
			return a.drained(ctx)
		case err := <-a.broken:
			return errors.Join(err, a.drained(ctx))
		case <-hangUp:
			a.log.Info("SIGHUP: reads the configuration files again")
			if _, err := a.Reload(ctx); err != nil {
				a.log.Error("the configuration files were not reloaded; everything stays as it is", slog.Any("error", err))
			}
		case <-look.C:
			sources, err := readAll(a.file.paths)
			if err != nil {
				a.setFault(subject{}, err)
			}
			if a.watched.isNew(sources, err) {
				_, _ = a.reload(ctx, sources) // it is logged, and a fault
			}
		}
	}
}

// drained shuts down, with node.drain for handlers that run.
func (a *App) drained(ctx context.Context) error {
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.drain)
	defer cancel()
	return a.Shutdown(drain)
}

// watched are the contents of files that were seen.
type watched struct {
	mu       sync.Mutex
	taken    [][]byte // what was reloaded, or was tried to; nil if the files could not be read since
	changing [][]byte // what was seen last, if it is something else
}

// isNew reports whether contents are to be reloaded: they are other ones, and stay.
func (w *watched) isNew(sources [][]byte, err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil:
		w.taken, w.changing = nil, nil
	case same(sources, w.taken):
		w.changing = nil
	case !same(sources, w.changing):
		w.changing = sources
	default:
		return true
	}
	return false
}

// take notes contents that are reloaded, whoever wants that; nil if they could not be read.
func (w *watched) take(sources [][]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken, w.changing = sources, nil
}

func same(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }
