package route

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// ServeHTTP hands a request to its route, if who sends it may use that.
func (t *Table) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e, values, err := t.find(r, w.Header())
	if err != nil {
		t.Fail(w, r, err)
		return
	}
	for i, name := range e.names {
		r.SetPathValue(name, values[i])
	}
	r.Pattern = e.Pattern
	r, err = t.admit(e, r)
	if err != nil {
		e.Fail(w, r, err)
		return
	}
	e.Handler.ServeHTTP(w, r)
}

// Find returns the route of a request; nil if there is none.
func (t *Table) Find(r *http.Request) *Route {
	e, _, err := t.find(r, nil)
	if err != nil {
		return nil
	}
	return &e.Route
}

// admit returns the request with who sends it and what it is about, if he may send it.
func (t *Table) admit(e *entry, r *http.Request) (*http.Request, error) {
	p, err := t.Who(r)
	switch {
	case err != nil && e.Need.Scope == Open:
		p = nil // a cookie that is no longer good, say, makes him nobody: or he could not log in again
	case err != nil:
		return r, err
	}
	if p == nil && e.Need.Scope != Open {
		return r, ErrNobody
	}
	r = r.WithContext(access.With(r.Context(), p)) // Where may depend on who asks
	var at Place
	if e.Need.Scope > Everything {
		if at, err = e.where(r); err != nil {
			return r, err
		}
	}
	if !e.Need.allows(p, at) {
		return r, fmt.Errorf("%w: %s needs to be %v, for %s", ErrDenied, p.Name, e.Need.Role, e.whom(r))
	}
	return r.WithContext(context.WithValue(r.Context(), placeKey{}, at)), nil
}

func (e *entry) where(r *http.Request) (Place, error) {
	if e.Where != nil {
		return e.Where(r)
	}
	return Place{Namespace: r.PathValue("namespace"), Job: r.PathValue("job")}, nil
}

// whom says for what a role is needed. It names only what the path does, so it tells nobody what there is.
func (e *entry) whom(r *http.Request) string {
	namespace, job := r.PathValue("namespace"), r.PathValue("job")
	switch {
	case e.Where != nil, namespace == "", e.Need.Scope <= Everything, e.Need.Scope == Job && job == "":
		return e.Need.Scope.String()
	case e.Need.Scope == Job:
		return fmt.Sprintf("job %s of namespace %s", brief.Quote(job), brief.Quote(namespace))
	}
	return fmt.Sprintf("%v of namespace %s", e.Need.Scope, brief.Quote(namespace))
}

type placeKey struct{}

// At returns what the request of a context is about.
func At(ctx context.Context) Place {
	at, _ := ctx.Value(placeKey{}).(Place) // outside of a route it is about nothing
	return at
}

// find returns the route of a request, and what stands for its parameters. Header Allow is set if there
// are only other methods; allow may be nil.
func (t *Table) find(r *http.Request, allow http.Header) (*entry, []string, error) {
	path := segments(r.URL.EscapedPath())
	for i, segment := range path {
		text, err := url.PathUnescape(segment)
		if err != nil || text == "" {
			return nil, nil, ErrPath
		}
		path[i] = text
	}
	s := search{method: r.Method, others: map[string]bool{}}
	if s.below(&t.root, path, nil) {
		return s.found, s.values, nil
	}
	if len(s.others) == 0 {
		return nil, nil, ErrNoRoute
	}
	others := strings.Join(slices.Sorted(maps.Keys(s.others)), ", ")
	if allow != nil {
		allow.Set("Allow", others)
	}
	return nil, nil, fmt.Errorf("%w: %s is", ErrMethod, others)
}

// search looks for a route: literals first, and if nothing is there for the method, parameters.
type search struct {
	method string
	found  *entry
	values []string
	others map[string]bool // methods of other routes that fit the path
}

func (s *search) below(at *node, path, values []string) bool {
	if at == nil {
		return false
	}
	if len(path) == 0 {
		return s.end(at, values)
	}
	return s.below(at.literals[path[0]], path[1:], values) || s.below(at.any, path[1:], append(values[:len(values):len(values)], path[0]))
}

func (s *search) end(at *node, values []string) bool {
	e := at.methods[s.method]
	if e == nil && s.method == http.MethodHead {
		e = at.methods[http.MethodGet]
	}
	for method := range at.methods {
		s.others[method] = true
	}
	s.found, s.values = e, values
	return e != nil
}
