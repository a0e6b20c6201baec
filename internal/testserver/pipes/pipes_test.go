package pipes_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/internal/testserver/pipes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A server serves over it in virtual time, and nobody gets in when it is closed.
func TestListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pipes.New()
		server := &http.Server{ReadTimeout: time.Hour}
		served := make(chan error, 1)
		go func() { served <- server.Serve(l) }()
		c, err := l.Dial()
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if _, err := io.ReadAll(c); err != nil || time.Since(begun) != time.Hour {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		if err := errors.Join(c.Close(), server.Close(), l.Close()); err != nil {
			t.Error(err)
		}
		<-served
		if _, err := l.Dial(); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}
