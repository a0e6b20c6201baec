package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
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
	case u.Scheme == "http" && (o.Token != "" || o.Name != "") && !o.Insecure && !isHere(u.Hostname()):
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

// isHere reports whether a host is this one.
func isHere(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// maxAnswer bounds an answer, in bytes. The largest are dumps, of 16 MiB.
const maxAnswer = 64 << 20

// call is a request, and what is expected.
type call struct {
	method string
	path   []string // below /api/v1
	query  url.Values
	header map[string]string
	body   any // nil is none
	out    any // nil is none; *[]byte is the answer as it is
	etag   *string
	isSafe bool // to be sent again, although it is no GET
}

// Pauses between attempts. Each is drawn between half of it and all.
const (
	attempts   = 4
	firstPause = 200 * time.Millisecond
	lastPause  = 30 * time.Second // also of what a console asks for
)

// do sends a request, again and again if that is safe and may help, and reads the answer.
func (c *Client) do(ctx context.Context, a call) error {
	body, err := a.content()
	if err != nil {
		return err
	}
	pause := firstPause
	for attempt := 1; ; attempt++ {
		err = c.once(ctx, a, body)
		if err == nil || attempt == attempts || !(a.isSafe || a.method == http.MethodGet) || ctx.Err() != nil || !mayHelp(err) {
			return err
		}
		wait := pause/2 + mathrand.N(pause/2)
		if e, ok := errors.AsType[*Error](err); ok {
			wait = max(wait, min(e.RetryAfter, lastPause))
		}
		if !rest(ctx, wait) {
			return err
		}
		pause = min(2*pause, lastPause)
	}
}

// rest waits. It reports false if ctx ends before.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// mayHelp reports whether another attempt may succeed.
func mayHelp(err error) bool {
	if errors.Is(err, errAnswer) {
		return false
	}
	e, isAnswer := errors.AsType[*Error](err)
	if !isAnswer {
		return true // no answer came
	}
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return e.Code == "busy"
}

func (a call) content() ([]byte, error) {
	if a.body == nil {
		return nil, nil
	}
	body, err := json.Marshal(a.body)
	if err != nil {
		return nil, fmt.Errorf("client: %s: %w", a.name(), err)
	}
	return body, nil
}

func (a call) name() string { return a.method + " /" + strings.Join(a.path, "/") }

// errAnswer: an answer is not what the API gives; asking again gives the same.
var errAnswer = errors.New("this is no answer of the API")

func (c *Client) once(ctx context.Context, a call, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	r, err := c.request(ctx, a, body)
	if err != nil {
		return err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("client: %s: %w", a.name(), withoutURL(err))
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return fmt.Errorf("client: %s: %w", a.name(), err)
	}
	if len(text) > maxAnswer {
		return fmt.Errorf("client: %s: %w: more than %d bytes", a.name(), errAnswer, maxAnswer)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return errorOf(a.name(), answer, text)
	}
	if a.etag != nil {
		*a.etag = answer.Header.Get("ETag")
	}
	if out, isRaw := a.out.(*[]byte); isRaw {
		*out = text
		return nil
	}
	if a.out == nil {
		return nil
	}
	if err := c.decode(text, a.out); err != nil {
		return fmt.Errorf("client: %s: %w: %w", a.name(), errAnswer, err)
	}
	return nil
}

func (c *Client) decode(text []byte, out any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if c.strict {
		d.DisallowUnknownFields()
	}
	return d.Decode(out)
}

// withoutURL returns the error of a request without its URL, which is long, and said already.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func (c *Client) request(ctx context.Context, a call, body []byte) (*http.Request, error) {
	address := c.base + "/api/v1"
	for _, segment := range a.path {
		if segment == "" || segment == "." || segment == ".." {
			return nil, fmt.Errorf("client: %s: a name is empty, or no name", a.name())
		}
		address += "/" + strings.ReplaceAll(url.PathEscape(segment), "%3A", ":")
	}
	if len(a.query) > 0 {
		address += "?" + a.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, a.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("client: %s: %w", a.name(), err)
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range a.header {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	switch {
	case c.options.Token != "":
		r.Header.Set("Authorization", "Bearer "+c.options.Token)
	case c.options.Name != "":
		r.SetBasicAuth(c.options.Name, c.options.Password)
	}
	return r, nil
}

// get asks for something.
func get[T any](ctx context.Context, c *Client, query url.Values, path ...string) (T, error) {
	var out T
	err := c.do(ctx, call{method: http.MethodGet, path: path, query: query, out: &out})
	return out, err
}

// newKey returns a key that nobody else has.
func newKey() string { return rand.Text() }

// values are the parameters of a question: those that are not zero.
type values struct{ url.Values }

func query() values { return values{url.Values{}} }

func (v values) text(name, value string) values {
	if value != "" {
		v.Set(name, value)
	}
	return v
}

func (v values) number(name string, value int) values {
	if value != 0 {
		v.Set(name, strconv.Itoa(value))
	}
	return v
}

func (v values) flag(name string, value bool) values {
	if value {
		v.Set(name, "true")
	}
	return v
}

func (v values) time(name string, value time.Time) values {
	if !value.IsZero() {
		v.Set(name, value.Format(time.RFC3339Nano))
	}
	return v
}

func list[T any](v values, name string, items []T) values {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = fmt.Sprint(item)
	}
	return v.text(name, strings.Join(texts, ","))
}
