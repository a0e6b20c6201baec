package zk_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// If a certificate is missing, or servers do not trust it, Dial says so at once.
func TestClientCertificates(t *testing.T) {
	t.Parallel()
	server := zkserver.Start(t, zkserver.Config{TLS: true, ClientAuth: true})
	trusted := &tls.Config{RootCAs: server.Authority(), Certificates: []tls.Certificate{server.ClientCertificate()}}
	const patience = 2 * time.Minute // a JVM's first handshakes take seconds on a busy machine
	r := dial(t, zk.Config{Servers: []string{server.TLSAddr()}, TLS: trusted, DialTimeout: patience})
	commit(t, r, coord.Put("a", nil))
	for name, cfg := range map[string]*tls.Config{
		"without":   {RootCAs: server.Authority()},
		"untrusted": {RootCAs: server.Authority(), Certificates: []tls.Certificate{secureServer(t).ClientCertificate()}},
		"no trust":  {RootCAs: x509.NewCertPool(), Certificates: trusted.Certificates},
	} {
		t.Run(name, func(t *testing.T) { wantDenied(t, server.TLSAddr(), cfg, patience) })
	}
}

// wantDenied expects a denial, also if other servers do not answer at all.
func wantDenied(t *testing.T, addr string, cfg *tls.Config, patience time.Duration) {
	t.Helper()
	for _, servers := range [][]string{{addr}, {nowhere(t), addr, nowhere(t)}} {
		begun := time.Now()
		wantDialError(t, zk.Config{Servers: servers, TLS: cfg, DialTimeout: patience}, patience/2, coord.ErrDenied)
		t.Logf("after %v", time.Since(begun))
	}
}

// In TLS 1.3 a client learns that it is refused only when it reads the first answer. (JVMs
// do not offer that version unless their operator enables it, so this test has a server of
// its own.)
func TestClientCertificatesWithTLS13(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS13, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool()}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	authority := x509.NewCertPool()
	authority.AddCert(server.Certificate())
	for name, cfg := range map[string]*tls.Config{
		"without":   {RootCAs: authority},
		"untrusted": {RootCAs: authority, Certificates: server.TLS.Certificates},
		"no trust":  {RootCAs: x509.NewCertPool()},
	} {
		t.Run(name, func(t *testing.T) { wantDenied(t, server.Listener.Addr().String(), cfg, 2*time.Minute) })
	}
}
