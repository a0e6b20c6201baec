package httpjob

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// message is a request that may be sent several times.
type message struct {
	method string
	url    *url.URL
	header http.Header
	host   string // empty: that of the URL
	body   []byte
	values *filler // knows what is secret in a URL
	// origin is where the configuration sends the request. The headers of own, and a body with
	// something secret, go nowhere else.
	origin     *url.URL
	own        []string
	secretBody bool
	// repeatable is whether it may be sent again after the server may have got it.
	repeatable bool
}

// set sets a header. ElasticJob's keeps its spelling.
//
// The client of net/http sends any request again that has the header Idempotency-Key, by that
// spelling. Whether this may be done is for the properties to say, so the spelling is another.
// Names of headers are the same in any spelling.
func (m *message) set(name, value string) {
	switch http.CanonicalHeaderKey(name) {
	case "Host":
		m.host = value
		return
	case "Idempotency-Key", "X-Idempotency-Key":
		name = strings.ToLower(name)
	}
	m.header[name] = []string{value}
}

// request makes a request of the message.
func (m *message) request(ctx context.Context) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, m.method, m.url.String(), bytes.NewReader(m.body))
	if err != nil {
		return nil, err
	}
	r.Header = m.header.Clone()
	if _, ok := r.Header["User-Agent"]; !ok {
		r.Header.Set("User-Agent", "elasticjob")
	}
	if m.host != "" {
		r.Host = m.host
	}
	return r, nil
}

// redirect says whether a redirect is followed, and takes away what must not go there.
func (m *message) redirect(most int) func(*http.Request, []*http.Request) error {
	return func(to *http.Request, via []*http.Request) error {
		if most == 0 {
			return http.ErrUseLastResponse
		}
		if len(via) > most {
			return &refusal{fmt.Sprintf("more than %d redirects (%s)", most, keyRedirects)}
		}
		to.Header.Del("Referer") // the client puts the query there, which may be secret
		isStrange := func(r *http.Request) bool { return !sameOrigin(m.origin, r.URL) }
		if !isStrange(to) && !slices.ContainsFunc(via, isStrange) {
			m.staysHome(to.URL)
			return nil
		}
		if err := m.mayLeave(to.URL); err != nil {
			return err
		}
		if to.Body != nil && to.Body != http.NoBody && m.secretBody {
			return &refusal{"the server redirects a body with a secret in it to " + m.values.shown(to.URL)}
		}
		m.leave(to.Header)
		return nil
	}
}

// staysHome gives the user of the configuration to a URL of the same origin that names none.
func (m *message) staysHome(to *url.URL) {
	if to.User == nil {
		to.User = m.origin.User
	}
}

// mayLeave returns an error if the message must not go to another origin.
func (m *message) mayLeave(to *url.URL) error {
	if m.origin.Scheme == "https" && to.Scheme != "https" {
		return &refusal{"the server leads from https to " + m.values.shown(to)}
	}
	return nil
}

// leave takes away the headers that do not go to another origin.
func (m *message) leave(h http.Header) {
	for name := range h {
		if slices.ContainsFunc(m.own, func(own string) bool { return strings.EqualFold(own, name) }) {
			delete(h, name)
		}
	}
}

// poll returns the message that asks how far the server has come.
func (m *message) poll(from *url.URL, location string) (*message, error) {
	to, err := from.Parse(location)
	if err != nil || to.Hostname() == "" || to.Scheme != "http" && to.Scheme != "https" {
		return nil, &refusal{"the Location of the answer 202 is no URL with http or https"}
	}
	p := &message{method: http.MethodGet, url: to, values: m.values, origin: m.origin, own: m.own, header: m.header.Clone(), repeatable: true}
	delete(p.header, strings.ToLower(idempotencyHeader))
	delete(p.header, "Content-Type")
	if sameOrigin(m.origin, to) {
		p.host = m.host
		p.staysHome(to)
		return p, nil
	}
	if err := m.mayLeave(to); err != nil {
		return nil, err
	}
	p.leave(p.header)
	return p, nil
}
