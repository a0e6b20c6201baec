//go:build unix

package demo

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// partner is whom HTTP jobs talk to.
type partner struct {
	listener net.Listener
	server   *http.Server
	serving  sync.WaitGroup
}

func startPartner() (*partner, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &partner{listener: l, server: &http.Server{Handler: http.HandlerFunc(answer), ReadHeaderTimeout: 5 * time.Second}}
	p.serving.Go(func() { _ = p.server.Serve(l) }) // it ends with close
	return p, nil
}

// answer is unwell for one minute of three, where that is asked for.
func answer(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/unwell" && time.Now().Minute()%3 == 0 {
		http.Error(w, "the database is being moved", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, `{"accepted": true}`)
}

// URL is where it listens.
func (p *partner) URL() string { return "http://" + p.listener.Addr().String() }

func (p *partner) close() {
	_ = p.server.Close() // nobody needs its last answer
	p.serving.Wait()
}
