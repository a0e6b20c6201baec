package api

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Only what is large is compressed, and only for who takes it.
func TestCompressing(t *testing.T) {
	small, large := "little", strings.Repeat("much ", 10_000)
	for _, tt := range []struct {
		method, accept string
		answer         []string
		isZip          bool
	}{
		{"GET", "gzip, deflate, br", []string{large}, true},
		{"GET", "br;q=1.0, GZIP ; q=0.5", []string{large}, true},
		{"GET", "gzip", []string{large, small, large}, true},
		{"GET", "gzip", []string{small, large}, false},
		{"GET", "gzip", []string{small}, false},
		{"GET", "gzip", nil, false},
		{"GET", "gzip;q=0", []string{large}, false},
		{"GET", "gzip; q=0.000", []string{large}, false},
		{"GET", "deflate, *", []string{large}, false},
		{"GET", "", []string{large}, false},
		{"POST", "gzip", []string{large}, false},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(tt.method, "/", nil)
		r.Header.Set("Accept-Encoding", tt.accept)
		Compressing(w, r, func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusTeapot)
			for _, part := range tt.answer {
				if n, err := io.WriteString(w, part); n != len(part) || err != nil {
					t.Errorf("%+.50v: %d, %v", tt, n, err)
				}
			}
		})
		answer := w.Result()
		body, err := io.Reader(answer.Body), error(nil)
		if tt.isZip {
			if body, err = gzip.NewReader(answer.Body); err != nil {
				t.Fatalf("%s %q: %v", tt.method, tt.accept, err)
			}
		}
		got, err := io.ReadAll(body)
		if err != nil || string(got) != strings.Join(tt.answer, "") || answer.StatusCode != http.StatusTeapot {
			t.Errorf("%s %q: %d, %d bytes, %v", tt.method, tt.accept, answer.StatusCode, len(got), err)
		}
		if isZip := answer.Header.Get("Content-Encoding") == "gzip"; isZip != tt.isZip || (answer.Header.Get("Vary") != "") != (tt.method == "GET") {
			t.Errorf("%s %q: %v", tt.method, tt.accept, answer.Header)
		}
	}
}
