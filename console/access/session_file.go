package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/elasticjob-go/elasticjob/internal/bounded"
	"github.com/elasticjob-go/elasticjob/internal/lockedfile"
)

func (f File) sessions() string { return string(f) + ".sessions" }

// sessionFile keeps the sessions of a console beside its users, in users.yaml.sessions: they outlive it, and consoles that have
// the file in common have the sessions in common. It has no secret of any. A session that begins, or that somebody ends, is written
// soon after; the rest every few seconds. So a crash may bring back one that has just ended. Where none can be written, as
// beside a secret of Kubernetes, sessions end with the process.
type sessionFile struct {
	path string // empty: they are not kept
	of   *sessions

	mu   sync.Mutex
	seen fs.FileInfo     // of the file that was read or written last
	had  map[string]bool // the sessions that it had
}

// maxSessionsFile bounds the file, in bytes: ten thousand sessions are some 4 MB.
const maxSessionsFile = 64 << 20

// read takes over what another console has written. It costs a look at the file's date.
func (f *sessionFile) read() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.readLocked()
}

func (f *sessionFile) readLocked() error {
	if f.path == "" {
		return nil
	}
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && f.seen != nil && same(f.seen, info) {
		return nil
	}
	document, info, err := bounded.File(f.path, maxSessionsFile)
	all := map[string]*session{}
	if err == nil {
		f.seen = info
		err = json.Unmarshal(document, &all)
	}
	if err != nil {
		return fmt.Errorf("sessions: %s: %w", f.path, err)
	}
	f.of.merge(all, f.had)
	f.had = keysOf(all)
	return nil
}

// write writes them if they have changed.
func (f *sessionFile) write(ctx context.Context) error {
	if f.path == "" || !f.of.isChanged.Load() {
		return f.read()
	}
	err := lockedfile.Change(ctx, f.path, func(path string) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		_ = f.readLocked() // one that cannot be read is written anew
		all := f.of.written()
		document, err := json.Marshal(all)
		if err == nil {
			err = lockedfile.Replace(path, document, nil)
		}
		if err == nil {
			f.had = keysOf(all)
			f.seen, err = os.Stat(path)
		}
		return err
	})
	f.mu.Lock()
	isAlone := f.seen == nil // with a file that is there, what ends here would go on at another console, or at the next one
	f.mu.Unlock()
	if err == nil || isAlone && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		return nil
	}
	f.of.isChanged.Store(true)
	return fmt.Errorf("sessions: %w", err)
}

func keysOf[V any](all map[string]V) map[string]bool {
	keys := make(map[string]bool, len(all))
	for key := range all {
		keys[key] = true
	}
	return keys
}
