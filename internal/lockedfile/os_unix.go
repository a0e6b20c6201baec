//go:build unix

package lockedfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// tryLock takes the lock of a file, unless somebody has it. It goes when the file is closed, or the process ends.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}

// KeepOwner gives a new file to whom another one belongs: root may have changed what a service reads.
func KeepOwner(f *os.File, was fs.FileInfo) error {
	old, ok := was.Sys().(*syscall.Stat_t)
	info, err := f.Stat()
	if err != nil || !ok {
		return err
	}
	if own, ok := info.Sys().(*syscall.Stat_t); ok && own.Uid == old.Uid && own.Gid == old.Gid {
		return nil
	}
	if err := f.Chown(int(old.Uid), int(old.Gid)); err != nil {
		return fmt.Errorf("it would no longer belong to user %d and group %d: %w", old.Uid, old.Gid, err)
	}
	return nil
}

// syncFolder makes sure that a file's new name outlives a crash.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()                                    // it was only read
	if err := folder.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // some file systems cannot
		return err
	}
	return nil
}
