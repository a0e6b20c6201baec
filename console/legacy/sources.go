package legacy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// source is EventTraceDataSourceConfiguration. Its url and password are never told.
type (
	source struct {
		Name      string  `json:"name"`
		Driver    string  `json:"driver"`
		URL       *string `json:"url"`
		Username  *string `json:"username"`
		Password  *string `json:"password"`
		Activated bool    `json:"activated"`
	}
	sourceOld struct {
		Name      string  `json:"name"`
		Driver    string  `json:"driver"`
		URL       *string `json:"url,omitempty"`
		Username  *string `json:"username,omitempty"`
		Password  *string `json:"password,omitempty"`
		Activated bool    `json:"activated"`
	}
)

func oldSource(s source) sourceOld { return sourceOld(s) }

func (a *api) listSources(r *http.Request, d dialect) (any, error) {
	p := access.From(r.Context())
	active, ok := a.source(p)
	var rows []source
	for _, s := range a.sources(p) {
		row := source{Name: s.Name, Driver: classOfDriver(s.Driver), Activated: ok && s.Name == active}
		if s.User != "" {
			row.Username = &s.User
		}
		rows = append(rows, row)
	}
	return as(d, rows, oldSource), nil
}

func listDrivers(*http.Request, dialect) (any, error) {
	var classes []string
	for _, d := range drivers() {
		classes = append(classes, d.class)
	}
	return classes, nil
}

func (a *api) activatedSource(r *http.Request, _ dialect) (any, error) {
	_, ok := a.source(access.From(r.Context()))
	return bare{ok}, nil
}

// readSource reads a data source, with its password.
func readSource(r *http.Request) (connection.Database, error) {
	var body sourceOld
	if _, err := decode(r, &body); err != nil {
		return connection.Database{}, err
	}
	s, err := parseURL(body.Driver, textOf(body.URL))
	if err != nil {
		return s, fmt.Errorf("%w: %w", errBody, err)
	}
	s.Name = body.Name
	if user := textOf(body.Username); user != "" {
		s.User = user
	}
	if password := textOf(body.Password); password != "" {
		s.Password = connection.Plain(password)
	}
	return s, nil
}

func (a *api) addSource(r *http.Request, _ dialect) (any, error) {
	s, err := readSource(r)
	if err != nil {
		return nil, err
	}
	_, err = a.Connections.PutDatabase(r.Context(), s, connection.NoVersion)
	return a.added(r, "a database was put", s.Name, err)
}

// removeSource does not mind if there is none of the name, as ElasticJob.
func (a *api) removeSource(r *http.Request, _ dialect) (any, error) {
	name, err := nameOf(r)
	if err != nil {
		return nil, err
	}
	return a.removed(r, "a database was removed", name, a.Connections.RemoveDatabase(r.Context(), name, connection.AnyVersion))
}

// testSource tells no more than whether it was reached, and 3.x a word about why not. It activates nothing.
func (a *api) testSource(r *http.Request, d dialect) (any, error) {
	s, err := readSource(r)
	if err != nil {
		return nil, err
	}
	s.Name = cmp.Or(s.Name, "test") // a test needs none
	err = a.Connections.TestDatabase(r.Context(), s)
	failed, isFailed := errors.AsType[*connection.TestError](err)
	_, isField := errors.AsType[*connection.EntryError](err)
	switch {
	case !isFailed || isField:
		return true, err
	case d == console:
		return false, nil
	default:
		return nil, fmt.Errorf("%w: %s", errUnreached, failed.Reason)
	}
}

// connectSource activates a data source for the caller, if it can be connected to.
func (a *api) connectSource(r *http.Request, _ dialect) (any, error) {
	name, err := nameOf(r)
	if err != nil {
		return nil, err
	}
	p := access.From(r.Context())
	for _, s := range a.sources(p) {
		if s.Name != name {
			continue
		}
		if err := a.reach(r.Context(), name); err != nil {
			a.Slog.Info("console: a data source cannot be connected to", "name", name, "error", oneLine(err))
			return false, nil
		}
		a.choices.set(p, func(c *choice) { c.source = name })
		return true, nil
	}
	return nil, fmt.Errorf("%w that you may see: %s", connection.ErrNoDatabase, brief.Quote(name))
}

// reach asks a data source something small: it is opened with the first question.
func (a *api) reach(ctx context.Context, name string) error {
	past, err := a.Connections.History(name)
	if err != nil {
		return err
	}
	_, err = past.JobNames(ctx, "", 1)
	return err
}
