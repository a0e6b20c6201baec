package serve

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// journal is a log that a test reads while others write.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newJournal() *journal { return &journal{more: make(chan struct{}, 100)} }

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	select {
	case j.more <- struct{}{}:
	default:
	}
	return j.text.Write(p)
}

func (j *journal) logger() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

// await returns what a pattern has found in the log.
func (j *journal) await(t *testing.T, pattern string) []string {
	t.Helper()
	for {
		j.mu.Lock()
		found := regexp.MustCompile(pattern).FindStringSubmatch(j.text.String())
		j.mu.Unlock()
		if found != nil {
			return found
		}
		select {
		case <-j.more:
		case <-t.Context().Done():
			t.Fatalf("the log does not say %s", pattern)
		}
	}
}

// run serves a handler, and returns its address.
func run(t *testing.T, s Site) (address string, end func() error) {
	t.Helper()
	j := newJournal()
	s.Listen, s.Log = "127.0.0.1:0", j.logger()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, s) }()
	return j.await(t, `url=https?://(\S+)`)[1], func() error {
		cancel()
		return <-ended
	}
}

// A request under way comes to its end; a stream is ended; nobody new gets in.
func TestGracefulEnd(t *testing.T) {
	began, goOn, streams := make(chan struct{}), make(chan struct{}), make(chan struct{})
	address, end := run(t, Site{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			began <- struct{}{}
			if r.URL.Path == "/stream" {
				<-streams
				return
			}
			<-goOn
			_, _ = io.WriteString(w, "whole") // the client checks it
		}),
		Close: func(context.Context) error {
			close(streams)
			return nil
		},
		Grace: 2 * time.Minute, // a machine may stand still
	})
	answers := make(chan string, 2)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, path := range []string{"/stream", "/slow"} {
		go func() {
			answer, err := client.Get("http://" + address + path)
			if err != nil {
				answers <- err.Error()
				return
			}
			text, err := io.ReadAll(answer.Body)
			answers <- path + " " + string(text)
			if err := errors.Join(err, answer.Body.Close()); err != nil {
				t.Error(err)
			}
		}()
		<-began
	}
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	if got := <-answers; got != "/stream " {
		t.Error(got)
	}
	if c, err := net.Dial("tcp", address); err == nil {
		t.Error("somebody was let in", c.Close())
	}
	close(goOn)
	if got := <-answers; got != "/slow whole" {
		t.Error(got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestEndCutsOff(t *testing.T) {
	began, gone := make(chan struct{}), make(chan struct{})
	address, end := run(t, Site{
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(began)
			<-r.Context().Done()
			close(gone)
		}),
		Grace: time.Nanosecond,
	})
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // the server has
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-began
	if err := end(); err == nil || !strings.Contains(err.Error(), "requests were cut off: not through within 1ns") {
		t.Error(err)
	}
	<-gone
	if _, err := bufio.NewReader(c).ReadByte(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// A site whose handler bounds nothing is not held up by who neither sends nor reads.
func TestMost(t *testing.T) {
	written := make(chan error, 1)
	address, end := run(t, Site{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			var err error
			for err == nil {
				_, err = w.Write(make([]byte, 1<<16))
			}
			written <- err
		}),
		Most: 10 * time.Millisecond,
	})
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-written; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	if err := errors.Join(c.Close(), end()); err != nil {
		t.Error(err)
	}
}

// An address that is taken is an error, and keeps no other one.
func TestAddressIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // the test is over
	log := slog.New(slog.DiscardHandler)
	err = Run(t.Context(), Site{Listen: "127.0.0.1:0", Log: log}, Site{Listen: l.Addr().String(), Log: log})
	if err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Error(err)
	}
}

func TestIsLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:8899": true, "127.8.8.8:1": true, "[::1]:80": true, "localhost:80": true,
		":8899": false, "0.0.0.0:80": false, "[::]:80": false, "10.0.0.1:80": false, "console.example:80": false, "127.0.0.1": false,
	} {
		if got := IsLoopback(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

// writeCertificate writes a pair of files, and returns the certificate's number.
func writeCertificate(t *testing.T, folder string, number int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(number), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"console"}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: certificate}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		writeFile(t, filepath.Join(folder, name), pem.EncodeToMemory(block))
	}
}

// writeFile writes a file, and lets it look changed whatever the clock of the file system is.
func writeFile(t *testing.T, path string, text []byte) {
	t.Helper()
	later := time.Now()
	if info, err := os.Stat(path); err == nil {
		later = info.ModTime().Add(time.Second)
	}
	if err := errors.Join(os.WriteFile(path, text, 0o600), os.Chtimes(path, later, later)); err != nil {
		t.Fatal(err)
	}
}

// serves checks the number of the certificate that a server shows.
func serves(t *testing.T, address string, want int64) {
	t.Helper()
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}) // it signs itself
	if err != nil {
		t.Fatal(err)
	}
	state := c.ConnectionState()
	if got := state.PeerCertificates[0].SerialNumber.Int64(); got != want {
		t.Errorf("certificate %d, want %d", got, want)
	}
	if state.NegotiatedProtocol != "h2" {
		t.Errorf("no HTTP/2: %q", state.NegotiatedProtocol)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestCertificateChanges(t *testing.T) {
	folder, j := t.TempDir(), newJournal()
	writeCertificate(t, folder, 1)
	certificate, err := ReadCertificate(filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem"), j.logger())
	if err != nil {
		t.Fatal(err)
	}
	address, end := run(t, Site{Certificate: certificate, Handler: http.NotFoundHandler()})
	serves(t, address, 1)
	writeCertificate(t, folder, 2)
	serves(t, address, 2)
	writeFile(t, filepath.Join(folder, "cert.pem"), []byte("half of it"))
	serves(t, address, 2)
	serves(t, address, 2)
	j.await(t, "does not count")
	if n := strings.Count(j.text.String(), "does not count"); n != 1 {
		t.Errorf("told %d times", n)
	}
	writeCertificate(t, folder, 3)
	serves(t, address, 3)
	if err := end(); err != nil {
		t.Error(err)
	}
}

func TestNoCertificate(t *testing.T) {
	_, err := ReadCertificate("missing.pem", "key.pem", slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "missing.pem") {
		t.Error(err)
	}
}
