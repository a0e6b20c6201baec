package route

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
)

// echo answers with the pattern and what stands for its parameters.
func echo(w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, r.Pattern, "|", r.PathValue("job"), "|", r.PathValue("item"))
}

func newTable(t *testing.T, who *access.Principal, routes ...Route) *Table {
	t.Helper()
	table := &Table{
		Who:  func(*http.Request) (*access.Principal, error) { return who, nil },
		Fail: func(w http.ResponseWriter, _ *http.Request, err error) { http.Error(w, err.Error(), http.StatusTeapot) },
	}
	for _, r := range routes {
		if r.Handler == nil {
			r.Handler = http.HandlerFunc(echo)
		}
		if err := table.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	return table
}

func ask(table *Table, method, path string) (string, http.Header) {
	w := httptest.NewRecorder()
	table.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		panic(err)
	}
	return string(body), w.Result().Header
}

func TestFind(t *testing.T) {
	open := Need{Scope: Open}
	table := newTable(t, nil,
		Route{Method: "GET", Pattern: "/api/jobs/{job}/sharding", Need: open},
		Route{Method: "DELETE", Pattern: "/api/jobs/{job}/sharding/{item}/disable", Need: open},
		Route{Method: "GET", Pattern: "/api/jobs", Need: open},
	)
	for _, tt := range []struct{ method, path, want, allow string }{
		{"GET", "/api/jobs", "/api/jobs||", ""},
		{"HEAD", "/api/jobs", "/api/jobs||", ""},
		{"GET", "/api/jobs/", "/api/jobs||", ""},
		{"GET", "/api/jobs/a/sharding", "/api/jobs/{job}/sharding|a|", ""},
		{"GET", "/api/jobs/a%2Fb/sharding/", "/api/jobs/{job}/sharding|a/b|", ""},
		{"DELETE", "/api/jobs/x/sharding/3/disable", "/api/jobs/{job}/sharding/{item}/disable|x|3", ""},
		{"POST", "/api/jobs/x/sharding", ErrMethod.Error() + ": GET is\n", "GET"},
		{"GET", "/api/jobs/../jobs", ErrNoRoute.Error() + "\n", ""},
		{"GET", "/api/jobs//sharding", ErrPath.Error() + "\n", ""},
		{"GET", "/api/other", ErrNoRoute.Error() + "\n", ""},
	} {
		got, header := ask(table, tt.method, tt.path)
		if got != tt.want || header.Get("Allow") != tt.allow {
			t.Errorf("%s %s = %q, Allow %q, want %q, %q", tt.method, tt.path, got, header.Get("Allow"), tt.want, tt.allow)
		}
	}
}

func TestAdmit(t *testing.T) {
	grant := func(role access.Role, namespaces, jobs string) *access.Principal {
		g := access.Grant{Role: role}
		if namespaces != "" {
			g.Namespaces = []string{namespaces}
		}
		if jobs != "" {
			g.Jobs = []string{jobs}
		}
		return &access.Principal{Name: "anna", Grants: []access.Grant{g}}
	}
	for _, tt := range []struct {
		scope Scope
		who   *access.Principal
		want  error
	}{
		{Open, nil, nil},
		{SignedIn, nil, ErrNobody},
		{SignedIn, &access.Principal{}, nil},
		{Job, nil, ErrNobody},
		{Job, &access.Principal{}, ErrDenied},
		{Job, grant(access.Operator, "prod*", "pay-*"), nil},
		{Job, grant(access.Admin, "", ""), nil},
		{Job, grant(access.Viewer, "", ""), ErrDenied},
		{Job, grant(access.Operator, "test", ""), ErrDenied},
		{Job, grant(access.Operator, "", "ship"), ErrDenied},
		{SomeJobs, grant(access.Operator, "prod", "x"), nil},
		{SomeJobs, grant(access.Operator, "test", ""), ErrDenied},
		{AllJobs, grant(access.Operator, "prod", "x"), ErrDenied},
		{AllJobs, grant(access.Operator, "prod", "*"), nil},
		{Everything, grant(access.Operator, "prod", ""), ErrDenied},
		{Everything, grant(access.Operator, "", "x"), ErrDenied},
		{Everything, grant(access.Operator, "*", ""), nil},
	} {
		var got error
		table := newTable(t, tt.who, Route{
			Method: "GET", Pattern: "/{namespace}/{job}", Need: Need{tt.scope, access.Operator},
			Fail: func(_ http.ResponseWriter, _ *http.Request, err error) { got = err },
		})
		ask(table, "GET", "/prod/pay-out")
		if !errors.Is(got, tt.want) {
			t.Errorf("%v for %+v: %v, want %v", tt.scope, tt.who, got, tt.want)
		}
	}
}

// What a request is about may depend on who sends it.
func TestWhereKnowsWhoAsks(t *testing.T) {
	anna := &access.Principal{Name: "anna", Grants: []access.Grant{{Role: access.Viewer, Namespaces: []string{"anna"}}}}
	table := newTable(t, anna, Route{
		Method: "GET", Pattern: "/mine", Need: Need{SomeJobs, access.Viewer},
		Where: func(r *http.Request) (Place, error) { return Place{Namespace: access.From(r.Context()).Name}, nil },
	})
	if got, _ := ask(table, "GET", "/mine"); got != "/mine||" {
		t.Errorf("got %q", got)
	}
}

// A cookie of a session that is over must not keep its user from logging in.
func TestOpenToBadCredentials(t *testing.T) {
	bad := errors.New("the session is over")
	for scope, want := range map[Scope]error{Open: nil, SignedIn: bad} {
		var got error
		table := newTable(t, nil, Route{
			Method: "POST", Pattern: "/login", Need: Need{Scope: scope},
			Fail: func(_ http.ResponseWriter, _ *http.Request, err error) { got = err },
		})
		table.Who = func(*http.Request) (*access.Principal, error) { return &access.Principal{}, bad }
		ask(table, "POST", "/login")
		if !errors.Is(got, want) {
			t.Errorf("%v: %v, want %v", scope, got, want)
		}
	}
}

func TestAddRefuses(t *testing.T) {
	need := Need{Scope: Job, Role: access.Viewer}
	handler := http.HandlerFunc(echo)
	table := newTable(t, nil, Route{Method: "GET", Pattern: "/a/{b}", Need: need})
	for name, r := range map[string]Route{
		"no method":      {Pattern: "/a", Need: need, Handler: handler},
		"no such method": {Method: "LOOK", Pattern: "/a", Need: need, Handler: handler},
		"no path":        {Method: "GET", Need: need, Handler: handler},
		"no need":        {Method: "GET", Pattern: "/x", Handler: handler},
		"no role":        {Method: "GET", Pattern: "/x", Need: Need{Scope: Job}, Handler: handler},
		"no handler":     {Method: "GET", Pattern: "/x", Need: need},
		"twice":          {Method: "GET", Pattern: "/a/{c}/", Need: need, Handler: handler},
		"overlap":        {Method: "GET", Pattern: "/{a}/b", Need: need, Handler: handler},
	} {
		if err := table.Add(r); err == nil {
			t.Errorf("%s: added", name)
		}
	}
}
