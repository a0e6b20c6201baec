package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// billing settles the accounts of cities.
type billing struct {
	out *lines

	mu      sync.Mutex
	refused bool                 // Shanghai, once
	done    map[string]time.Time // when what Guangzhou has begun will be done, by idempotency key
}

// serveBilling starts the server. stop ends it.
func serveBilling(out *lines) (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	b := &billing{out: out, done: map[string]time.Time{}}
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /settle/{city}", b.settle)
	mux.HandleFunc("GET /runs/{key}", b.look)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			out.printf("server: %v", err)
		}
	})
	return "http://" + listener.Addr().String(), func() {
		_ = server.Close() // the example is over
		serving.Wait()
	}, nil
}

// settle takes a request. Shanghai's first one comes at a bad moment. Guangzhou is large, so it
// is settled later.
func (b *billing) settle(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+os.Getenv("BILLING_TOKEN") {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 10_000))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch city := r.PathValue("city"); {
	case city == "Shanghai" && !b.refused:
		b.refused = true
		b.out.printf("server: %s: 503, come back in a second", body)
		w.Header().Set("Retry-After", "1")
		http.Error(w, "busy", http.StatusServiceUnavailable)
	case city == "Guangzhou":
		key := r.Header.Get("Idempotency-Key")
		if _, known := b.done[key]; !known { // the same key begins nothing anew
			b.done[key] = time.Now().Add(1500 * time.Millisecond)
		}
		b.out.printf("server: %s: 202, begun", body)
		w.Header().Set("Location", "/runs/"+key)
		w.WriteHeader(http.StatusAccepted)
	default:
		b.out.printf("server: %s: 200", body)
		_, _ = io.WriteString(w, "settled") // who reads it notices if it fails
	}
}

// look says how far a settlement has come.
func (b *billing) look(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	done, known := b.done[r.PathValue("key")]
	switch {
	case !known:
		http.NotFound(w, r)
	case time.Now().Before(done):
		b.out.printf("server: Guangzhou: 202, not yet")
		w.WriteHeader(http.StatusAccepted)
	default:
		b.out.printf("server: Guangzhou: 200, done")
		_, _ = io.WriteString(w, "settled at last") // who reads it notices if it fails
	}
}
