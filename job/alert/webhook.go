package alert

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/httpx"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// NameWebhook is a name for [Webhook].
const NameWebhook = "WEBHOOK"

const (
	propWebhookURL      = "webhook.url"
	propWebhookMethod   = "webhook.method"
	propWebhookHeader   = "webhook.header.*"
	propWebhookType     = "webhook.content.type"
	propWebhookTemplate = "webhook.template"
	propWebhookSuccess  = "webhook.success.codes"
)

// Webhook returns the type of error handlers that send a request to any URL, with a body that
// a template makes of the message.
func Webhook(o Options) job.ErrorHandlerType { return NewType(webhookKind(), o) }

func webhookKind() Kind {
	return Kind{
		Name: NameWebhook,
		Table: property.Table{
			Own: []string{"webhook."},
			Rows: slices.Concat([]property.Row{
				{Name: propWebhookURL, Required: true, Check: webAddress(), Meaning: "the URL, which may have references; a password in it must be one"},
				{Name: propWebhookMethod, Default: http.MethodPost, Check: property.OneOf(http.MethodPost, http.MethodPut, http.MethodPatch), Meaning: "the method"},
				{Name: propWebhookHeader, Check: property.Length(maxURL), Meaning: "a header, which may have references; Authorization and Cookie must"},
				{Name: propWebhookType, Default: "application/json", Check: property.Length(255), Meaning: "the header Content-Type"},
				{Name: propWebhookTemplate, Default: "{{json .}}", Check: property.Length(maxTemplate), Meaning: "makes the body of a Message"},
				{Name: propWebhookSuccess, Default: "200-299", Check: property.Integers(100, 599), Meaning: "the status codes that mean success"},
			}, postRows("webhook.")),
		},
		Sender: newWebhook,
	}
}

type webhook struct {
	post     post
	template *bodyTemplate
	success  []property.Range
}

func newWebhook(v property.Values, o Options, _ *slog.Logger) (Sender, error) {
	p, err := postOf(v, o, propWebhookURL, "webhook.")
	if err != nil {
		return nil, err
	}
	// With a reference in its user information, the text is no URL yet.
	if u, err := url.Parse(p.url); err == nil && u.User != nil {
		return nil, fault(propWebhookURL, errors.New("a user or a password in it is secret, so a reference is allowed"))
	}
	p.method = v.Text(propWebhookMethod)
	contentType := v.Text(propWebhookType)
	if !httpx.IsHeaderValue(contentType) {
		return nil, fault(propWebhookType, errors.New("printable characters are allowed"))
	}
	p.headers = []property.Pair{{Name: "Content-Type", Value: contentType}}
	for _, h := range v.Family(propWebhookHeader) {
		if err := checkHeader(h); err != nil {
			return nil, fault(strings.TrimSuffix(propWebhookHeader, "*")+brief.Text(h.Name), err)
		}
		p.headers = append(p.headers, h)
	}
	t, err := newBodyTemplate(v.Text(propWebhookTemplate), strings.Contains(contentType, "json"), property.NewSecrets(o.Lookup).Expand)
	if err != nil {
		return nil, fault(propWebhookTemplate, err)
	}
	return webhook{p, t, v.Ranges(propWebhookSuccess)}, nil
}

func fault(name string, err error) error {
	return &job.FieldError{Field: "props: " + name, Err: err}
}

// Send makes the body of a message, and sends it.
func (s webhook) Send(ctx context.Context, m Message) error {
	secrets := property.NewSecrets(s.post.lookup)
	var missing error
	body, err := s.template.execute(m, func(text string) (string, error) {
		value, err := secrets.Expand(text)
		if err != nil {
			missing = err
		}
		return value, err
	})
	switch {
	case missing != nil:
		return fmt.Errorf("the template: %w", missing)
	case err != nil:
		return Permanent(errors.New(secrets.Hide(fmt.Sprintf("the template: %v", err))))
	}
	a, err := s.post.send(ctx, secrets, body)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(s.success, func(r property.Range) bool { return r.Has(a.Status) }) {
		return a.refused()
	}
	return nil
}

// checkHeader checks a header of a request.
func checkHeader(h property.Pair) error {
	if !httpx.IsHeaderName(h.Name) {
		return errors.New("is no name of a header")
	}
	switch http.CanonicalHeaderKey(h.Name) {
	case "Content-Type":
		return errors.New(propWebhookType + " sets it")
	case "Content-Length", "Transfer-Encoding", "Connection", "Host":
		return errors.New("is not for a configuration to set")
	case "Authorization", "Proxy-Authorization", "Cookie":
		if !property.HasReference(h.Value) {
			return errors.New("is secret, so a reference to what the process has is allowed: ${env:NAME} or ${file:/path}")
		}
	}
	if !httpx.IsHeaderValue(h.Value) {
		return errors.New("printable characters are allowed")
	}
	return nil
}
