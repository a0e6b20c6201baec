package alert

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/httpx"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/allow"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64 << 10

// maxMilliseconds bounds the time-outs.
const maxMilliseconds = 300_000

// The last parts of the names of properties that senders over HTTP have.
const (
	propConnect = "connectTimeoutMilliseconds"
	propRead    = "readTimeoutMilliseconds"
	propTLS     = "tls"
)

// postRows are the rows that all senders over HTTP have.
func postRows(prefix string) []property.Row {
	return []property.Row{
		{Name: prefix + propConnect, Default: "3000", Check: property.Integer(1, maxMilliseconds), Meaning: "bounds the time to connect, and that of the TLS handshake"},
		{Name: prefix + propRead, Default: "5000", Check: property.Integer(1, maxMilliseconds), Meaning: "bounds the time from then to the end of the answer"},
		{Name: prefix + propTLS, Check: property.Length(255), Meaning: "the name of a configuration in Options.TLS"},
	}
}

// webhookRow is the URL of a messenger: it holds the token.
func webhookRow(name string) property.Row {
	return property.Row{Name: name, Required: true, Secret: true, Check: webAddress(), Meaning: "the URL, with a reference for its token or for all of it"}
}

// webAddress allows texts that begin like a URL, or with a reference.
func webAddress() property.Check {
	const allowed = "an absolute URL with http or https, or a reference to one, is allowed"
	return property.Check{Allowed: "an absolute URL with http or https is", Accept: func(text string) error {
		if strings.HasPrefix(text, "${") && len(text) <= maxURL {
			return nil
		}
		if len(text) > maxURL || property.URL("http", "https").Accept(text) != nil {
			return errors.New(allowed)
		}
		return nil
	}}
}

const maxURL = 4096

// post sends requests. A request has a connection of its own: there are few of them, and
// nothing is left behind when nothing is to be sent.
type post struct {
	url           string // with references
	method        string
	headers       []property.Pair                             // with references
	sign          func(s *property.Secrets, u *url.URL) error // may change the URL; nil: it stays
	connect, read time.Duration
	tls           *tls.Config
	allow         *allow.List
	lookup        property.Lookup
}

// postOf reads the rows of postRows, and the URL.
func postOf(v property.Values, o Options, urlName, prefix string) (post, error) {
	conf, err := TLSByName(v, o, prefix+propTLS)
	if err != nil {
		return post{}, err
	}
	// The text was checked, and its references were, too.
	if text, err := property.Expand(v.Text(urlName), o.Lookup); err == nil {
		if u, err := url.Parse(strings.TrimSpace(text)); err == nil && o.Allow.URL(u) != nil {
			return post{}, &job.FieldError{Field: "props: " + urlName, Err: fmt.Errorf("its host: %w", allow.Refused("http.hosts"))} // it may be secret
		}
	}
	return post{
		url: v.Text(urlName), method: http.MethodPost, tls: conf, allow: o.Allow, lookup: o.Lookup,
		headers: []property.Pair{{Name: "Content-Type", Value: "application/json; charset=utf-8"}},
		connect: v.Milliseconds(prefix + propConnect), read: v.Milliseconds(prefix + propRead),
	}, nil
}

// TLSByName returns the configuration in Options.TLS that a property names, for a [Kind]; nil
// if it names none.
func TLSByName(v property.Values, o Options, name string) (*tls.Config, error) {
	text := v.Text(name)
	if text == "" {
		return nil, nil
	}
	conf, ok := o.TLS[text]
	if !ok || conf == nil {
		return nil, &job.FieldError{Field: "props: " + name, Err: fmt.Errorf("%s is not known here: Options.TLS names configurations", brief.Quote(text))}
	}
	return conf, nil
}

// answer is what a receiver has answered, with the secrets that it may repeat.
type answer struct {
	httpx.Answer
	secrets *property.Secrets
}

// send sends a body, and returns the answer, whatever its status. The error shows no secrets,
// and no URL.
func (p post) send(ctx context.Context, secrets *property.Secrets, body []byte) (answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*p.connect+p.read, errors.New("the receiver takes too long"))
	defer cancel()
	req, err := p.request(ctx, secrets, body)
	if err != nil {
		return answer{}, err
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		TLSClientConfig:        p.tls.Clone(),
		TLSHandshakeTimeout:    p.connect,
		MaxResponseHeaderBytes: maxAnswer,
		DisableKeepAlives:      true,
	}
	p.allow.Guard(transport, net.Dialer{Timeout: p.connect})
	a, err := httpx.Exchange(transport, req, maxAnswer)
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok || errors.Is(err, allow.ErrNotAllowed) {
		return answer{}, Permanent(secrets.Error(err))
	}
	if err != nil {
		return answer{}, secrets.Error(err)
	}
	return answer{a, secrets}, nil
}

func (p post) request(ctx context.Context, secrets *property.Secrets, body []byte) (*http.Request, error) {
	text, err := secrets.Expand(p.url)
	if err != nil {
		return nil, fmt.Errorf("the URL: %w", err)
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, Permanent(errors.New("the URL, with its references, is not an absolute one with http or https"))
	}
	secrets.KeepURL(u)
	if p.sign != nil {
		if err := p.sign(secrets, u); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, p.method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, Permanent(errors.New("no request can be made of the URL and the method"))
	}
	for _, h := range p.headers {
		value, err := secrets.Expand(h.Value)
		if err != nil {
			return nil, fmt.Errorf("the header %s: %w", brief.Quote(h.Name), err)
		}
		req.Header.Set(h.Name, value)
	}
	return req, nil
}

// refused returns the error of an answer that is not the one hoped for. Whether another
// attempt may help depends on its status.
func (a answer) refused() error {
	err := fmt.Errorf("the receiver answered %d: %s", a.Status, a.text())
	switch {
	case a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable:
		return RetryAfter(err, httpx.RetryAfter(a.Header))
	case a.Status >= 500 || a.Status == http.StatusRequestTimeout || a.Status == http.StatusTooEarly:
		return err
	}
	return Permanent(err)
}

// text returns the beginning of the answer, for people.
func (a answer) text() string { return brief.Quote(a.secrets.Hide(string(a.Body))) }
