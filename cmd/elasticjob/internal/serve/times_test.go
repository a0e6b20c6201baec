package serve

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/testserver/pipes"
)

// inBubble serves a site in virtual time, until the test ends. dial connects to it.
func inBubble(t *testing.T, s Site, test func(t *testing.T, dial func() net.Conn, log *journal)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, log := pipes.New(), newJournal()
		s.Log = log.logger()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.serve(ctx, p) }()
		test(t, func() net.Conn {
			mine, err := p.Dial()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = mine.Close() }) // the server has, or does
			return mine
		}, log)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Error(err)
	}
}

// wantEnd checks when the server ends a connection, and returns what it has sent before.
func wantEnd(t *testing.T, c net.Conn, after time.Duration) string {
	t.Helper()
	begun := time.Now()
	text, err := io.ReadAll(c)
	if took := time.Since(begun); err != nil || took != after {
		t.Errorf("it ended after %v, want %v; %v", took, after, err)
	}
	return string(text)
}

// Who connects, and does not say what he wants, is not waited for.
func TestTimesOfAConnection(t *testing.T) {
	var body chan error // of the bubble: one from outside would stop its time
	inBubble(t, Site{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); r.ContentLength != 0 {
			body <- err
		}
	})}, func(t *testing.T, dial func() net.Conn, _ *journal) {
		body = make(chan error, 1)
		wantEnd(t, dial(), 10*time.Second)
		slow := dial()
		send(t, slow, "GET / HTTP/1.1\r\nHost: x\r\nX-Sl")
		wantEnd(t, slow, 10*time.Second)

		idle := dial()
		for range 2 { // two requests, with pauses
			send(t, idle, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			if answer, err := http.ReadResponse(bufio.NewReader(idle), nil); err != nil || answer.StatusCode != http.StatusOK {
				t.Fatal(answer, err)
			}
			pass(time.Minute)
		}
		wantEnd(t, idle, time.Minute)

		large := dial()
		go func() {
			_, _ = io.WriteString(large, "GET / HTTP/1.1\r\nHost: x\r\nX-Large: "+strings.Repeat("x", 100<<10)+"\r\n\r\n") // not all of it is read
		}()
		if answer, err := http.ReadResponse(bufio.NewReader(large), nil); err != nil || answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Error(answer, err)
		}

		// A body is the guard's to bound, unless the site does.
		waits := dial()
		send(t, waits, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na")
		pass(time.Hour)
		send(t, waits, "bc")
		if answer, err := http.ReadResponse(bufio.NewReader(waits), nil); err != nil || <-body != nil {
			t.Error(answer, err)
		}
	})
	inBubble(t, Site{Most: 30 * time.Second, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		body <- err
	})}, func(t *testing.T, dial func() net.Conn, _ *journal) {
		body = make(chan error, 1)
		begun, c := time.Now(), dial()
		send(t, c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na")
		if err := <-body; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) != 30*time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		_, _ = io.ReadAll(c) // the server ends it
	})
}

// Without Site.Grace, requests have 10 s to end. Meanwhile the site lets go of who is idle.
func TestDefaultGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, began, ended := pipes.New(), make(chan struct{}), make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		s := Site{Log: slog.New(slog.DiscardHandler), Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(began)
			<-r.Context().Done()
		})}
		go func() { ended <- s.serve(ctx, p) }()
		mine, err := p.Dial()
		if err != nil {
			t.Fatal(err)
		}
		send(t, mine, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		<-began
		begun := time.Now()
		cancel()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "not through within 10s") || time.Since(begun) != 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		_ = mine.Close() // the server has
	})
}

// A listener that fails ends the site, and that says which one it was.
func TestListenerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pipes.New()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		isClosed, where := false, ""
		s := Site{Log: slog.New(slog.DiscardHandler), Handler: http.NotFoundHandler(), Ready: func(url string) { where = url }, Close: func(context.Context) error { isClosed = true; return nil }}
		if err := s.serve(t.Context(), p); !errors.Is(err, net.ErrClosed) || !strings.Contains(err.Error(), "pipes: ") || !isClosed || where != "http://pipes" {
			t.Errorf("%s: %v, streams ended: %v", where, err, isClosed)
		}
	})
}

// What is older than TLS 1.2, or has CBC, is not spoken, and that is in the log.
func TestOldTLS(t *testing.T) {
	folder := t.TempDir()
	writeCertificate(t, folder, 1)
	certificate, err := ReadCertificate(filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, Site{Certificate: certificate, Handler: http.NotFoundHandler()}, func(t *testing.T, dial func() net.Conn, log *journal) {
		for version, isSpoken := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
			c := tls.Client(dial(), &tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version}) // it signs itself
			if err := c.HandshakeContext(t.Context()); (err == nil) != isSpoken {
				t.Errorf("%s: %v", tls.VersionName(version), err)
			}
			_ = c.NetConn().Close() // without a word
		}
		for suite, isSpoken := range map[uint16]bool{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: false, tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: true} {
			c := tls.Client(dial(), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite}}) // it signs itself
			if err := c.HandshakeContext(t.Context()); (err == nil) != isSpoken {
				t.Errorf("%s: %v", tls.CipherSuiteName(suite), err)
			}
			_ = c.NetConn().Close() // without a word
		}
		log.await(t, "level=WARN.*TLS handshake error")
	})
}

// OPTIONS * is for the handler, which has the limits, and not for net/http.
func TestOptionsOfAll(t *testing.T) {
	inBubble(t, Site{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })},
		func(t *testing.T, dial func() net.Conn, _ *journal) {
			c := dial()
			send(t, c, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
			if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || answer.StatusCode != http.StatusTeapot {
				t.Error(answer, err)
			}
		})
}
