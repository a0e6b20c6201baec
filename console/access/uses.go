package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/lockedfile"
)

// Uses returns when tokens were last used, by [Token.ID], as the console has written it: a minute ago at most. If that
// cannot be read, there are none.
func (f File) Uses() map[string]time.Time {
	at, _ := loadUses(f.uses()) // a console says what is wrong
	return at
}

func (f File) uses() string { return string(f) + ".used" }

// uses has when tokens were last used, to the minute. It is kept in a file beside that of the users, users.yaml.used,
// which is written once a minute at most: so the users file changes only when somebody changes users. Where it cannot be
// written, as beside a secret of Kubernetes, only the uses since the start of the process are known: no fault, for nobody
// is let in or kept out by them.
type uses struct {
	path string // empty: it is not kept

	mu      sync.Mutex
	at      map[string]time.Time // by ID
	changed bool
}

func readUses(path string) (*uses, error) {
	u := &uses{path: path, at: map[string]time.Time{}}
	if path == "" {
		return u, nil
	}
	at, err := loadUses(path)
	if err == nil {
		u.at = at
	}
	return u, err
}

func loadUses(path string) (map[string]time.Time, error) {
	at := map[string]time.Time{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return at, nil
	}
	if err != nil {
		return at, fmt.Errorf("last uses of tokens: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if err := json.NewDecoder(io.LimitReader(f, maxFile)).Decode(&at); err != nil {
		return map[string]time.Time{}, fmt.Errorf("last uses of tokens: %s: %w", path, err)
	}
	return at, nil
}

func (u *uses) note(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if t := now().Truncate(time.Minute); t.After(u.at[id]) {
		u.at[id], u.changed = t, true
	}
}

func (u *uses) of(id string) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.at[id]
}

// write writes what has changed: of the tokens that there are, the later of its own time and that of the file, which
// another console may have written.
func (u *uses) write(ctx context.Context, has func(id string) bool) error {
	u.mu.Lock()
	isChanged := u.changed
	u.mu.Unlock()
	if u.path == "" || !isChanged {
		return nil
	}
	err := lockedfile.Change(ctx, u.path, func(path string) error {
		others, err := loadUses(path)
		if err != nil {
			others = nil // it is written anew
		}
		u.mu.Lock()
		for id, t := range others {
			if t.After(u.at[id]) {
				u.at[id] = t
			}
		}
		for id := range u.at {
			if !has(id) {
				delete(u.at, id)
			}
		}
		document, err := json.Marshal(u.at)
		u.changed = false
		u.mu.Unlock()
		if err == nil {
			err = lockedfile.Replace(path, document, nil)
		}
		if err != nil {
			u.mu.Lock()
			u.changed = true
			u.mu.Unlock()
		}
		return err
	})
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil
	}
	return err
}
