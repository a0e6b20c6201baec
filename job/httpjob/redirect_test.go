package httpjob_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job/httpjob"
)

// redirects starts a server that redirects n times, from /n to /0.
func redirects(t *testing.T, code int) string {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n, _ := strconv.Atoi(strings.Trim(r.URL.Path, "/")); n > 0 {
			http.Redirect(w, r, "/"+strconv.Itoa(n-1), code)
			return
		}
		body, _ := io.ReadAll(r.Body)
		if r.Method == "PUT" && string(body) != "a=b" || r.Header.Get("X-Item") != "2" || r.Header.Get("Referer") != "" {
			t.Errorf("got %s with %q and %v", r.Method, body, r.Header)
		}
	}).URL
}

func TestRedirects(t *testing.T) {
	for _, tc := range []struct {
		most, path string
		says       string
	}{
		{"10", "/10?key=abc", ""},
		{"10", "/11", "more than 10 redirects (http.redirects)"},
		{"1", "/1", ""},
		{"1", "/2", "more than 1 redirects"},
		{"0", "/1", ""}, // it is an answer, and 302 is a success
	} {
		err := execute(t, get(redirects(t, http.StatusFound)+tc.path).with(props{"http.redirects": tc.most, "http.header.X-Item": "${shardingItem}"}))
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s redirects, %s: got %v", tc.most, tc.path, err)
		}
		if err != nil && !isForGood(t, err) {
			t.Error("it is tried again")
		}
	}
	if err := execute(t, get(redirects(t, http.StatusFound)+"/1").with(props{"http.redirects": "0", "http.success.codes": "200"})); err == nil || !strings.Contains(err.Error(), "status 302 Found") {
		t.Errorf("got %v", err)
	}
	if err := execute(t, get(redirects(t, http.StatusPermanentRedirect)+"/3").with(props{"http.method": "PUT", "http.data": "a=b", "http.header.X-Item": "${shardingItem}"})); err != nil {
		t.Error(err)
	}
}

// Another origin gets neither the headers of the configuration nor the query as a Referer, also
// on the way back; and no body with a secret.
func TestRedirectToAnotherOrigin(t *testing.T) {
	t.Setenv("HTTPJOB_TOKEN", "hunter2")
	secret := props{
		"http.header.Authorization": "Bearer ${env:HTTPJOB_TOKEN}", "http.header.X-Billing-Key": "${env:HTTPJOB_TOKEN}",
		"http.header.Cookie": "${env:HTTPJOB_TOKEN}", "http.header.idempotency-key": "${env:HTTPJOB_TOKEN}",
	}
	var home string
	asked := 0
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), "hunter2") {
				t.Errorf("%s: got %q", name, values)
			}
		}
		if r.Header.Get("shardingContext") == "" {
			t.Error("no sharding context")
		}
		if r.URL.Path == "/back" {
			http.Redirect(w, r, home+"/end", http.StatusTemporaryRedirect)
		}
	}).URL
	home = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/end" {
			if r.Header.Get("X-Billing-Key") != "" {
				t.Error("the header is back")
			}
			return
		}
		if r.Header.Get("X-Billing-Key") != "hunter2" {
			t.Errorf("got %v", r.Header)
		}
		http.Redirect(w, r, other+r.URL.Path, http.StatusTemporaryRedirect)
	}).URL
	for _, path := range []string{"/", "/back"} {
		if err := execute(t, get(home+path+"?key=${env:HTTPJOB_TOKEN}").with(secret)); err != nil {
			t.Error(err)
		}
	}
	if err := execute(t, post(home).with(secret).with(props{"http.data": "a=b"})); err != nil {
		t.Error(err)
	}
	if asked != 3 {
		t.Errorf("asked %d times", asked)
	}
	err := execute(t, post(home).with(secret).with(props{"http.data": "a=${env:HTTPJOB_TOKEN}"}))
	if err == nil || !strings.Contains(err.Error(), "the server redirects a body with a secret in it to "+other) || !isForGood(t, err) || asked != 3 {
		t.Errorf("got %v, asked %d times", err, asked)
	}
}

// The user of the URL goes with redirects and polls within the origin, also if they name none.
func TestUserOfTheURL(t *testing.T) {
	t.Setenv("HTTPJOB_TOKEN", "hunter2")
	asked := 0
	var home string
	home = serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		if user, password, _ := r.BasicAuth(); user != "worker" || password != "hunter2" {
			t.Errorf("%s: got %s, %s", r.URL, user, password)
		}
		switch r.URL.Path {
		case "/start":
			http.Redirect(w, r, home+"/run", http.StatusTemporaryRedirect)
		case "/run":
			w.Header().Set("Location", home+"/poll")
			w.WriteHeader(http.StatusAccepted)
		case "/poll":
			http.Redirect(w, r, "/end", http.StatusSeeOther)
		}
	}).URL
	if err := execute(t, polling(strings.Replace(home, "//", "//worker:${env:HTTPJOB_TOKEN}@", 1))); err != nil || asked != 4 {
		t.Errorf("got %v, asked %d times", err, asked)
	}
}

// What the client says of a redirect does not show where it leads.
func TestRedirectToNoURL(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://%zz/?key=hunter2")
		w.WriteHeader(http.StatusFound)
	}).URL
	if err := execute(t, get(url)); err == nil || !strings.HasSuffix(err.Error(), "the Location of a redirect is no URL") || !isForGood(t, err) {
		t.Errorf("got %v", err)
	}
}

// From https no redirect leads to http.
func TestRedirectWithoutTLS(t *testing.T) {
	plain := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") }).URL
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain, http.StatusFound)
	}))
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	requests := newType(t, httpjob.Options{TLS: map[string]*tls.Config{"test": {RootCAs: roots}}})
	err := handlerOf(t, requests, get(s.URL).with(props{"http.tls": "test"})).Execute(t.Context(), sharding())
	if err == nil || !strings.Contains(err.Error(), "the server leads from https to "+plain) || !isForGood(t, err) {
		t.Errorf("got %v", err)
	}
}
