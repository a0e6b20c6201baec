package oidctest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/access/oidc"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

const (
	issuer   = "https://provider.example"
	console  = "https://console.example/jobs"
	callback = console + oidc.CallbackPath
	login    = console + oidc.LoginPath
)

// world is a console and a provider. Requests between them take no network, so they may be in a bubble
// of virtual time.
type world struct {
	t        *testing.T
	provider *provider
	login    *oidc.Login
	began    []began
	refused  []refused
	log      *strings.Builder

	mu     sync.Mutex
	hosts  map[string]http.Handler
	asked  map[string]int      // requests by path, to the provider
	change func(*http.Request) // what happens to requests on their way
}

// began is a session.
type began struct {
	name   string
	grants []access.Grant
}

// refused is a log-in that was refused.
type refused struct{ name, why, from string }

func newWorld(t *testing.T, change ...func(*oidc.Options)) *world {
	t.Helper()
	w := &world{t: t, provider: newProvider(t, issuer, callback, console+"/"), log: &strings.Builder{}, asked: map[string]int{}}
	o := oidc.Options{
		Issuer: issuer, ClientID: clientID, ClientSecret: clientSecret, RedirectURL: callback, Sessions: w,
		Groups: map[string][]access.Grant{
			"ops":    {{Role: access.Operator, Namespaces: []string{"prod"}}},
			"staff":  {{Role: access.Viewer}},
			"nobody": nil,
		},
		Transport: w, Slog: slog.New(slog.NewTextHandler(w.log, nil)),
	}
	for _, c := range change {
		c(&o)
	}
	var err error
	if w.login, err = oidc.New(o); err != nil {
		t.Fatal(err)
	}
	table := &route.Table{
		Who: func(*http.Request) (*access.Principal, error) { return nil, nil },
		Fail: func(rw http.ResponseWriter, _ *http.Request, err error) {
			http.Error(rw, err.Error(), http.StatusTeapot)
		},
	}
	for _, r := range w.login.Routes() {
		if err := table.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	w.hosts = map[string]http.Handler{"provider.example": w.provider, "console.example": http.StripPrefix("/jobs", table)}
	return w
}

// Begin begins a session, which the test remembers.
func (w *world) Begin(rw http.ResponseWriter, _ *http.Request, name string, grants []access.Grant) error {
	w.began = append(w.began, began{name, grants})
	http.SetCookie(rw, &http.Cookie{Name: "session", Value: name, Path: "/", Secure: true, HttpOnly: true})
	return nil
}

// Refused remembers a refusal.
func (w *world) Refused(r *http.Request, name, why string) {
	w.refused = append(w.refused, refused{name, why, w.Address(r).String()})
}

// Address returns where a request comes from.
func (w *world) Address(r *http.Request) netip.Addr {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		w.t.Error(err)
	}
	return from.Addr()
}

// away takes a host off the network, or puts another in its place.
func (w *world) away(host string, instead http.Handler) http.Handler {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.hosts[host]
	w.hosts[host] = instead
	return before
}

// RoundTrip is the network.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	handler, change := w.hosts[r.URL.Host], w.change
	if r.URL.Host == "provider.example" {
		w.asked[r.URL.Path]++
	}
	w.mu.Unlock()
	if handler == nil {
		return nil, errors.New("no route to host")
	}
	var body io.Reader = http.NoBody
	if r.Body != nil {
		body = r.Body
	}
	arriving := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), body)
	arriving.Header = r.Header.Clone()
	if change != nil {
		change(arriving)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, arriving)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	result := answer.Result()
	result.Request = r
	return result, nil
}

// browser is a browser with cookies, which follows redirects between provider and console.
type browser struct {
	*world
	http.Client
}

func (w *world) newBrowser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return &browser{w, http.Client{Jar: jar, Transport: w, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// page is what a browser has got in the end.
type page struct {
	url    string
	status int
	text   string
	header http.Header
}

// open opens a page, and follows redirects until there is none, or one to a place where until holds.
func (b *browser) open(address string, until func(*url.URL) bool) page {
	b.t.Helper()
	for range 10 {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
		if err != nil {
			b.t.Fatal(err)
		}
		answer, err := b.Do(r)
		if err != nil {
			b.t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if err = errors.Join(err, answer.Body.Close()); err != nil {
			b.t.Fatal(err)
		}
		to, err := answer.Location()
		if err != nil {
			return page{address, answer.StatusCode, string(text), answer.Header}
		}
		if until(to) {
			return page{to.String(), answer.StatusCode, string(text), answer.Header}
		}
		address = to.String()
	}
	b.t.Fatal("redirects without end")
	return page{}
}

// logIn logs in, up to the page of the console that follows.
func (b *browser) logIn(query string) page {
	return b.open(login+query, func(to *url.URL) bool {
		return to.Host == "console.example" && !strings.HasPrefix(to.Path, "/jobs/api/")
	})
}

// comeBack logs in, up to the provider's answer: the URL of the callback, which is not opened.
func (b *browser) comeBack() string {
	b.t.Helper()
	p := b.open(login, func(to *url.URL) bool { return strings.HasSuffix(to.Path, oidc.CallbackPath) })
	if !strings.HasPrefix(p.url, callback) {
		b.t.Fatalf("the provider did not send back: %d %s", p.status, p.text)
	}
	return p.url
}

// follow opens one page.
func (b *browser) follow(address string) page {
	return b.open(address, func(*url.URL) bool { return true })
}

func anywhere(*url.URL) bool { return true }
