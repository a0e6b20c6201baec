//go:build unix

package veil

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// used returns the CPU time of this process: a machine that is slow, or stands still, does not add to it.
func used(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// What looks for secrets takes about as long as to read the document: each request for a plan does so.
func TestTakesNoLonger(t *testing.T) {
	const n = 10_000
	items := strings.Repeat("'***',", n)
	for name, document := range map[string]string{
		"a long key":           "? token" + strings.Repeat("k", 4*n) + "\n: [" + items + "]\n",
		"a long key of no one": "? " + strings.Repeat("-", 4*n) + "\n: [" + items + "]\n",
		"deep":                 "token: " + strings.Repeat("[", 9000) + items + strings.Repeat("]", 9000) + "\n",
	} {
		begin := used(t)
		_, err := Restore([]byte(document), []byte(document))
		Document(document)
		if took := used(t) - begin; took > 5*time.Second { // it is some 0.1 s; it was 20 s and more
			t.Errorf("%s: it took %v of CPU time", name, took)
		}
		if err != nil && len(err.Error()) > 10_000 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
}
