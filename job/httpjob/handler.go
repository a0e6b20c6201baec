package httpjob

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/httpx"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/allow"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// Headers that are always sent. The first one is ElasticJob's.
const (
	contextHeader     = "shardingContext"
	tokenHeader       = "Fencing-Token"
	idempotencyHeader = "Idempotency-Key"
)

// handler runs the items of a job under one configuration.
type handler struct {
	of *Type
	worker
	*settings
}

// Execute sends the request of an item.
func (h *handler) Execute(ctx context.Context, sc job.ShardingContext) error {
	job.SetOutput(ctx, nil) // drops that of an earlier attempt
	f := h.filler(sc)
	x, m, err := h.prepare(ctx, f)
	if err != nil {
		return h.failed(f, "", err)
	}
	what := m.method + " " + f.shown(m.url) + ": "
	a, err := x.ask(ctx, m)
	if err != nil {
		return h.failed(f, what, err)
	}
	job.SetOutput(ctx, a.body)
	job.Logger(ctx).Debug("the server has answered", "status", a.code)
	if h.isSuccess(a.code) {
		return nil
	}
	return h.failed(f, what, a.statusError())
}

// ask sends a message, and polls for the last answer to it.
func (x *exchange) ask(ctx context.Context, m *message) (*answer, error) {
	a, err := x.send(ctx, m)
	if err == nil && x.poll && a.code == http.StatusAccepted && a.location != "" {
		return x.pollFor(ctx, m, a)
	}
	return a, err
}

// prepare fills in what an execution sends.
func (h *handler) prepare(ctx context.Context, f *filler) (*exchange, *message, error) {
	m := &message{method: h.method, values: f, header: http.Header{}, repeatable: h.unsafe || isIdempotent(h.method)}
	var err error
	if m.url, err = f.url(h.url); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", keyURI, err)
	}
	m.origin = m.url
	if hasBody(h.method) {
		body, err := f.body(h.body)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", keyData, err)
		}
		m.body, m.secretBody = []byte(body), h.body.isSecret()
	}
	if err := h.fillHeaders(ctx, f, m); err != nil {
		return nil, nil, err
	}
	l := h.link
	l.allow = h.allow.String()
	if h.proxy != nil {
		proxy, err := f.url(*h.proxy)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", keyProxy, err)
		}
		l.proxy = proxy.String()
	}
	transport, err := h.of.transport(l, h.worker)
	if err != nil {
		return nil, nil, err
	}
	return &exchange{settings: h.settings, values: f, transport: transport}, m, nil
}

func (h *handler) fillHeaders(ctx context.Context, f *filler, m *message) error {
	for name, value := range job.Propagated(ctx) {
		name = http.CanonicalHeaderKey(name)
		if name != "Host" && checkHeader(name, template{}) == nil { // the others are for the properties
			m.set(name, value)
			m.own = append(m.own, name) // it may say more than others should know
		}
	}
	inJSON, err := f.sc.MarshalJSON()
	if err != nil {
		return err
	}
	m.set(contextHeader, strings.ReplaceAll(string(inJSON), "\x7f", `\u007f`)) // no header has that character
	if f.sc.Token > 0 {
		m.set(tokenHeader, fmt.Sprint(f.sc.Token))
	}
	if f.sc.TaskID != "" {
		m.set(idempotencyHeader, f.sc.TaskID)
	}
	contentType, err := f.header(h.contentType)
	if err != nil {
		return fmt.Errorf("%s: %w", keyContentType, err)
	}
	if contentType != "" {
		m.set("Content-Type", contentType)
	}
	for _, header := range h.headers {
		value, err := f.header(header.value)
		if err != nil {
			return fmt.Errorf("http.header.%s: %w", header.name, err)
		}
		m.set(header.name, value)
		m.own = append(m.own, header.name)
	}
	return nil
}

func hasBody(method string) bool {
	return slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, method)
}

// isIdempotent reports whether a request that is sent twice does what it does once
// (RFC 9110, 9.2.2).
func isIdempotent(method string) bool {
	return slices.Contains([]string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}, method)
}

func (s *settings) isSuccess(code int) bool {
	return slices.ContainsFunc(s.success, func(r property.Range) bool { return r.Has(code) })
}

// failed returns the error of an execution.
func (h *handler) failed(f *filler, what string, err error) error {
	err = fmt.Errorf("httpjob: %s%w", what, withoutURL(err))
	status, isStatus := errors.AsType[*StatusError](err)
	_, isFinal := errors.AsType[*refusal](err)
	err = f.Error(err)
	if errors.Is(err, errUnfit) || errors.Is(err, allow.ErrNotAllowed) || isFinal || isStatus && isForGood(status.Code) {
		return job.NoRetry(err)
	}
	return err
}

// withoutURL takes away what the client tells of URLs: they may be secret.
func withoutURL(err error) error {
	err = httpx.WithoutURL(err)
	if strings.HasPrefix(err.Error(), "failed to parse Location header") { // it shows the header
		return &refusal{"the Location of a redirect is no URL"}
	}
	return err
}
