package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// call is a request, and what is expected.
type call struct {
	method      string
	path        string // below /api/v1, with %s for each of names
	names       []any  // texts and numbers
	query       url.Values
	body        any    // nil, or a nil pointer, is none
	contentType string // default application/json
	ifMatch     string // ETag
	mayCreate   bool   // without an ETag there has to be none
	key         string // idempotency key: the request can be sent again
	isSafe      bool   // it can be sent again, although it is no GET
	isDry       bool   // nothing is changed

	out  any // nil is none
	etag *string
}

// answer sends a request, and returns the answer.
func answer[T any](ctx context.Context, c *Client, a call) (T, error) {
	out, _, err := versioned[T](ctx, c, a)
	return out, err
}

// versioned is answer with the ETag.
func versioned[T any](ctx context.Context, c *Client, a call) (out T, etag string, err error) {
	a.out, a.etag = &out, &etag
	err = c.do(ctx, a)
	return out, etag, err
}

// Pauses between attempts. Each is drawn between half of it and all.
const (
	attempts   = 4
	firstPause = 200 * time.Millisecond
	lastPause  = 30 * time.Second // also of what a console asks for
)

// do sends a request, again and again if that is safe and may help, and reads the answer.
func (c *Client) do(ctx context.Context, a call) error {
	r, err := c.request(ctx, a)
	if err != nil {
		return err
	}
	isSafe := a.method == http.MethodGet || a.isSafe || a.isDry || a.key != ""
	backoff := sleep.Backoff{Min: firstPause, Max: lastPause}
	for attempt := 1; ; attempt++ {
		err = c.once(r, a)
		if err == nil || attempt == attempts || !isSafe || ctx.Err() != nil || !mayHelp(err) {
			return err
		}
		wait := backoff.Next()
		if e, ok := errors.AsType[*Error](err); ok {
			wait = max(wait, min(e.RetryAfter, lastPause))
		}
		if !sleep.For(ctx, wait) {
			return err
		}
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

// content returns the body as JSON. A list that is nil is empty: the API has no null.
func (a call) content() ([]byte, error) {
	body := reflect.Indirect(reflect.ValueOf(a.body))
	if !body.IsValid() {
		return nil, nil
	}
	filled := reflect.New(body.Type()).Elem()
	filled.Set(body)
	if filled.Kind() == reflect.Struct {
		for _, field := range filled.Fields() {
			if field.Kind() == reflect.Slice && field.IsNil() {
				field.Set(reflect.MakeSlice(field.Type(), 0, 0))
			}
		}
	}
	text, err := json.Marshal(filled.Interface())
	if err != nil {
		return nil, fmt.Errorf("client: %s: %w", a.name(), err)
	}
	return text, nil
}

func (a call) name() string { return a.method + " " + fmt.Sprintf(a.path, a.names...) }

// errAnswer: an answer is not what the API gives; asking again gives the same.
var errAnswer = errors.New("this is no answer of the API")

// maxAnswer bounds an answer, in bytes. The largest are dumps, of 16 MiB.
const maxAnswer = 64 << 20

func (c *Client) once(r *http.Request, a call) error {
	ctx, cancel := context.WithTimeout(r.Context(), c.options.Timeout)
	defer cancel()
	r = r.Clone(ctx)
	if r.GetBody != nil {
		r.Body, _ = r.GetBody() // one of bytes has no error
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
	if a.out == nil {
		return nil
	}
	*a.etag = answer.Header.Get("ETag")
	if err := c.decode(text, a.out); err != nil {
		return fmt.Errorf("client: %s: %w: %w", a.name(), errAnswer, err)
	}
	return nil
}

// copy writes an answer that may be long to a writer. It takes as long as ctx allows, and is not tried again.
func (c *Client) copy(ctx context.Context, to io.Writer, a call) error {
	r, err := c.request(ctx, a)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "*/*")
	answer, err := c.stream(r, a)
	if err != nil {
		return err
	}
	defer answer.Close()
	if _, err := io.Copy(to, answer); err != nil {
		return fmt.Errorf("client: %s: %w", a.name(), err)
	}
	return nil
}

// stream sends a request whose answer is read while it comes.
func (c *Client) stream(r *http.Request, a call) (io.ReadCloser, error) {
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("client: %s: %w", a.name(), withoutURL(err))
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxDetail*4)) // what has come says enough
		return nil, errorOf(a.name(), answer, text)
	}
	return answer.Body, nil
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

// request returns the request of a call.
//
// Errors: one that says what of the names or the body is wrong.
func (c *Client) request(ctx context.Context, a call) (*http.Request, error) {
	body, err := a.content()
	if err != nil {
		return nil, err
	}
	names := make([]any, len(a.names))
	for i, name := range a.names {
		text := fmt.Sprint(name)
		if text == "" || text == "." || text == ".." {
			return nil, fmt.Errorf("client: %s: a name is empty, or no name", a.name())
		}
		names[i] = strings.ReplaceAll(url.PathEscape(text), "%3A", ":")
	}
	query := maps.Clone(a.query)
	if a.isDry {
		if query == nil {
			query = url.Values{}
		}
		query.Set("dryRun", "true")
	}
	address := c.base + "/api/v1" + fmt.Sprintf(a.path, names...)
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, a.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("client: %s: %w", a.name(), err)
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", cmp.Or(a.contentType, "application/json"))
	}
	if a.key != "" {
		r.Header.Set("Idempotency-Key", a.key)
	}
	switch {
	case a.ifMatch != "":
		r.Header.Set("If-Match", a.ifMatch)
	case a.mayCreate:
		r.Header.Set("If-None-Match", "*")
	}
	switch {
	case c.options.Token != "":
		r.Header.Set("Authorization", "Bearer "+c.options.Token)
	case c.options.Name != "":
		r.SetBasicAuth(c.options.Name, c.options.Password)
	}
	return r, nil
}
