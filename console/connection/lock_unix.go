//go:build unix

package connection

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks a file against other processes, until it is closed. It reports false if somebody else
// has locked it.
func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
