package legacy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// atCenter is the activated centre, and the job of the path.
func (a *api) atCenter(r *http.Request) (route.Place, error) {
	p := access.From(r.Context())
	c, ok := a.center(p)
	switch {
	case ok:
		return route.Place{Namespace: c.Name, Job: r.PathValue("job")}, nil
	case len(a.centers(p)) == 0:
		return route.Place{}, fmt.Errorf("%w: %s may see no registry centre", route.ErrDenied, p.Name)
	default:
		return route.Place{}, errNoCenter
	}
}

// atAnyCenter is for what is empty where no centre is activated: then it is any that may be seen.
func (a *api) atAnyCenter(r *http.Request) (route.Place, error) {
	p := access.From(r.Context())
	c, ok := a.center(p)
	if seen := a.centers(p); !ok && len(seen) > 0 {
		c = seen[0]
	}
	return route.Place{Namespace: c.Name}, nil
}

// atSource is a centre by which the caller may see the activated data source.
func (a *api) atSource(r *http.Request) (route.Place, error) {
	p := access.From(r.Context())
	s, ok := a.source(p)
	if !ok {
		return a.atAnyCenter(r)
	}
	active, _ := a.center(p)               // without one any will do
	name, _ := a.seesBy(p, s, active.Name) // none is left to who may see everything
	return route.Place{Namespace: name}, nil
}

// atJobOfBody is the activated centre, and the job that the body names.
func (a *api) atJobOfBody(r *http.Request) (route.Place, error) {
	at, err := a.atCenter(r)
	if err != nil {
		return at, err
	}
	var body struct {
		JobName string `json:"jobName"`
	}
	text, err := decode(r, &body)
	if err != nil {
		return at, err
	}
	if body.JobName == "" {
		return at, fmt.Errorf("%w: jobName: is empty", errBody)
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	at.Job = body.JobName
	return at, nil
}

// maxBody bounds a body in bytes.
const maxBody = 1 << 20

// decode reads the body, as JSON, into v. It returns the body, too.
func decode(r *http.Request, v any) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, fmt.Errorf("%w, and is %s", errType, brief.Quote(r.Header.Get("Content-Type")))
	}
	text, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBody, err)
	}
	return text, unmarshal(text, v)
}

// unmarshal reads JSON. Its error names the field.
func unmarshal(text []byte, v any) error {
	err := json.Unmarshal(text, v)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return fmt.Errorf("%w: %s: %s is not allowed; %s is", errBody, brief.Text(wrong.Field), brief.Text(wrong.Value), kindOf(wrong.Type))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errBody, brief.Error(err))
	}
	return nil
}

// kindOf names a type of Go as JSON does.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list"
	case reflect.Int64:
		return "a number of milliseconds since 1970, or a time such as 2026-01-31T09:30:00.000Z,"
	default:
		return "an object"
	}
}
