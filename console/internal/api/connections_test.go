package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/api"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
)

const connections = "/api/v1/connections"

const planted = "hunter2-and-more"

// office is a console whose connections can be changed.
type office struct {
	t     *testing.T
	table *route.Table
	check *apitest.Checker
	log   strings.Builder
	role  access.Role
}

func newOffice(t *testing.T) *office {
	t.Helper()
	keys, err := connection.ParseKeys(connection.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	store := memory.NewStore(memory.Options{})
	t.Cleanup(store.Close)
	o := &office{t: t, role: access.Admin}
	book, err := connection.Open(connection.Options{
		File: filepath.Join(t.TempDir(), "connections.yaml"), Keys: keys, Slog: slog.New(slog.NewTextHandler(&o.log, nil)),
		Dial: func(ctx context.Context, n connection.Namespace) (coord.Registry, error) {
			if n.Endpoints[0] != "near:1" {
				return nil, errors.Join(coord.ErrUnavailable, errors.New("user:"+n.Password.Reveal()+"@"+n.Endpoints[0]))
			}
			return store.Dial(ctx, memory.Config{Namespace: n.Path})
		},
		OpenHistory: func(connection.Database) (connection.History, error) { return nil, errors.New("no driver") },
		Given: []connection.Given{{
			Namespace: connection.Namespace{Name: "given", Kind: connection.Etcd, Path: "a"},
			Dial: func(ctx context.Context) (coord.Registry, error) {
				return store.Dial(ctx, memory.Config{Namespace: "a"})
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := book.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	o.table = &route.Table{Fail: api.Fail, Who: func(*http.Request) (*access.Principal, error) {
		return &access.Principal{Name: "anna", Address: "10.0.0.7", Grants: []access.Grant{{Role: o.role}}}, nil
	}}
	a, err := api.Add(o.table, api.Options{Connections: book})
	if err == nil {
		err = a.AddConnections(book)
	}
	if err != nil {
		t.Fatal(err)
	}
	if o.check, err = apitest.NewChecker(o.table); err != nil {
		t.Fatal(err)
	}
	return o
}

// ask sends a request, and returns the answer, in which nothing secret may be.
func (o *office) ask(method, path, document string, header ...string) *httptest.ResponseRecorder {
	o.t.Helper()
	r := httptest.NewRequest(method, connections+path, strings.NewReader(document))
	if document != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	o.table.ServeHTTP(w, r)
	body := w.Body.String()
	if err := o.check.Check(r, r.Pattern, w.Result()); err != nil {
		o.t.Error(err)
	}
	if strings.Contains(body, planted) || strings.Contains(o.log.String(), planted) {
		o.t.Errorf("%s %s shows the password: %s", method, path, body)
	}
	return w
}

func (o *office) expect(w *httptest.ResponseRecorder, status int, text string) {
	o.t.Helper()
	if w.Code != status || !strings.Contains(w.Body.String(), text) {
		o.t.Errorf("%d %s; want %d with %s", w.Code, w.Body, status, text)
	}
}

const near = `{"kind":"etcd","endpoints":["near:1"],"namespace":"shop","user":"ops","password":"` + planted + `"}`

func TestConnections(t *testing.T) {
	o := newOffice(t)
	const prod = "/namespaces/prod"
	o.expect(o.ask("GET", prod, ""), 404, "no-namespace")
	o.expect(o.ask("PUT", prod, near), 428, "no-precondition")
	o.expect(o.ask("PUT", prod, near, "If-Match", "*"), 404, "no-namespace")
	o.expect(o.ask("PUT", "/namespaces/a%20b", near, "If-None-Match", "*"), 422, "body.name")
	first := o.ask("PUT", prod, near, "If-None-Match", "*")
	o.expect(first, 200, `"password":"***"`)
	tag := first.Header().Get("ETag")
	o.expect(o.ask("PUT", prod, near, "If-None-Match", "*"), 409, "connection-exists")
	if got := o.ask("GET", prod, "").Header().Get("ETag"); got != tag || tag == "" {
		t.Errorf("ETag %q, then %q", tag, got)
	}
	// What was answered can be sent again, changed: the password stays, if it goes nowhere else.
	var shown map[string]any
	if err := json.Unmarshal(first.Body.Bytes(), &shown); err != nil {
		t.Fatal(err)
	}
	send := func(change func(map[string]any)) string {
		body := map[string]any{}
		for _, field := range []string{"kind", "endpoints", "namespace", "user", "password"} {
			body[field] = shown[field]
		}
		change(body)
		document, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return string(document)
	}
	elsewhere := send(func(b map[string]any) { b["endpoints"] = []string{"evil:1"} })
	o.expect(o.ask("PUT", prod, elsewhere, "If-Match", tag), 422, "body.password")
	o.expect(o.ask("POST", prod+"/test", elsewhere), 200, `"ok":false`)
	second := o.ask("PUT", prod, send(func(b map[string]any) { b["namespace"] = "more" }), "If-Match", tag)
	o.expect(second, 200, `"namespace":"more"`)
	o.expect(o.ask("PUT", prod, near, "If-Match", tag), 412, "connection-changed")
	o.expect(o.ask("PUT", prod, near, "If-Match", `W/"1"`), 412, "no-such-version")
	o.expect(o.ask("DELETE", prod, "", "If-Match", tag), 412, "connection-changed")
	o.expect(o.ask("POST", prod+"/test", ""), 200, `"ok":true`)
	o.expect(o.ask("POST", "/namespaces/new/test", strings.Replace(near, "near:1", "far:1", 1)), 200, `"reason":"unreachable"`)
	o.expect(o.ask("POST", "/namespaces/new/test", strings.Replace(near, planted, "${env:HOME}", 1)), 200, `"reason":"invalid"`)
	o.expect(o.ask("POST", "/namespaces/new/test", ""), 404, "no-namespace")
	o.expect(o.ask("PUT", "/namespaces/given", near, "If-Match", "*"), 409, "connection-fixed")
	o.expect(o.ask("POST", "/namespaces/given/test", ""), 200, `"ok":true`)
	o.expect(o.ask("GET", "/namespaces", ""), 200, `"fixed":true`)
	o.expect(o.ask("PUT", "/namespaces/x", strings.Replace(near, "near:1", "u:"+planted+"@near:1", 1), "If-None-Match", "*"), 422, "body.endpoints[0]")
	o.expect(o.ask("PUT", "/namespaces/x", strings.Replace(near, "kind", "secret", 1), "If-None-Match", "*"), 422, "body")

	const history = "/databases/history"
	const mysql = `{"driver":"mysql","address":"db:1","database":"jobs","user":"ops","password":"` + planted + `"}`
	o.expect(o.ask("PUT", history, strings.Replace(mysql, "mysql", "oracle", 1), "If-None-Match", "*"), 422, "body.driver")
	o.expect(o.ask("PUT", history, `{"driver":"sqlite","address":"/etc/passwd"}`, "If-None-Match", "*"), 422, "body.address")
	o.expect(o.ask("PUT", history, mysql, "If-None-Match", "*"), 200, `"password":"***"`)
	o.expect(o.ask("POST", history+"/test", ""), 200, `"ok":false`)
	third := o.ask("PUT", prod, send(func(b map[string]any) { b["database"] = "history" }), "If-Match", second.Header().Get("ETag"))
	o.expect(third, 200, `"database":"history"`)
	o.expect(o.ask("GET", "/databases", ""), 200, `"namespaces":["prod"]`)
	o.expect(o.ask("DELETE", history, "", "If-Match", "*"), 409, "database-used")
	o.expect(o.ask("DELETE", prod, "", "If-Match", third.Header().Get("ETag")), 204, "")
	o.expect(o.ask("DELETE", history, "", "If-Match", "*"), 204, "")
	o.expect(o.ask("DELETE", history, "", "If-Match", "*"), 404, "no-database")
	for _, line := range []string{"namespace put", "namespace removed", "database put", "by=anna address=10.0.0.7"} {
		if !strings.Contains(o.log.String(), line) {
			t.Errorf("the log has no %q:\n%s", line, &o.log)
		}
	}
	// Connections are for admins alone.
	o.role = access.Operator
	for _, r := range o.table.Routes() {
		if path, ok := strings.CutPrefix(r.Pattern, connections); ok {
			o.expect(o.ask(r.Method, strings.ReplaceAll(path, "{connection}", "given"), ""), 403, "denied")
		}
	}
}
