package console

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// Options say what a console has.
type Options struct {
	// Connections are the namespaces and databases; they stay the caller's, who closes them after the console.
	Connections *connection.Book
	// Who returns who sends a request; nil if nobody is logged in. It replaces Access, for a program
	// that knows its users.
	Who func(*http.Request) (*access.Principal, error)
	// Log gets each request, and what goes wrong. Default slog.Default().
	Log *slog.Logger
}

// Console is the server of a console. It is safe for use by several goroutines.
type Console struct {
	table *route.Table
}

// New returns a console. Close it.
//
// Errors: one that says which option is wrong.
func New(o Options) (*Console, error) {
	if o.Connections == nil {
		return nil, errors.New("console: Connections are missing")
	}
	c := &Console{table: &route.Table{Who: o.Who, Fail: fail}}
	return c, nil
}

// ServeHTTP answers a request.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.table.ServeHTTP(w, r) }

// Close ends what streams, and waits for that as long as ctx allows.
func (c *Console) Close(context.Context) error { return nil }

// fail answers a request that has no route.
func fail(w http.ResponseWriter, _ *http.Request, err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, route.ErrNoRoute), errors.Is(err, route.ErrPath):
		status = http.StatusNotFound
	case errors.Is(err, route.ErrMethod):
		status = http.StatusMethodNotAllowed
	case errors.Is(err, route.ErrNobody):
		status = http.StatusUnauthorized
	case errors.Is(err, route.ErrDenied):
		status = http.StatusForbidden
	}
	http.Error(w, err.Error(), status)
}
