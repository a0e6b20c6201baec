package compress

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Only what is large is compressed, and only for who takes it.
func TestAnswer(t *testing.T) {
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
		Answer(w, r, func(w http.ResponseWriter) {
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

// Each event of a stream can be read as soon as it is written, and all of them are one gzip member. What is no stream stays as it is.
func TestStream(t *testing.T) {
	events := []string{"retry: 2000\n\n", ":\n\n", strings.Repeat("data: much\n\n", 10_000), "data: last\n\n"}
	for _, tt := range []struct {
		accept, contentType string
		isZip               bool
	}{
		{"gzip", "text/event-stream", true},
		{"br", "text/event-stream", false},
		{"gzip", "application/problem+json", false},
	} {
		read := make(chan bool)
		server := httptest.NewServer(Stream(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", tt.contentType)
			for _, event := range events {
				n, err := io.WriteString(w, event)
				if err = errors.Join(err, http.NewResponseController(w).Flush()); n != len(event) || err != nil {
					t.Errorf("%+v: %d, %v", tt, n, err)
				}
				<-read
			}
		})))
		defer server.Close()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", tt.accept)
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body := io.Reader(answer.Body)
		if isZip := answer.Header.Get("Content-Encoding") == "gzip"; isZip != tt.isZip || answer.Header.Get("Vary") == "" {
			t.Errorf("%+v: %v", tt, answer.Header)
		}
		if tt.isZip {
			if body, err = gzip.NewReader(answer.Body); err != nil {
				t.Fatal(err)
			}
		}
		for _, event := range events {
			got := make([]byte, len(event))
			if _, err := io.ReadFull(body, got); err != nil || string(got) != event {
				t.Errorf("%+v: %.20q, %v, want %.20q", tt, got, err, event)
			}
			read <- true
		}
		if rest, err := io.ReadAll(body); len(rest) > 0 || err != nil {
			t.Errorf("%+v: at the end %q, %v", tt, rest, err)
		}
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	Stream(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if err := http.NewResponseController(w).Flush(); !errors.Is(err, http.ErrNotSupported) {
			t.Errorf("no stream: %v", err)
		}
		w.Header().Del("Content-Type")
		http.Error(w, "none", http.StatusInternalServerError)
	})).ServeHTTP(struct{ http.ResponseWriter }{w}, r)
	if w.Body.String() != "none\n" || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("what cannot be streamed: %q, %v", w.Body, w.Header())
	}
}
