package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// shared are three namespaces, of which two have one database.
type shared struct {
	Connections
	reader history.Reader
}

func (shared) Namespaces() []connection.Namespace {
	return []connection.Namespace{{Name: "a", Database: "one"}, {Name: "b", Database: "one"}, {Name: "c", Database: "two"}, {Name: "d"}, {Name: "e"}}
}

// Ops is for the namespaces that a program has given with their history; the stores of the others are away.
func (s shared) Ops(_ context.Context, name string) (*ops.Ops, error) {
	if name == "d" || name == "e" {
		return ops.New(nil, ops.WithHistory(s.reader)), nil
	}
	return nil, ops.ErrStoreAway
}

func (s shared) History(string) (connection.Past, error) { return past{Reader: s.reader}, nil }

// past is a database.
type past struct {
	history.Reader
	trace.Sink
}

// names is a history that has names.
type names struct{ history.Reader }

func (names) Executions(context.Context, history.ExecutionFilter) (history.Page[history.Execution], error) {
	return history.Page[history.Execution]{}, nil
}

func (names) JobNames(context.Context, string, int) ([]string, error) {
	return []string{"pay", "settle"}, nil
}

// A question about the past does not need the store. A database knows jobs by their names only. So a question about the past of all jobs needs all jobs of all namespaces
// that share a database, and one about a job those of its name; names are told to who may see them in each of these.
func TestSharedDatabase(t *testing.T) {
	grant := func(namespace string, jobs ...string) access.Grant {
		return access.Grant{Role: access.Viewer, Namespaces: []string{namespace}, Jobs: jobs}
	}
	for name, tt := range map[string]struct {
		grants  []access.Grant
		at, job string
		may     bool
		names   int
	}{
		"both":                 {[]access.Grant{grant("a"), grant("b")}, "a", "", true, 2},
		"one of them":          {[]access.Grant{grant("a")}, "a", "", false, 0},
		"one of them, a job":   {[]access.Grant{grant("a")}, "a", "settle", false, 0},
		"some jobs of one":     {[]access.Grant{grant("a"), grant("b", "pay")}, "a", "", false, 1},
		"a job of both":        {[]access.Grant{grant("a", "pay"), grant("b", "pay")}, "b", "pay", true, 1},
		"another job":          {[]access.Grant{grant("a", "pay"), grant("b", "pay")}, "b", "settle", false, 1},
		"a database alone":     {[]access.Grant{grant("c")}, "c", "", true, 2},
		"not one of theirs":    {[]access.Grant{grant("c")}, "a", "", false, 0},
		"none is not the same": {[]access.Grant{grant("d")}, "d", "", true, 2},
	} {
		anna := &access.Principal{Name: "anna", Grants: tt.grants}
		table := &route.Table{Fail: Fail, Who: func(*http.Request) (*access.Principal, error) { return anna, nil }}
		if _, err := Add(table, Options{Connections: shared{reader: names{}}}); err != nil {
			t.Fatal(err)
		}
		ask := func(path string) (int, string) {
			w := httptest.NewRecorder()
			table.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/"+tt.at+"/history/"+path, nil))
			return w.Code, w.Body.String()
		}
		if status, body := ask("executions?job=" + tt.job); (status == http.StatusOK) != tt.may {
			t.Errorf("%s: %d %s", name, status, body)
		}
		if _, body := ask("jobs"); strings.Count(body, `"pay"`)+strings.Count(body, `"settle"`) != tt.names {
			t.Errorf("%s: names %s", name, body)
		}
	}
}
