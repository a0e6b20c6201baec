package route

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/access"
)

// Route is one method at one path.
type Route struct {
	Method string
	// Pattern is a path; {name} is any one segment, which the handler has by Request.PathValue.
	Pattern string
	Need    Need
	// Where says what a request is about; access.From tells who has sent it. nil takes {namespace} and
	// {job} of the path. It is not asked for Open, SignedIn and Everything.
	Where func(*http.Request) (Place, error)
	// Fail answers when the request does not get to the handler, with one of the errors above in err,
	// or one of Where or of Table.Who.
	Fail    func(w http.ResponseWriter, r *http.Request, err error)
	Handler http.Handler
	// Stream is whether an answer takes as long as the client wants it: it has no limit of time.
	Stream bool
	// Probe is whether a machine asks it that watches the console: it is answered under any name of the
	// console, and also when there are too many other requests.
	Probe bool
}

// Table has all routes.
type Table struct {
	// Who returns who sends a request; nil if nobody is logged in. Set it before the first request.
	Who func(*http.Request) (*access.Principal, error)
	// Fail answers where no route does, and for routes that do not say how. Set it before the first route.
	Fail func(w http.ResponseWriter, r *http.Request, err error)

	mux     http.ServeMux // its handlers are the routes
	routes  []Route
	routers []Router
}

// Router has routes that it finds in a way of its own.
type Router interface {
	// Routes returns all routes.
	Routes() []Route
	// Find returns the route of a method at a path of these segments, and the methods of other routes there.
	Find(method string, path []string) (*Route, []string)
}

// Add adds a route. Its pattern is one of http.ServeMux.
//
// Errors: one that says what is missing, or which other route has such paths, too.
func (t *Table) Add(r Route) (err error) {
	if err := r.check(); err != nil {
		return err
	}
	if r.Fail == nil {
		r.Fail = t.Fail
	}
	pattern := strings.TrimRight(r.Pattern, "/")
	if pattern == "" {
		pattern = "/{$}"
	}
	defer func() {
		if v := recover(); v != nil {
			err = r.fail(fmt.Sprint(v))
		}
	}()
	t.mux.Handle(r.Method+" "+pattern, found{&r})
	t.routes = append(t.routes, r)
	return nil
}

// found is how the mux tells of a route.
type found struct{ *Route }

func (f found) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.Handler.ServeHTTP(w, r) }

// Mount adds the routes of a router, for paths that no other route has.
//
// Errors: one that says what is missing.
func (t *Table) Mount(r Router) error {
	for _, one := range r.Routes() {
		if one.Fail == nil {
			return one.fail("it does not say how it fails")
		}
		if err := one.check(); err != nil {
			return err
		}
	}
	t.routes = append(t.routes, r.Routes()...)
	t.routers = append(t.routers, r)
	return nil
}

// Routes returns all routes, in the order in which they were added.
func (t *Table) Routes() []Route { return slices.Clone(t.routes) }

func (r *Route) check() error {
	switch {
	case !slices.Contains(methods, r.Method) || !strings.HasPrefix(r.Pattern, "/"):
		return r.fail("it needs a path, and a method of " + strings.Join(methods, ", "))
	case r.Need.Scope < Open || r.Need.Scope > Job:
		return r.fail("it does not say who may use it")
	case r.Need.Scope > SignedIn && (r.Need.Role < access.Viewer || r.Need.Role > access.Admin):
		return r.fail("it needs a role")
	case r.Handler == nil:
		return r.fail("it needs a handler")
	}
	return nil
}

func (r *Route) fail(why string) error {
	return fmt.Errorf("route %s %s: %s", r.Method, r.Pattern, why)
}

// Segments returns what stands between the slashes of a path or pattern; a slash at the end does not matter.
func Segments(path string) []string {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}
