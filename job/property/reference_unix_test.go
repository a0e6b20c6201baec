//go:build unix

package property_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job/property"
)

// What is no regular file is refused: a pipe without a writer, and a device without an end.
func TestNoRegularFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, t.TempDir(), "/dev/zero"} {
		over := make(chan error, 1)
		go func() {
			_, err := property.Expand("${file:"+path+"}", property.FromProcess())
			over <- err
		}()
		select {
		case err := <-over:
			if err == nil || !strings.Contains(err.Error(), "no regular file") {
				t.Errorf("%s: got %v", path, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: the look-up has no end", path)
		}
	}
}
