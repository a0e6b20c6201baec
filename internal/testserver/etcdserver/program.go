package etcdserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Program returns the path of etcd: the environment variable ETCD, or what the go command builds, once for the process.
var Program = sync.OnceValues(func() (string, error) {
	if program := os.Getenv("ETCD"); program != "" {
		return program, nil
	}
	program, err := build()
	if err != nil {
		return "", fmt.Errorf("building etcd: %w", err)
	}
	return program, nil
})

// build has the go command put the program into its cache. Packages are tested side by side, and two go commands that
// find no program there both write it: the second while the first one's caller starts it ("text file busy"). So only
// one process at a time builds.
func build() (program string, err error) {
	lock, err := os.OpenFile(filepath.Join(os.TempDir(), fmt.Sprintf("etcdserver-%d.lock", os.Getuid())), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }() // which unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("locking %s: %w", lock.Name(), err)
	}
	cmd := exec.Command("go", "tool", "-n", "github.com/elasticjob-go/elasticjob/internal/embedetcd/etcd")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, &stderr)
	}
	return strings.TrimSpace(string(out)), nil
}
