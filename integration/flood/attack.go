//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// met is what the attackers got.
type met struct{ streams, connections, bodies, guesses, changes int64 }

func (m met) String() string {
	return fmt.Sprintf("%d streams opened, %d slow connections, %d slow bodies, %d guesses answered, %d changes", m.streams, m.connections, m.bodies, m.guesses, m.changes)
}

// attack begins the attack. end ends it, and returns what it met.
func (t *town) attack(ctx context.Context, p plan) (end func() met) {
	ctx, cancel := context.WithCancel(ctx)
	var attackers sync.WaitGroup
	var streams, connections, bodies, guesses, changes atomic.Int64
	// again repeats something until the end; what is refused comes again after a second.
	again := func(n int, what func(ctx context.Context, i int)) {
		for i := range n {
			attackers.Go(func() {
				for ctx.Err() == nil {
					what(ctx, i)
					sleep.For(ctx, time.Second)
				}
			})
		}
	}
	again(p.streams, func(ctx context.Context, i int) { t.stream(ctx, from(1, i/1000), viewer(i), &streams) })
	again(p.connections, func(ctx context.Context, i int) {
		t.trickle(ctx, from(2, i/100), "GET / HTTP/1.1\r\nHost: console\r\nX-Slow: ", &connections)
	})
	again(p.bodies, func(ctx context.Context, i int) {
		t.trickle(ctx, from(3, i%4), "POST /api/v1/login HTTP/1.1\r\nHost: "+t.address+"\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", &bodies)
	})
	again(p.guesses, func(ctx context.Context, i int) { t.guess(ctx, from(4, i), &guesses) })
	noisy := t.client("noisy")
	again(min(p.guesses, 1), func(ctx context.Context, _ int) {
		for err := error(nil); err == nil; {
			if _, err = noisy.ask(ctx, "POST", "/jobs/noise/pause"); err == nil {
				_, err = noisy.ask(ctx, "POST", "/jobs/noise/resume")
				changes.Add(2)
			}
		}
	})
	return func() met {
		cancel()
		attackers.Wait()
		noisy.http.CloseIdleConnections()
		return met{streams.Load(), connections.Load(), bodies.Load(), guesses.Load(), changes.Load()}
	}
}

// from is an address of a group of attackers.
func from(group, i int) net.Dialer {
	return net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, byte(group), byte(i/250), byte(1+i%250))}, Timeout: 10 * time.Second}
}

// stream follows the jobs until it is ended.
func (t *town) stream(ctx context.Context, d net.Dialer, user string, opened *atomic.Int64) {
	conn, err := d.DialContext(ctx, "tcp", t.address)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }() // nothing is lost
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	fmt.Fprintf(conn, "GET /api/v1/namespaces/%s/watch HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAccept: text/event-stream\r\n\r\n", namespace, t.address, t.tokens[user])
	answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		return
	}
	opened.Add(1)
	_, _ = io.Copy(io.Discard, answer.Body) // until one of both ends it
}

// trickle sends a beginning, and then a byte each second.
func (t *town) trickle(ctx context.Context, d net.Dialer, beginning string, sent *atomic.Int64) {
	conn, err := d.DialContext(ctx, "tcp", t.address)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }() // nothing is lost
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	for text := beginning; ; text = " " {
		if _, err := conn.Write([]byte(text)); err != nil {
			return
		}
		if text == beginning {
			sent.Add(1)
		}
		if !sleep.For(ctx, time.Second) {
			return
		}
	}
}

// guess tries a password of the honest user.
func (t *town) guess(ctx context.Context, d net.Dialer, answered *atomic.Int64) {
	client := http.Client{Transport: &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true}, Timeout: 10 * time.Second}
	r, err := http.NewRequestWithContext(ctx, "POST", "http://"+t.address+"/api/v1/login", strings.NewReader(`{"user":"honest","password":"a wrong password"}`))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(r)
	if err != nil {
		return
	}
	_ = answer.Body.Close() // only that there is an answer counts
	answered.Add(1)
}
