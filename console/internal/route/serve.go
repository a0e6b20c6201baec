package route

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// ServeHTTP hands a request to its route, if who sends it may use that.
func (t *Table) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, path, err := t.find(r, w.Header())
	if err != nil {
		t.Fail(w, r, err)
		return
	}
	for i, segment := range Segments(asked.Pattern) {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			r.SetPathValue(strings.TrimSuffix(name, "}"), path[i])
		}
	}
	r.Pattern = asked.Pattern
	r, err = t.admit(asked, r)
	if err != nil {
		asked.Fail(w, r, err)
		return
	}
	asked.Handler.ServeHTTP(w, r)
}

// Find returns the route of a request; nil if there is none.
func (t *Table) Find(r *http.Request) *Route {
	asked, _, err := t.find(r, nil)
	if err != nil {
		return nil
	}
	return asked
}

// admit returns the request with who sends it and what it is about, if he may send it.
func (t *Table) admit(e *Route, r *http.Request) (*http.Request, error) {
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

func (e *Route) where(r *http.Request) (Place, error) {
	if e.Where != nil {
		return e.Where(r)
	}
	return Place{Namespace: r.PathValue("namespace"), Job: r.PathValue("job")}, nil
}

// whom says for what a role is needed. It names only what the path does, so it tells nobody what there is.
func (e *Route) whom(r *http.Request) string {
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

// find returns the route of a request, and the segments of the path. Header Allow is set if there are only other
// methods; allow may be nil.
func (t *Table) find(r *http.Request, allow http.Header) (*Route, []string, error) {
	escaped := strings.Trim(r.URL.EscapedPath(), "/")
	path := Segments(escaped)
	for i, segment := range path {
		text, err := url.PathUnescape(segment)
		if err != nil || text == "" {
			return nil, nil, ErrPath
		}
		path[i] = text
	}
	at := &url.URL{Path: "/" + strings.Join(path, "/"), RawPath: "/" + escaped}
	there := t.at(r.Method, at)
	var others []string
	for _, router := range t.routers {
		if there == nil {
			var more []string
			there, more = router.Find(r.Method, path)
			others = append(others, more...)
		}
	}
	if there != nil {
		return there, path, nil
	}
	for _, method := range methods {
		if t.at(method, at) != nil {
			others = append(others, method)
		}
	}
	if len(others) == 0 {
		return nil, nil, ErrNoRoute
	}
	slices.Sort(others)
	list := strings.Join(slices.Compact(others), ", ")
	if allow != nil {
		allow.Set("Allow", list)
	}
	return nil, nil, fmt.Errorf("%w: %s is", ErrMethod, list)
}

// methods are those that a route may have.
var methods = []string{http.MethodDelete, http.MethodGet, http.MethodPatch, http.MethodPost, http.MethodPut}

// at returns the route of a method at a path; nil if the mux has none.
func (t *Table) at(method string, path *url.URL) *Route {
	handler, _ := t.mux.Handler(&http.Request{Method: method, URL: path})
	there, ok := handler.(found)
	if !ok {
		return nil // or a redirect to a path without dots
	}
	return there.Route
}
