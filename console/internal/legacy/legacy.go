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
	// Connections are the namespaces and the databases: ElasticJob's registry centres and data sources.
	Connections *connection.Book
	// Login checks a name and a password, and begins a session: its token is what ElasticJob's UI sends
	// as Access-Token. nil: there are no names and passwords here, and a log-in is refused.
	Login func(r *http.Request, name, password string) (user, token string, err error)
	// Zone is that of times without one: in questions, and in answers of 2.1.5. Default time.Local.
	Zone *time.Location
	// Log gets what goes wrong here. nil is silence.
	Log *slog.Logger
}

// Add adds the routes.
//
// Errors: one that says which option is missing; those of the table.
func Add(table *route.Table, o Options) error {
	if o.Connections == nil {
		return errors.New("legacy: Connections are missing")
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &api{Options: o, choices: newChoices(time.Now)}
	for _, r := range a.routes() {
		if err := table.Add(a.entry(r)); err != nil {
			return err
		}
	}
	return nil
}

// api answers the requests.
type api struct {
	Options
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
