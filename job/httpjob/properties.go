package httpjob

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/httpx"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// The properties.
const (
	keyURI            = "http.uri"
	keyURL            = "http.url"
	keyMethod         = "http.method"
	keyData           = "http.data"
	keyContentType    = "http.content.type"
	keyHeaders        = "http.header.*"
	keyConnectTimeout = "http.connect.timeout.milliseconds"
	keyReadTimeout    = "http.read.timeout.milliseconds"
	keyAnswerTimeout  = "http.answer.timeout.milliseconds"
	keySuccess        = "http.success.codes"
	keyRedirects      = "http.redirects"
	keyProxy          = "http.proxy"
	keyTLS            = "http.tls"
	keyAttempts       = "http.retry.attempts"
	keyUnsafe         = "http.retry.unsafe"
	keyBackoff        = "http.retry.backoff.milliseconds"
	keyRetryAfter     = "http.retry.after.max.milliseconds"
	keyPoll           = "http.poll"
	keyPollInterval   = "http.poll.interval.milliseconds"
	keyPollTimeout    = "http.poll.timeout.milliseconds"
)

// Words for http.proxy, besides a URL.
const (
	proxyNone        = "none"
	proxyEnvironment = "environment"
)

const (
	maxAttempts  = 100
	maxRedirects = 100
	dayInMillis  = 24 * 60 * 60 * 1000
)

// table lists the properties. The package comment has it, too.
func (w worker) table() property.Table {
	return property.Table{Own: []string{"http."}, Rows: []property.Row{
		{Name: keyURI, Check: w.isURL("http", "https"), Meaning: "where the request goes; it or http.url is required"},
		{Name: keyURL, Check: w.isURL("http", "https"), Meaning: "another name of http.uri"},
		{Name: keyMethod, Required: true, Check: property.OneOf("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"), Meaning: "the method"},
		{Name: keyData, Check: w.isText((*filler).body), Meaning: "the body, sent with POST, PUT, PATCH and DELETE"},
		{Name: keyContentType, Check: w.isText((*filler).header), Meaning: "the header Content-Type"},
		{Name: keyHeaders, Check: w.isText((*filler).header), Meaning: "further headers"},
		{Name: keyConnectTimeout, Default: "3000", Check: property.Integer(1, dayInMillis), Meaning: "the longest time until there is a connection"},
		{Name: keyReadTimeout, Default: "5000", Check: property.Integer(1, dayInMillis), Meaning: "the longest silence of the server"},
		{Name: keyAnswerTimeout, Default: "60000", Check: property.Integer(1, dayInMillis), Meaning: "the longest time that the body of an answer may take"},
		{Name: keySuccess, Default: "200-399", Check: property.Integers(100, 599), Meaning: "the codes of success"},
		{Name: keyRedirects, Default: "10", Check: property.Integer(0, maxRedirects), Meaning: "how many redirects are followed"},
		{Name: keyProxy, Default: proxyEnvironment, Check: w.isProxy(), Meaning: "the proxy"},
		{Name: keyTLS, Check: w.isTLS(), Meaning: "the name of settings for TLS, in Options.TLS"},
		{Name: keyAttempts, Default: "2", Check: property.Integer(0, maxAttempts), Meaning: "how many more times a request is sent within one execution"},
		{Name: keyUnsafe, Default: "false", Check: property.Boolean(), Meaning: "whether POST and PATCH are sent again, too"},
		{Name: keyBackoff, Default: "500", Check: property.Integer(1, dayInMillis), Meaning: "the pause before it is sent again; it doubles"},
		{Name: keyRetryAfter, Default: "60000", Check: property.Integer(0, dayInMillis), Meaning: "the longest Retry-After that is waited for"},
		{Name: keyPoll, Default: "false", Check: property.Boolean(), Meaning: "whether the Location of an answer 202 is polled"},
		{Name: keyPollInterval, Default: "1000", Check: property.Integer(1, dayInMillis), Meaning: "the pause between two polls"},
		{Name: keyPollTimeout, Default: "600000", Check: property.Integer(1, 15*dayInMillis), Meaning: "the longest time of all polls of an execution"},
	}}
}

// settings are the properties of a job, read.
type settings struct {
	url         urlTemplate
	method      string
	body        template
	contentType template
	headers     []header
	proxy       *urlTemplate // nil: link.proxy says it
	link        link

	read, answer           time.Duration
	success                []property.Range
	redirects              int
	attempts               int
	unsafe                 bool
	backoff, maxRetryAfter time.Duration

	poll                      bool
	pollInterval, pollTimeout time.Duration
}

type header struct {
	name  string
	value template
}

