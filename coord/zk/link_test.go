package zk_test

import (
	"net"
	"os"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/zk"
)

// The client library must never learn that a write has failed; see link.Write.
func TestAWriteThatFailsEndsTheLink(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	link, err := zk.NewLink(near)
	if err != nil {
		t.Fatal(err)
	}
	if err := near.SetWriteDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	request := []byte("request")
	if n, err := link.Write(request); n != len(request) || err != nil {
		t.Errorf("write: got %d, %v, want %d and no error", n, err, len(request))
	}
	if _, err := link.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
		t.Errorf("read: got %v, want that the link is closed", err)
	}
}
