package jobfile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/bounded"
)

// tlsSection has paths of files with PEM blocks.
type tlsSection struct{ ca, cert, key, serverName string }

func (s *tlsSection) fields() fields {
	const from = " A relative path begins in the folder of this file."
	return fields{
		{key: "ca", shape: text{&s.ca}, meaning: "A file with the certificate authorities of the servers. Default: the system's." + from},
		{key: "cert", shape: text{&s.cert}, meaning: "A file with the certificate of this process; needs key. It is read anew for each connection." + from},
		{key: "key", shape: text{&s.key}, meaning: "A file with the private key of cert." + from},
		{key: "serverName", shape: text{&s.serverName}, meaning: "The name in the servers' certificates. Default: the host of the address."},
	}
}

// check makes relative paths absolute, and looks whether the files can be used.
func (s *tlsSection) check(v *value, path string, r *reader) {
	if s == nil {
		return
	}
	for key, to := range map[string]*string{"ca": &s.ca, "cert": &s.cert, "key": &s.key} {
		if *to != "" {
			*to = beside(v.get(key).at.file, *to)
		}
	}
	if _, err := s.config(); err != nil {
		r.fault(v.at, path, "%w", err)
	}
}

// config reads the files.
func (s *tlsSection) config() (*tls.Config, error) {
	if s == nil {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.serverName}
	if s.ca != "" {
		pem, _, err := bounded.File(s.ca, maxSize)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca: %s has no certificate in a PEM block", s.ca)
		}
	}
	if (s.cert == "") != (s.key == "") {
		return nil, errors.New("cert and key: one of them is missing")
	}
	if s.cert != "" {
		own := func() (*tls.Certificate, error) {
			cert, _, err := bounded.File(s.cert, maxSize)
			if err != nil {
				return nil, fmt.Errorf("cert: %w", err)
			}
			key, _, err := bounded.File(s.key, maxSize)
			if err != nil {
				return nil, fmt.Errorf("key: %w", err)
			}
			pair, err := tls.X509KeyPair(cert, key)
			if err != nil {
				return nil, fmt.Errorf("cert and key, %s and %s: %w", s.cert, s.key, err)
			}
			return &pair, nil
		}
		if _, err := own(); err != nil {
			return nil, err
		}
		// For each connection anew: certificates are replaced while the process lives.
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own() }
	}
	return c, nil
}
