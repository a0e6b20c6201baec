package httpjob

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"
)

// link is what connections must have in common to be kept together.
type link struct {
	tls, proxy string
	connect    time.Duration
	allow      string // the rules by which they were made
}

// Bounds of what is kept. Servers close idle connections after a while, and a request that is
// sent at that moment fails; so they are closed here before most servers do.
const (
	maxTransports = 64
	maxIdle       = 256
	maxIdlePerKey = 64
	idleTimeout   = 30 * time.Second
	pingAfter     = 15 * time.Second
	maxHeader     = 256 << 10
)

// transport returns the connections of a link.
func (t *Type) transport(l link, w worker) (*http.Transport, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, ErrClosed
	}
	if known, ok := t.transports[l]; ok {
		return known, nil
	}
	made, err := w.connect(l)
	if err != nil {
		return nil, err
	}
	for other, transport := range t.transports {
		if len(t.transports) < maxTransports {
			break
		}
		transport.CloseIdleConnections()
		delete(t.transports, other)
	}
	t.transports[l] = made
	return made, nil
}

// proxyOf returns which proxy a request goes through.
func proxyOf(text string) (func(*http.Request) (*url.URL, error), error) {
	switch text {
	case proxyNone:
		return nil, nil
	case proxyEnvironment:
		return http.ProxyFromEnvironment, nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("http.proxy: it is no URL with its references") // err shows it
	}
	return http.ProxyURL(u), nil
}

// connect makes what opens and keeps the connections of a link. A dial goes on when its
// request has ended, so it has time-outs of its own. They come later than that of the request,
// whose error says which property it is.
func (w worker) connect(l link) (*http.Transport, error) {
	bound := l.connect + time.Second
	proxy, err := proxyOf(l.proxy)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:                  proxy,
		TLSClientConfig:        w.tls[l.tls].Clone(),
		TLSHandshakeTimeout:    bound,
		ForceAttemptHTTP2:      true, // a dialer of one's own turns it off
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter},
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerKey,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeader,
	}
	w.allow.Guard(transport, net.Dialer{Timeout: bound})
	return transport, nil
}
