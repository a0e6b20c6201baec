//go:build unix

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority signs certificates, and writes them to files of a folder.
type authority struct {
	*testing.T
	folder string
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{T: t, folder: t.TempDir()}
	a.cert = &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.issue("ca", a.cert)
	return a
}

// issue writes NAME.pem and NAME.key, and returns their paths.
func (a *authority) issue(name string, c *x509.Certificate) (cert, key string) {
	a.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if a.key == nil {
		a.key = private
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &private.PublicKey, a.key)
	if err != nil {
		a.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.Fatal(err)
	}
	return a.write(name+".pem", "CERTIFICATE", der), a.write(name+".key", "PRIVATE KEY", text)
}

func (a *authority) write(name, kind string, der []byte) string {
	path := filepath.Join(a.folder, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.Fatal(err)
	}
	return path
}

// pool has the authority.
func (a *authority) pool() *x509.CertPool {
	text, err := os.ReadFile(a.caFile())
	if err != nil {
		a.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}

// caFile is the path of the authority's certificate.
func (a *authority) caFile() string { return filepath.Join(a.folder, "ca.pem") }

// memberTemplate is for the certificate of a member of etcd at an address.
func memberTemplate(ip string) *x509.Certificate {
	c := clientTemplate()
	c.ExtKeyUsage, c.IPAddresses = append(c.ExtKeyUsage, x509.ExtKeyUsageServerAuth), []net.IP{net.ParseIP(ip)}
	return c
}

// clientTemplate is for the certificate of a client, which needs no host.
func clientTemplate() *x509.Certificate {
	return &x509.Certificate{KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
}
