package access

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
)

// Proxy says which proxies are trusted, and with what. They must take away what a client has sent of these headers:
// X-Forwarded-For they may add to.
type Proxy struct {
	// From are the addresses of the proxies. From them alone come X-Forwarded-For, which says where a client is,
	// X-Forwarded-Proto, and the headers below.
	From []netip.Prefix
	// User is the header with the name of who is logged in at the proxy: X-Forwarded-User. Empty: none is believed.
	// A user of the users file has his grants there. A request with this header from elsewhere is refused.
	User string
	// Groups is the header with the names of his groups, with commas between them: X-Forwarded-Groups.
	Groups string
	// Grants are what the members of a group may do, beside what the users file says.
	Grants map[string][]Grant
}

func (p *Proxy) prepare() error {
	for group, grants := range p.Grants {
		if err := ValidateGrants(grants); err != nil {
			return fmt.Errorf("group %q: %w", group, err)
		}
	}
	for _, header := range []string{p.User, p.Groups} {
		if header != "" && !regexp.MustCompile(`^[A-Za-z0-9-]{1,100}$`).MatchString(header) {
			return fmt.Errorf("%q is no name of a header", header)
		}
	}
	for _, from := range p.From {
		if !from.IsValid() {
			return errors.New("From has a prefix that is none")
		}
	}
	switch {
	case p.User != "" && len(p.From) == 0:
		return fmt.Errorf("header %s is believed from nobody: From is empty", p.User)
	case p.Groups != "" && p.User == "":
		return fmt.Errorf("header %s without one for the user: User is empty", p.Groups)
	case len(p.Grants) > 0 && p.Groups == "":
		return errors.New("groups have grants, and no header has groups: Groups is empty")
	}
	return nil
}

func (p *Proxy) trusts(a netip.Addr) bool {
	for _, prefix := range p.From {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// peer is the address at the other end of the connection.
func peer(r *http.Request) netip.Addr { return address(r.RemoteAddr) }

// address reads an address with or without a port; the zero address is none.
func address(text string) netip.Addr {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().WithZone("")
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

// Address returns where a request comes from: the peer, or if that is a trusted proxy, the last address in
// X-Forwarded-For that is not one. What stands before that, anybody can have written. The header Forwarded does not
// count.
func (c *Control) Address(r *http.Request) netip.Addr {
	const most = 32 // hops
	at := peer(r)
	if !c.o.Proxy.trusts(at) {
		return at
	}
	rest := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
	for range most {
		if rest == "" {
			break
		}
		i := strings.LastIndexByte(rest, ',')
		hop := address(strings.TrimSpace(rest[i+1:]))
		if !hop.IsValid() {
			break
		}
		if at = hop; !c.o.Proxy.trusts(at) {
			break
		}
		rest = rest[:max(i, 0)]
	}
	return at
}

// names returns the user and the groups in the headers of a request; an empty name if there is none.
func (p *Proxy) names(r *http.Request) (name string, groups []string, err error) {
	if p.User == "" {
		return "", nil, nil
	}
	given := r.Header.Values(p.User)
	switch {
	case len(given) == 0:
		return "", nil, nil
	case !p.trusts(peer(r)):
		return "", nil, fmt.Errorf("%w: header %s comes from an address that is not trusted", ErrRefused, p.User)
	case len(given) > 1:
		return "", nil, fmt.Errorf("%w: header %s is there %d times", ErrRefused, p.User, len(given))
	case checkIdentity(given[0]) != nil:
		return "", nil, fmt.Errorf("%w: header %s has no name that can be used", ErrRefused, p.User)
	}
	if p.Groups != "" {
		for group := range strings.SplitSeq(strings.Join(r.Header.Values(p.Groups), ","), ",") {
			groups = append(groups, strings.TrimSpace(group))
		}
	}
	return given[0], groups, nil
}

// isTLS reports whether a trusted proxy says that the client has sent a request by TLS.
func (p *Proxy) isTLS(r *http.Request) bool {
	all := r.Header.Values("X-Forwarded-Proto")
	if len(all) == 0 || !p.trusts(peer(r)) {
		return false
	}
	last := all[len(all)-1]
	return strings.EqualFold(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:]), "https")
}
