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

	routes []Route
	root   node
}

// node is a place in the tree of patterns.
type node struct {
	literals map[string]*node
	any      *node
	methods  map[string]*entry
}

// entry is a route, and the names of the segments that stand for any.
type entry struct {
	Route
	names []string
}

// Add adds a route.
//
// Errors: one that says what is missing, or that there is one already.
func (t *Table) Add(r Route) error {
	fail := func(why string) error { return fmt.Errorf("route %s %s: %s", r.Method, r.Pattern, why) }
	switch {
	case r.Method == "" || !strings.HasPrefix(r.Pattern, "/"):
		return fail("it needs a method and a path")
	case r.Need.Scope < Open || r.Need.Scope > Job:
		return fail("it does not say who may use it")
	case r.Need.Scope > SignedIn && (r.Need.Role < access.Viewer || r.Need.Role > access.Admin):
		return fail("it needs a role")
	case r.Handler == nil:
		return fail("it needs a handler")
	}
	if r.Fail == nil {
		r.Fail = t.Fail
	}
	e := &entry{Route: r}
	at := &t.root
	for _, segment := range segments(r.Pattern) {
		if name, ok := parameter(segment); ok {
			e.names = append(e.names, name)
			if at.any == nil {
				at.any = &node{}
			}
			at = at.any
			continue
		}
		if at.literals == nil {
			at.literals = map[string]*node{}
		}
		if at.literals[segment] == nil {
			at.literals[segment] = &node{}
		}
		at = at.literals[segment]
	}
	if at.methods[r.Method] != nil {
		return fail("there is one already")
	}
	if at.methods == nil {
		at.methods = map[string]*entry{}
	}
	at.methods[r.Method] = e
	t.routes = append(t.routes, r)
	return nil
}

// Routes returns all routes, in the order in which they were added.
func (t *Table) Routes() []Route { return slices.Clone(t.routes) }

func segments(path string) []string {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

func parameter(segment string) (string, bool) {
	if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
		return segment[1 : len(segment)-1], true
	}
	return "", false
}
