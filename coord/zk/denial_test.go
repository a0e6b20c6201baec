package zk_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// A certificate that is missing, or that servers do not trust, is told at once.
func TestClientCertificates(t *testing.T) {
	server := zkserver.Start(t, zkserver.Config{TLS: true, ClientAuth: true})
	stranger := zkserver.Start(t, zkserver.Config{TLS: true})
	trusted := &tls.Config{RootCAs: server.Authority(), Certificates: []tls.Certificate{server.ClientCertificate()}}
	const patience = 30 * time.Second // a JVM's first handshakes take seconds on a busy machine
	r := dial(t, zk.Config{Servers: []string{server.TLSAddr()}, TLS: trusted, DialTimeout: patience})
	commit(t, r, coord.Put("a", nil))
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for name, cfg := range map[string]*tls.Config{
			"without":   {RootCAs: server.Authority()},
			"untrusted": {RootCAs: server.Authority(), Certificates: []tls.Certificate{stranger.ClientCertificate()}},
			"no trust":  {RootCAs: x509.NewCertPool(), Certificates: trusted.Certificates},
		} {
			t.Run(fmt.Sprintf("%s, %s", name, tls.VersionName(version)), func(t *testing.T) {
				cfg.MinVersion, cfg.MaxVersion = version, version
				// Also where others do not answer at all.
				for _, servers := range [][]string{{server.TLSAddr()}, {nowhere(t), server.TLSAddr(), nowhere(t)}} {
					begun := time.Now()
					wantDialError(t, zk.Config{Servers: servers, TLS: cfg, DialTimeout: patience}, patience/2, coord.ErrDenied)
					t.Logf("after %v", time.Since(begun))
				}
			})
		}
	}
}
