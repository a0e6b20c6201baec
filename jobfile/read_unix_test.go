//go:build unix

package jobfile_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/jobfile"
)

// What is no regular file is refused at once: a pipe without a writer, for one, which would hold
// up App.Run for ever.
func TestNoRegularFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	tls := "jobs: {}\nregistry: {etcd: {endpoints: [a:1], namespace: a, tls: {cert: " + pipe + ", key: " + pipe + "}}}"
	for _, path := range []string{pipe, t.TempDir(), "/dev/zero", write(t, tls)[0]} {
		over := make(chan error, 1)
		go func() {
			_, err := jobfile.Read(options(nil), path)
			over <- err
		}()
		select {
		case err := <-over:
			if err == nil || !strings.Contains(err.Error(), "it is no regular file") {
				t.Errorf("%s: %v", path, err)
			}
		case <-time.After(2 * time.Minute): // a machine may stand still
			t.Fatalf("%s: Read waits", path)
		}
	}
}
