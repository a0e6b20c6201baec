package legacy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

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
	active, _ := a.center(p) // without one any will do
	name, _ := seesBy(p, s, active.Name)
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
	if err := json.Unmarshal(text, v); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return nil, fmt.Errorf("%w: %s: a JSON %s is not allowed here", errBody, brief.Text(wrong.Field), brief.Text(wrong.Value))
		}
		return nil, fmt.Errorf("%w: %w", errBody, brief.Error(err))
	}
	return text, nil
}