// read reads and checks the properties of a job.
func (w worker) read(c job.Config) (*settings, error) {
	v, err := w.table().Read(job.NewProperties(c.Props))
	if err != nil {
		return nil, err
	}
	s := &settings{
		method: v.Text(keyMethod),
		link:   link{tls: v.Text(keyTLS), proxy: v.Text(keyProxy), connect: v.Milliseconds(keyConnectTimeout)},
		read:   v.Milliseconds(keyReadTimeout), answer: v.Milliseconds(keyAnswerTimeout),
		success: v.Ranges(keySuccess), redirects: v.Integer(keyRedirects),
		attempts: v.Integer(keyAttempts), unsafe: v.Boolean(keyUnsafe),
		backoff: v.Milliseconds(keyBackoff), maxRetryAfter: v.Milliseconds(keyRetryAfter),
		poll: v.Boolean(keyPoll), pollInterval: v.Milliseconds(keyPollInterval), pollTimeout: v.Milliseconds(keyPollTimeout),
	}
	var faults []*job.FieldError
	fault := func(name string, err error) {
		if err != nil {
			faults = append(faults, &job.FieldError{Field: "props: " + name, Err: err})
		}
	}
	uri, alias := v.Text(keyURI), v.Text(keyURL)
	switch {
	case uri == "" && alias == "":
		fault(keyURI, errors.New("it or http.url is required"))
	case uri == "":
		uri = alias
	case alias != "" && alias != uri:
		fault(keyURL, errors.New("differs from http.uri: give one of them"))
	}
	// The table has checked these, so there are no errors.
	if uri != "" {
		s.url, err = parseURL(uri, "http", "https")
		fault(keyURI, err)
	}
	s.body, err = parseTemplate(v.Text(keyData))
	fault(keyData, err)
	s.contentType, err = parseTemplate(v.Text(keyContentType))
	fault(keyContentType, err)
	if proxy := s.link.proxy; proxy != proxyNone && proxy != proxyEnvironment {
		parsed, err := parseURL(proxy, proxySchemes...)
		fault(keyProxy, err)
		s.proxy = &parsed
	}
	seen := map[string]bool{}
	for _, pair := range v.Family(keyHeaders) {
		if pair.Value == "" {
			continue // left out
		}
		name := http.CanonicalHeaderKey(pair.Name)
		value, err := parseTemplate(pair.Value)
		if err == nil {
			err = checkHeader(name, value)
		}
		if err == nil && seen[name] {
			err = errors.New("stands there twice")
		}
		fault("http.header."+brief.Text(pair.Name), err)
		seen[name] = true
		s.headers = append(s.headers, header{name, value})
	}
	if len(faults) > 0 {
		shown := min(len(faults), jobtype.MaxFaults)
		return nil, &job.ConfigError{Faults: faults[:shown], More: len(faults) - shown}
	}
	return s, nil
}

// Headers with rules. The connection's belong to the client.
var (
	clientHeaders = []string{"Connection", "Content-Length", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}
	ownHeaders    = []string{http.CanonicalHeaderKey(contextHeader), http.CanonicalHeaderKey(tokenHeader)}
	secretHeaders = []string{"Authorization", "Cookie", "X-Api-Key", "X-Auth-Token"}
)

// checkHeader returns what is wrong with a header.
func checkHeader(name string, value template) error {
	switch {
	case !httpx.IsHeaderName(name):
		return errors.New("is no name of a header")
	case slices.Contains(clientHeaders, name):
		return errors.New("belongs to the connection, and cannot be set")
	case slices.Contains(ownHeaders, name):
		return errors.New("is always sent, and cannot be set")
	case name == "Content-Type":
		return errors.New("is set by http.content.type")
	case name == "Proxy-Authorization":
		return errors.New("is set by the user of http.proxy")
	case slices.Contains(secretHeaders, name) && !value.isSecret():
		return errors.New("is secret, so a reference to what the process has is allowed: ${env:NAME} or ${file:/path}, alone or within a text")
	}
	return nil
}

// isText allows texts whose references are known.
func (w worker) isText(fill func(*filler, template) (string, error)) property.Check {
	return property.Check{Allowed: "texts with placeholders and references are", Accept: func(text string) error {
		parsed, err := parseTemplate(text)
		if err != nil {
			return err
		}
		_, err = fill(w.filler(job.ShardingContext{}), parsed)
		return err
	}}
}

// isURL allows URLs whose references are known. What placeholders will put in is not known yet.
func (w worker) isURL(schemes ...string) property.Check {
	return property.Check{Allowed: "absolute URLs with placeholders and references are", Accept: func(text string) error {
		parsed, err := parseURL(text, schemes...)
		if err != nil {
			return err
		}
		f := w.filler(job.ShardingContext{})
		for _, name := range parsed.names {
			if _, err := f.value(name); err != nil {
				return err
			}
		}
		if u, err := f.url(parsed); err == nil && !parsed.isAnyHost() {
			return w.allow.URL(u)
		}
		return nil
	}}
}

var proxySchemes = []string{"http", "https", "socks5"}

func (w worker) isProxy() property.Check {
	return property.Check{Allowed: "none, environment and URLs are", Accept: func(text string) error {
		if text == proxyNone || text == proxyEnvironment {
			return nil
		}
		if err := w.isURL(proxySchemes...).Accept(text); err != nil {
			return fmt.Errorf("none, environment or a URL is allowed: %w", err)
		}
		return nil
	}}
}

func (w worker) isTLS() property.Check {
	return property.Check{Allowed: "names in Options.TLS are", Accept: func(text string) error {
		if _, ok := w.tls[text]; ok {
			return nil
		}
		if len(w.tls) == 0 {
			return fmt.Errorf("%s is not known: this process has none", brief.Quote(text))
		}
		return fmt.Errorf("%s is not known, %s are", brief.Quote(text), strings.Join(slices.Sorted(maps.Keys(w.tls)), ", "))
	}}
}
