package httpjob_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
)

// certificate makes a certificate of a client that signs itself.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func pool(c *x509.Certificate) *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(c)
	return p
}

// quietly keeps what a server says about bad certificates out of the output of the tests.
func quietly(s *httptest.Server) { s.Config.ErrorLog = log.New(io.Discard, "", 0) }

// A job names the settings that its requests have: whom they trust, and who they are.
func TestTLS(t *testing.T) {
	known, stranger := certificate(t), certificate(t)
	var asked atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if !r.TLS.PeerCertificates[0].Equal(known.Leaf) {
			t.Error("another client")
		}
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool(known.Leaf)}
	quietly(s)
	s.StartTLS()
	t.Cleanup(s.Close)
	var handshakes atomic.Int32
	count := func(tls.ConnectionState) error { handshakes.Add(1); return nil }
	roots := pool(s.Certificate())
	requests := newType(t, httpjob.Options{TLS: map[string]*tls.Config{
		"billing":   {RootCAs: roots, Certificates: []tls.Certificate{known}, VerifyConnection: count},
		"stranger":  {RootCAs: roots, Certificates: []tls.Certificate{stranger}, VerifyConnection: count},
		"nobody":    {RootCAs: roots, VerifyConnection: count},
		"distrusts": {RootCAs: pool(stranger.Leaf), Certificates: []tls.Certificate{known}, VerifyConnection: count},
	}})
	for _, tc := range []struct {
		name, says string
		handshakes int32
	}{
		{"billing", "", 1},
		{"billing", "", 0},
		{"stranger", "tls: ", 1},
		{"nobody", "tls: ", 1},
		{"distrusts", "certificate signed by unknown authority", 0},
		{"", "certificate signed by unknown authority", 0},
	} {
		before := handshakes.Load()
		// What a certificate has to do with is not tried again.
		p := patient(s.URL, "GET").with(props{"http.tls": tc.name})
		err := handlerOf(t, requests, p).Execute(t.Context(), sharding())
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%q: got %v, want %q in it", tc.name, err, tc.says)
		}
		if n := handshakes.Load() - before; n != tc.handshakes {
			t.Errorf("%q: got %d handshakes, want %d", tc.name, n, tc.handshakes)
		}
	}
	if asked.Load() != 2 {
		t.Errorf("asked %d times", asked.Load())
	}
}

// A name that nobody has given is refused at the start, with those that are known.
func TestUnknownTLS(t *testing.T) {
	_, err := newType(t, httpjob.Options{TLS: map[string]*tls.Config{"billing": {}, "audit": {}}}).Handler(job.Config{Props: get("https://h/").with(props{"http.tls": "biling"})})
	if err == nil || !strings.Contains(err.Error(), `props: http.tls: "biling" is not known, audit, billing are`) {
		t.Errorf("got %v", err)
	}
}

// HTTP/2 is spoken with servers that do, with the same bounds.
func TestHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.ProtoMajor != 2 || r.Header.Get("shardingContext") == "" || r.Header.Get("Idempotency-Key") != "0193-task":
			t.Errorf("got %s, %v", r.Proto, r.Header)
		case r.URL.Path == "/silent":
			<-r.Context().Done()
		case r.URL.Path == "/endless":
			for {
				if _, err := w.Write(make([]byte, 10_000)); err != nil {
					return
				}
			}
		}
	}))
	s.EnableHTTP2 = true
	quietly(s)
	s.StartTLS()
	t.Cleanup(s.Close)
	requests := newType(t, httpjob.Options{TLS: map[string]*tls.Config{"test": {RootCAs: pool(s.Certificate())}}})
	for path, says := range map[string]string{"/": "", "/silent": "the server is silent for 50ms", "/endless": ""} {
		p := get(s.URL + path).with(props{"http.tls": "test"})
		if path == "/silent" {
			p["http.read.timeout.milliseconds"] = "50"
		}
		err := handlerOf(t, requests, p).Execute(t.Context(), sharding())
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v", path, err)
		}
	}
}
