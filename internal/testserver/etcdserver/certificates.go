package etcdserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificates are those of an authority, of the server, and of a client. The authority
// signed the other two.
type certificates struct {
	caFile, certFile, keyFile string
	authority                 *x509.Certificate
	clientCertificate         tls.Certificate
}

func newCertificates(dir string) (*certificates, error) {
	c := &certificates{
		caFile:   filepath.Join(dir, "ca.pem"),
		certFile: filepath.Join(dir, "server.pem"),
		keyFile:  filepath.Join(dir, "server.key"),
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	ca := template("test authority")
	ca.IsCA, ca.BasicConstraintsValid = true, true
	ca.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	if c.authority, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	server, err := c.issue("test server", caKey)
	if err != nil {
		return nil, err
	}
	if c.clientCertificate, err = c.issue("test client", caKey); err != nil {
		return nil, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(server.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	for _, f := range []struct {
		name, kind string
		der        []byte
	}{
		{c.caFile, "CERTIFICATE", c.authority.Raw},
		{c.certFile, "CERTIFICATE", server.Certificate[0]},
		{c.keyFile, "PRIVATE KEY", key},
	} {
		if err := os.WriteFile(f.name, pem.EncodeToMemory(&pem.Block{Type: f.kind, Bytes: f.der}), 0o600); err != nil {
			return nil, fmt.Errorf("certificates: %w", err)
		}
	}
	return c, nil
}

func (c *certificates) issue(name string, caKey *ecdsa.PrivateKey) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate of %s: %w", name, err)
	}
	cert := template(name)
	cert.KeyUsage = x509.KeyUsageDigitalSignature
	cert.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	cert.DNSNames = []string{"localhost"}
	cert.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	der, err := x509.CreateCertificate(rand.Reader, cert, c.authority, &key.PublicKey, caKey)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate of %s: %w", name, err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

func template(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // rand.Reader does not fail
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
	}
}

func (c *certificates) client(withCertificate bool) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(c.authority)
	config := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	if withCertificate {
		config.Certificates = []tls.Certificate{c.clientCertificate}
	}
	return config
}

func (c *certificates) stranger() *tls.Config {
	return &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
}
