package serve

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Certificate is a pair of PEM files. It is read again when one of them has changed; as long as they do not
// fit, the last good one counts.
type Certificate struct {
	cert, key string
	log       *slog.Logger

	mu   sync.Mutex
	seen [2]version // of the files, as they were read last
	last *tls.Certificate
}

// version is what a file looks like from outside.
type version struct {
	changed time.Time
	size    int64
}

// ReadCertificate reads a certificate and its private key.
func ReadCertificate(cert, key string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key, log: log}
	return c, c.read()
}

// Get returns the certificate for a handshake, for tls.Config.
func (c *Certificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.read(); err != nil {
		c.log.Warn("console: the new certificate does not count", "error", brief.Error(err))
	}
	return c.last, nil
}

// read reads the files if they have changed since.
func (c *Certificate) read() error {
	var now [2]version
	for i, path := range []string{c.cert, c.key} {
		info, err := os.Stat(path)
		if err == nil {
			now[i] = version{info.ModTime(), info.Size()}
		} // a file that is not there is a version, too: then it is told of once
	}
	if now == c.seen && c.last != nil {
		return nil
	}
	c.seen = now
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("TLS: certificate %s, key %s: %w", c.cert, c.key, err)
	}
	c.last = &pair
	return nil
}
