package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/bounded"
	"github.com/elasticjob-go/elasticjob/internal/lockedfile"
)

func (f File) sessions() string { return string(f) + ".sessions" }

// sessionFile keeps the sessions of a console beside its users, in users.yaml.sessions, so that they outlive it. It has no secret
// of any. It is written every few seconds, so a crash may bring back one that has just been ended. Where it cannot be written, as
// beside a secret of Kubernetes, sessions end with the process. One goroutine at a time uses it.
type sessionFile struct {
	path string // empty: they are not kept
	of   *sessions
}

// maxSessionsFile bounds the file, in bytes: ten thousand sessions are some 4 MB.
const maxSessionsFile = 64 << 20

// read takes over those of the file that go on.
func (f *sessionFile) read() error {
	if f.path == "" {
		return nil
	}
	document, _, err := bounded.File(f.path, maxSessionsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	all := map[string]*session{}
	if err == nil {
		err = json.Unmarshal(document, &all)
	}
	if err != nil {
		return fmt.Errorf("sessions: %s: %w", f.path, err)
	}
	for key, n := range all {
		if n != nil && n.Key == key && !f.of.isOver(n, time.Now()) {
			f.of.all[key] = n
		}
	}
	return nil
}

// write writes them if they have changed.
func (f *sessionFile) write() error {
	f.of.mu.Lock()
	if f.path == "" || !f.of.isChanged {
		f.of.mu.Unlock()
		return nil
	}
	document, err := json.Marshal(f.of.all)
	f.of.isChanged = false
	f.of.mu.Unlock()
	if err == nil {
		err = lockedfile.Replace(f.path, document, nil)
	}
	if err == nil || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil
	}
	f.of.mu.Lock()
	f.of.isChanged = true
	f.of.mu.Unlock()
	return fmt.Errorf("sessions: %w", err)
}
