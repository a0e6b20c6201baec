package guard

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// Without Options.Limits a console bounds what it says that it does.
func TestDefaultSizes(t *testing.T) {
	s := newStand(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			http.Error(w, err.Error(), route.Status(err))
		}
	})
	const url, header, body = 8 << 10, 32 << 10, 1 << 20
	for more, want := range map[int][3]int{0: {200, 200, 200}, 1: {431, 431, 413}} {
		inParts := httptest.NewRequest("POST", "/do", strings.NewReader(strings.Repeat("x", body+more)))
		inParts.ContentLength = -1
		for i, r := range []*http.Request{
			request("GET", "/do?"+strings.Repeat("x", url+more-len("/do?"))),
			request("GET", "/do", "X", strings.Repeat("x", header+more-1)),
			inParts,
		} {
			if got := s.ask(r).StatusCode; got != want[i] {
				t.Errorf("%d and %d more: %d, want %d", i, more, got, want[i])
			}
		}
	}
}

func TestDefaultNumbers(t *testing.T) {
	s := newStand(t, Options{Address: func(r *http.Request) netip.Addr { return netip.MustParseAddr(r.Header.Get("From")) }}, nothing)
	for path, tt := range map[string]struct {
		*places
		each, all int
	}{"/do": {&s.requests, 128, 512}, "/stream": {&s.streams, 1000, 2000}} {
		want := func(from string, want int) {
			t.Helper()
			if got := s.ask(request("GET", path, "From", from)).StatusCode; got != want {
				t.Errorf("%s from %s, of %d: %d, want %d", path, from, tt.used, got, want)
			}
		}
		// As if requests were under way, all but one that an address may have, and then all.
		for i := range tt.all {
			from := netip.AddrFrom4([4]byte{10, 0, 0, byte(i / tt.each)})
			if i == tt.each-1 || i == tt.all-1 {
				want(from.String(), http.StatusOK)
			}
			if _, err := tt.take(network(from)); err != nil {
				t.Fatal(err)
			}
			if i == tt.each-1 {
				want(from.String(), http.StatusTooManyRequests)
				want("::ffff:"+from.String(), http.StatusTooManyRequests) // the same
			}
		}
		want("192.0.2.2", http.StatusServiceUnavailable)
	}
}
