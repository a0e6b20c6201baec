package guard

import (
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// check returns what is wrong with a request, whoever has sent it.
func (g *Guard) check(asked *route.Route, r *http.Request) error {
	if err := g.checkLength(r); err != nil {
		return err
	}
	if len(g.hosts) > 0 && !asked.Probe && !g.hosts[canonicalHost(r.Host)] {
		return route.ErrHost
	}
	if carriesToken(r) {
		return nil
	}
	if err := g.origins.Check(r); err != nil {
		return fmt.Errorf("%w: %w", route.ErrOrigin, err)
	}
	return nil
}

func (g *Guard) checkLength(r *http.Request) error {
	if most := g.o.Limits.URL; len(r.RequestURI) > most {
		return fmt.Errorf("%w: %d bytes of path and query; allowed are %d", route.ErrTooLong, len(r.RequestURI), most)
	}
	size := 0
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	if most := g.o.Limits.Header; size > most {
		return fmt.Errorf("%w: %d bytes of headers; allowed are %d", route.ErrTooLong, size, most)
	}
	if most := g.o.Limits.Body; r.ContentLength > most {
		return fmt.Errorf("%w: %d bytes; allowed are %d", route.ErrTooLarge, r.ContentLength, most)
	}
	return nil
}

// carriesToken reports whether a request has a credential that no browser adds by itself. A page of
// another site cannot add it either: for such headers the browser asks first, and the console allows nobody.
func carriesToken(r *http.Request) bool {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") || r.Header.Get("Access-Token") != ""
}

// canonicalHost returns a host without its port.
func canonicalHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
