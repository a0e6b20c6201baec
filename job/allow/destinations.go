package allow

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// keyHosts lists destinations by their names.
const keyHosts = "http.hosts"

// Destination returns ErrNotAllowed if nothing may be sent to a port of a host, as far as its name
// tells: a name may stand for an address in a network that is listed, which [List.Dial] looks at.
func (l *List) Destination(host, port string) error {
	_, isAddress := addressOf(host)
	if l.has(host, port) || !isAddress && len(l.networks) > 0 {
		return nil
	}
	return refused(net.JoinHostPort(host, port), keyHosts)
}

// URL is Destination for the host of a URL.
func (l *List) URL(u *url.URL) error { return l.Destination(u.Hostname(), portOf(u)) }

func refused(what, key string) error { return fmt.Errorf("%s: %w", brief.Quote(what), Refused(key)) }

// has reports whether a destination is listed by its name, or by the address that it is.
func (l *List) has(host, port string) bool {
	if l == nil {
		return true
	}
	if address, is := addressOf(host); is && l.hasAddress(address) {
		return true
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.ContainsFunc(l.of(func(r Rule) []string { return r.Hosts }), func(pattern string) bool {
		name, only, hasPort := strings.Cut(pattern, ":")
		return matches([]string{name}, host) && (!hasPort || only == port)
	})
}

func addressOf(host string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(host)
	return address.WithZone("").Unmap(), err == nil
}

func (l *List) hasAddress(address netip.Addr) bool {
	return slices.ContainsFunc(l.networks, func(network netip.Prefix) bool { return network.Contains(address) })
}

// Dial connects to host:port, if the name or the address behind it is listed.
func (l *List) Dial(ctx context.Context, d net.Dialer, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if err := l.Destination(host, port); err != nil {
		return nil, err
	}
	if !l.has(host, port) {
		d.ControlContext = func(_ context.Context, _, found string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(found)
			if err != nil || !l.hasAddress(at.Addr().WithZone("").Unmap()) {
				return Refused("http.networks")
			}
			return nil
		}
	}
	return d.DialContext(ctx, network, address)
}

// Guard makes a transport, which is not in use yet, connect to what the list has only, also where
// redirects lead to. A proxy of the environment is always allowed, and one of the configuration if it
// is listed. What goes through a proxy has to be listed by its name: the proxy looks the address up.
func (l *List) Guard(t *http.Transport, d net.Dialer) {
	if l == nil {
		t.DialContext = d.DialContext
		return
	}
	var proxies sync.Map // of the environment: host:port
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if _, is := proxies.Load(address); is {
			return d.DialContext(ctx, network, address)
		}
		return l.Dial(ctx, d, network, address)
	}
	proxyOf := t.Proxy
	if proxyOf == nil {
		return
	}
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		proxy, err := proxyOf(r)
		if proxy == nil || err != nil {
			return nil, err
		}
		if !l.has(r.URL.Hostname(), portOf(r.URL)) {
			return nil, refused(r.URL.Host, keyHosts)
		}
		if own, err := http.ProxyFromEnvironment(r); err == nil && own != nil && own.String() == proxy.String() {
			proxies.Store(net.JoinHostPort(proxy.Hostname(), portOf(proxy)), true)
		}
		return proxy, nil
	}
}

// portOf returns the port of a URL, as the client of net/http takes it.
func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
}
