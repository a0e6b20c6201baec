// Package lockedfile changes files that several processes change: one after the other, and as a whole.
//
//	err := lockedfile.Change(ctx, "/etc/elasticjob/users.yaml", func(path string) error {
//		document, err := os.ReadFile(path)
//		…
//		return lockedfile.Replace(path, document, nil)
//	})
//
// Not promised: a lock against who does not take it, such as an editor, and any lock on Windows: of two who change a file
// there at the same time the last one wins.
package lockedfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/errclass"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// ErrLocked: another process has been changing the file for too long.
var ErrLocked = errclass.Busy.New("file-locked", "somebody else is changing it")

const (
	patience = 10 * time.Second      // how long a lock is waited for
	pause    = 20 * time.Millisecond // between two looks at it
)

// Change does something while no other process does, with the path behind links: a link stays one. The lock is that of
// the folder, which has to be there: a file of its own might belong to root.
//
// Errors: that of do, ErrLocked, the cause of ctx.
func Change(ctx context.Context, path string, do func(path string) error) error {
	path = real(path)
	lock, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // the lock goes with it
	ctx, cancel := context.WithTimeoutCause(ctx, patience, ErrLocked)
	defer cancel()
	for {
		mine, err := tryLock(lock)
		if err != nil {
			return fmt.Errorf("lock of %s: %w", lock.Name(), err)
		}
		if mine {
			return do(path)
		}
		if !sleep.For(ctx, pause) {
			return fmt.Errorf("lock of %s: %w", lock.Name(), context.Cause(ctx))
		}
	}
}

// Replace puts a new file in the place of one, whose link stays one. Nobody reads half a file. It has the rights and the
// owner of what was there, was; if that is nil, it is for its owner alone.
func Replace(path string, content []byte, was fs.FileInfo) error {
	path = real(path)
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(content)
	if err == nil && was != nil {
		err = errors.Join(temporary.Chmod(was.Mode().Perm()), KeepOwner(temporary, was))
	}
	err = errors.Join(err, temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return syncFolder(filepath.Dir(path))
}

// real returns the path behind links.
func real(path string) string {
	if behind, err := filepath.EvalSymlinks(path); err == nil {
		return behind
	}
	return path
}
