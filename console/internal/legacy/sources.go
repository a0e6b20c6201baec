package legacy

import (
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
		row := source{Name: s.Name, Driver: classOfDriver(s.Driver), Activated: ok && s.Name == active.Name}
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

// readSource reads a source, and its password.
func readSource(r *http.Request) (Source, string, error) {
	var body sourceOld
	if _, err := decode(r, &body); err != nil {
		return Source{}, "", err
	}
	s, password, err := parseURL(body.Driver, textOf(body.URL))
	if err != nil {
		return Source{}, "", fmt.Errorf("%w: %w", ErrInput, err)
	}
	s.Name = body.Name
	if user := textOf(body.Username); user != "" {
		s.User = user
	}
	if body.Password != nil {
		password = *body.Password
	}
	return s, password, nil
}

func (a *api) addSource(r *http.Request, _ dialect) (any, error) {
	s, password, err := readSource(r)
	if err != nil {
		return nil, err
	}
	return added(a.Book.AddSource(r.Context(), s, password))
}

// removeSource does not mind if there is none of the name, as ElasticJob.
func (a *api) removeSource(r *http.Request, _ dialect) (any, error) {
	name, err := nameOf(r)
	if err != nil {
		return nil, err
	}
	if err := a.Book.RemoveSource(r.Context(), name); err != nil && !errors.Is(err, connection.ErrNoDatabase) {
		return nil, err
	}
	return gone{}, nil
}

// testSource tells 2.1.5 no more than whether it was reached. It activates nothing.
func (a *api) testSource(r *http.Request, d dialect) (any, error) {
	s, password, err := readSource(r)
	if err != nil {
		return nil, err
	}
	if err := a.Book.TestSource(r.Context(), s, password); err != nil {
		if d == console && !errors.Is(err, ErrInput) {
			return false, nil
		}
		return nil, err
	}
	return true, nil
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
		if _, err := a.Book.History(r.Context(), name); err != nil {
			a.Log.Info("console: a data source cannot be connected to", "name", name, "error", oneLine(err))
			return false, nil
		}
		a.choices.set(p, func(c *choice) { c.source = name })
		return true, nil
	}
	return nil, fmt.Errorf("%w that you may see: %s", connection.ErrNoDatabase, brief.Quote(name))
}
