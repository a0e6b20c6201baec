package access

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Names of what a request is known by.
const (
	// TokenHeader has the value of a session: ElasticJob's later UI sends it.
	TokenHeader = "Access-Token"
	cookieName  = "elasticjob"
	// A browser takes a cookie of this prefix only by TLS, for all paths of one host, and from nobody else.
	secureCookieName = "__Host-" + cookieName
)

// Authenticate returns who sends a request; nil if it does not say. It looks at these, and the first one that there is
// counts, even if it is wrong:
//
//	Authorization: Bearer   an API token
//	Access-Token            a session, as ElasticJob's later UI sends it
//	Authorization: Basic    name and password, as for ElasticJob 2
//	the cookie              a session
//	a trusted proxy's header
//
// Errors: ErrRefused; ErrLimited, as a LimitError; ErrBusy; the cause of the request's context.
func (c *Control) Authenticate(r *http.Request) (*Principal, error) { return c.who(r, true) }

// Again is Authenticate for a request that is still being answered: it does not count as a use of the session or the
// token. A stream asks it every few seconds, and ends when it returns nobody or an error.
func (c *Control) Again(r *http.Request) (*Principal, error) { return c.who(r, false) }

func (c *Control) who(r *http.Request, isUse bool) (*Principal, error) {
	p, err := c.known(r, isUse)
	if p != nil {
		p.Address = text(c.Address(r))
	}
	return p, err
}

func (c *Control) known(r *http.Request, isUse bool) (*Principal, error) {
	given := r.Header.Values("Authorization")
	if len(given) > 1 {
		return nil, fmt.Errorf("%w: header Authorization is there %d times", ErrRefused, len(given))
	}
	scheme, credentials := "", ""
	if len(given) == 1 {
		scheme, credentials, _ = strings.Cut(given[0], " ")
	}
	value := r.Header.Get(TokenHeader)
	switch {
	case strings.EqualFold(scheme, "Bearer"):
		return c.byToken(r, strings.TrimSpace(credentials), isUse)
	case value != "":
		return c.bySession(value, false, isUse)
	case strings.EqualFold(scheme, "Basic"):
		return c.byPassword(r)
	case scheme != "":
		return nil, fmt.Errorf("%w: header Authorization: allowed are Bearer and Basic", ErrRefused)
	}
	if cookies := r.CookiesNamed(c.cookieName(r)); len(cookies) > 0 {
		return c.byCookie(cookies, isUse)
	}
	return c.byProxy(r)
}

func (c *Control) byToken(r *http.Request, secret string, isUse bool) (*Principal, error) {
	roster := c.users.roster()
	refuse := func(t owned, why string) (*Principal, error) {
		err := fmt.Errorf("%w: %s", ErrRefused, why)
		c.refused(LogInRefused, t.user, t.name, c.Address(r), err)
		return nil, err
	}
	t, ok := roster.tokens[tokenHash(secret)] // looked up by its hash, so how long that takes tells nothing of others
	switch {
	case !ok:
		return refuse(t, "the token is unknown, or was revoked")
	case t.token.isExpired(time.Now()):
		return refuse(t, "the token has expired")
	case roster.users.Users[t.user].Disabled:
		return refuse(t, "the user of the token is disabled")
	}
	if isUse {
		c.uses.note(t.token.ID())
	}
	p := &Principal{Name: fmt.Sprintf("%s (token %s)", t.user, t.name), Key: "token:" + t.token.ID(), User: t.user, Token: t.name}
	p.Grants = roster.users.Users[t.user].Grants
	if len(t.token.Grants) > 0 {
		p.Within = t.token.Grants
	}
	return p, nil
}

func (c *Control) byPassword(r *http.Request) (*Principal, error) {
	name, password, ok := r.BasicAuth()
	if !ok {
		return nil, fmt.Errorf("%w: header Authorization cannot be read", ErrRefused)
	}
	user, key, err := c.check(r.Context(), name, password, c.Address(r))
	if err != nil {
		return nil, err
	}
	return &Principal{Name: name, Key: key, User: name, Session: true, Grants: user.Grants}, nil // browsers send Basic by themselves, too
}

// errOver says nothing of why: a session that never was looks like one that is over.
var errOver = fmt.Errorf("%w: the session is over: log in again", ErrRefused)

// byCookie takes the first cookie that is a session. There may be others of the same name, for other paths.
func (c *Control) byCookie(cookies []*http.Cookie, isUse bool) (*Principal, error) {
	const most = 4
	for _, cookie := range cookies[:min(len(cookies), most)] {
		if p, err := c.bySession(cookie.Value, true, isUse); err == nil {
			return p, nil
		}
	}
	return nil, errOver
}

func (c *Control) bySession(value string, isCookie, isUse bool) (*Principal, error) {
	if err := c.stored.read(); err != nil {
		c.fault("sessions", err)
	}
	s, ok := c.sessions.find(value, isUse)
	if !ok {
		return nil, errOver
	}
	r := c.users.roster()
	if !r.has(s) {
		c.sessions.end(s.Key)
		return nil, errOver
	}
	p := &Principal{Name: s.User, Key: s.Key, User: s.Account, Session: isCookie, Grants: s.Grants}
	if s.Account != "" {
		p.Grants = r.users.Users[s.Account].Grants
	}
	return p, nil
}

// byProxy returns whom a trusted proxy names.
func (c *Control) byProxy(r *http.Request) (*Principal, error) {
	name, groups, err := c.o.Proxy.names(r)
	if err != nil {
		c.refused(LogInRefused, "", "", c.Address(r), err)
		return nil, err
	}
	if name == "" {
		return nil, nil
	}
	p := &Principal{Name: "proxy:" + name, Key: "proxy:" + name, Session: true}
	if user := c.users.roster().users.Users[name]; user != nil {
		if user.Disabled {
			err := fmt.Errorf("%w: user %s is disabled", ErrRefused, brief.Quote(name))
			c.refused(LogInRefused, name, "", c.Address(r), err)
			return nil, err
		}
		p.Name, p.User, p.Grants = name, name, clone(user.Grants)
	}
	for _, group := range groups {
		p.Grants = append(p.Grants, c.o.Proxy.Grants[group]...)
	}
	return p, nil
}

// Cookie returns the cookie that a browser gets after a log-in by a request.
func (c *Control) Cookie(r *http.Request, s Session) *http.Cookie {
	cookie := c.cookie(r)
	cookie.Value = s.value
	return cookie
}

// NoCookie returns the cookie that takes the session's one away.
func (c *Control) NoCookie(r *http.Request) *http.Cookie {
	cookie := c.cookie(r)
	cookie.MaxAge = -1
	return cookie
}

// cookie is one for the time until the browser ends: the session on the server may end before. SameSite is Lax, for
// the way back from a provider is a request from another site; unsafe methods of other sites get no cookie with it,
// and are refused anyway.
func (c *Control) cookie(r *http.Request) *http.Cookie {
	return &http.Cookie{Name: c.cookieName(r), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.isSecure(r)}
}

// cookieName has the port by which the browser calls the console, unless it is the default one: cookies are those of a host, and
// another console may be at another port of it.
func (c *Control) cookieName(r *http.Request) string {
	name := cookieName
	if c.isSecure(r) {
		name = secureCookieName
	}
	if port := (&url.URL{Host: r.Host}).Port(); port != "" {
		name += "-" + port
	}
	return name
}

func (c *Control) isSecure(r *http.Request) bool {
	return c.o.Secure || r.TLS != nil || c.o.Proxy.isTLS(r)
}
