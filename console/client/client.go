package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/httpx"
)

// Options say who the client is. One of Token and Name is needed, unless HTTP sends something by itself.
type Options struct {
	// Token is one of the API; see AddMyToken.
	Token string
	// Name and Password are sent with each request; a token is faster, and can do less harm.
	Name, Password string
	// HTTP sends requests. Default: a client of its own. It must not have a Timeout, or watches end by it. No redirect is
	// followed, which could take a token elsewhere, or make a change a question, unless its CheckRedirect says so.
	HTTP *http.Client
	// Timeout bounds an attempt, but for watches. Default 60 s: the console has 30 s for a request.
	Timeout time.Duration
	// Insecure allows a token or a password to be sent without TLS to another host than this one.
	Insecure bool
}

// Client is a client of one console. It is safe for use by several goroutines.
type Client struct {
	base    string
	options Options
	http    *http.Client
	strict  bool // tests: a field that no type has is an error
}

// New returns a client of the console at a URL, such as https://console.example.com. It connects to nothing yet.
//
// Errors: one that says what of the URL or the options is wrong.
func New(console string, o Options) (*Client, error) {
	u, err := url.Parse(console)
	if err != nil {
		return nil, fmt.Errorf("client: the console's URL: %w", errors.Unwrap(err)) // without the URL, which may have a password
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, errors.New("client: the console's URL: http or https, a host and perhaps a path are allowed")
	case o.Token != "" && o.Name != "":
		return nil, errors.New("client: a token and a name: one of them is allowed")
	case strings.Contains(o.Name, ":"):
		return nil, errors.New("client: a name has no colon")
	case u.Scheme == "http" && (o.Token != "" || o.Name != "") && !o.Insecure && !httpx.IsLoopback(u.Hostname()):
		return nil, errors.New("client: a token or password needs https; Options.Insecure allows http")
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	c := &Client{base: strings.TrimSuffix(u.String(), "/"), options: o, http: &http.Client{}}
	if o.HTTP != nil {
		*c.http = *o.HTTP
	}
	if c.http.CheckRedirect == nil {
		c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return c, nil
}
