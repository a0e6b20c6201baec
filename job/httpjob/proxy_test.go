package httpjob_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/elasticjob-go/elasticjob/job/httpjob"
)

// proxy is a small proxy. It forwards what is plain, and tunnels the rest to where it is told.
func proxy(t *testing.T, to string) (url string, authorized func() []string) {
	var mu sync.Mutex
	var seen []string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		user, password, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
		seen = append(seen, r.Method+" "+r.RequestURI+" "+user+" "+password)
		mu.Unlock()
		if password == "wrong" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		if r.Method != http.MethodConnect {
			_, _ = io.WriteString(w, "forwarded") // who reads it notices if it fails
			return
		}
		server, err := net.Dial("tcp", to)
		if err != nil {
			t.Error(err)
			return
		}
		defer server.Close()
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer client.Close()
		_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n") // who reads it notices if it fails
		var copying sync.WaitGroup
		copying.Go(func() {
			_, _ = io.Copy(server, client) // until the other side ends
			_ = server.Close()             // nothing is read or written any more
		})
		_, _ = io.Copy(client, server) // until the other side ends
		_ = client.Close()             // nothing is read or written any more
		copying.Wait()
	})
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

func TestProxy(t *testing.T) {
	t.Setenv("HTTPJOB_PROXY", "p@ss:word")
	t.Setenv("HTTPJOB_WRONG", "wrong")
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(secure.Close)
	address := secure.Listener.Addr().String()
	url, seen := proxy(t, address)
	with := func(secret string) string {
		return strings.Replace(url, "//", "//worker:${env:"+secret+"}@", 1)
	}
	requests := newType(t, httpjob.Options{TLS: map[string]*tls.Config{"test": {RootCAs: pool(secure.Certificate())}}})
	for _, tc := range []struct{ url, proxy, says string }{
		{"http://example.invalid/a?b=c", with("HTTPJOB_PROXY"), ""},
		{secure.URL, with("HTTPJOB_PROXY"), ""},
		{secure.URL, with("HTTPJOB_WRONG"), "Proxy Authentication Required"},
		{secure.URL, "none", ""},
		{secure.URL, "environment", ""}, // loopback has no proxy there
	} {
		p := get(tc.url).with(props{"http.tls": "test", "http.proxy": tc.proxy})
		err := handlerOf(t, requests, p).Execute(t.Context(), sharding())
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s by %s: got %v", tc.url, tc.proxy, err)
		}
	}
	want := []string{
		"GET http://example.invalid/a?b=c worker p@ss:word",
		"CONNECT " + address + " worker p@ss:word",
		"CONNECT " + address + " worker wrong",
	}
	if got := seen(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the proxy got %q, want %q", got, want)
	}
}
