package legacy

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Options say what the routes work on.
type Options struct {
	// Connections are the namespaces and the databases, as the console has them: ElasticJob's registry centres and
	// data sources.
	Connections *connection.Book
	// Access checks names and passwords: a session's token is what ElasticJob's UI sends as Access-Token. nil: a log-in
	// is refused.
	Access *access.Control
	// Zone is that of times without one: in questions, and in answers of 2.1.5. Default time.Local.
	Zone *time.Location
	// Slog gets what goes wrong here. nil is silence.
	Slog *slog.Logger
}

// Routes are the routes of ElasticJob's consoles, for console.Options. They are safe for use by several goroutines.
type Routes struct{ list []route.Route }

// New returns the routes.
//
// Errors: one that says which option is missing.
func New(o Options) (*Routes, error) {
	if o.Access == nil {
		return newRoutes(o, nil)
	}
	return newRoutes(o, func(r *http.Request, name, password string) (user, token string, err error) {
		s, err := o.Access.Login(r.Context(), name, password, o.Access.Address(r))
		if err != nil {
			return "", "", err
		}
		return s.User, s.Value(), nil
	})
}

// login checks a name and a password, and begins a session.
type login func(r *http.Request, name, password string) (user, token string, err error)

func newRoutes(o Options, login login) (*Routes, error) {
	if o.Connections == nil {
		return nil, errors.New("legacy: Connections are missing")
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.Slog == nil {
		o.Slog = slog.New(slog.DiscardHandler)
	}
	a := &api{Options: o, check: login, choices: newChoices(time.Now)}
	routes := &Routes{}
	for _, operation := range a.operations() {
		routes.list = append(routes.list, a.entry(operation))
	}
	return routes, nil
}

// api answers the requests.
type api struct {
	Options
	check   login // nil: nobody can log in
	choices *choices
}

// ops returns the operations on the namespace that a request is about, in the name of who sends it.
func (a *api) ops(r *http.Request) (*ops.Ops, error) {
	o, err := a.Connections.Ops(r.Context(), route.At(r.Context()).Namespace)
	if err != nil {
		return nil, err
	}
	p := access.From(r.Context())
	return o.By(p.Name).From(p.Address), nil
}

// job returns the operations on the job that a request is about.
func (a *api) job(r *http.Request) (*ops.Job, error) {
	o, err := a.ops(r)
	if err != nil {
		return nil, err
	}
	return o.Job(route.At(r.Context()).Job), nil
}

// maySee reports whether who sends the request may see a job.
func maySee(r *http.Request, job string) bool {
	return access.From(r.Context()).May(access.Viewer, route.At(r.Context()).Namespace, job)
}
