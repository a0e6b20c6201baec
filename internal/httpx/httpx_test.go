package httpx_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/internal/httpx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRetryAfter(t *testing.T) {
	const date, later, earlier = "Fri, 02 Jan 2026 03:04:05 GMT", "Fri, 02 Jan 2026 03:05:05 GMT", "Fri, 02 Jan 2026 03:03:05 GMT"
	for text, want := range map[string]time.Duration{
		"": 0, "30": 30 * time.Second, "-1": 0, "soon": 0, later: time.Minute, earlier: 0, "99999999999": 1 << 30 * time.Second,
	} {
		if got := httpx.RetryAfter(http.Header{"Retry-After": {text}, "Date": {date}}); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	soon := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	if got := httpx.RetryAfter(http.Header{"Retry-After": {soon}}); got < 59*time.Minute || got > time.Hour {
		t.Errorf("without a date: %v", got)
	}
}

// What comes of an exchange never shows the URL, and leads nowhere else.
func TestExchange(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/secret/redirect":
			http.Redirect(w, r, "/secret/long", http.StatusFound)
		case "/secret/long":
			_, _ = io.WriteString(w, strings.Repeat("x", 1000)) // who reads it notices if it fails
		case "/secret/breaks":
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "x")
		default:
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	enough := errors.New("enough")
	for path, want := range map[string]struct {
		status int
		body   string
		err    error
	}{
		"/secret/redirect": {status: http.StatusFound, body: "<a href"},
		"/secret/long":     {status: http.StatusOK, body: "xxxxxxx"},
		"/secret/breaks":   {err: io.ErrUnexpectedEOF},
		"/secret/silent":   {err: enough},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if want.err == enough {
			time.AfterFunc(10*time.Millisecond, func() { cancel(enough) })
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := httpx.Exchange(&http.Transport{DisableKeepAlives: true}, r, 7)
		if !errors.Is(err, want.err) || a.Status != want.status || string(a.Body) != want.body {
			t.Errorf("%s: %d %q, %v", path, a.Status, a.Body, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the URL: %v", path, err)
		}
		cancel(nil)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:1/secret", nil) // a port that nobody is given
	if err != nil {
		t.Fatal(err)
	}
	if _, err := httpx.Exchange(&http.Transport{}, r, 7); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("nobody listens: %v", err)
	}
}
