package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/compress"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
	"github.com/elasticjob-go/elasticjob/ops/failed"
)

// Prefix is that of all paths.
const Prefix = "/api/v1"

const (
	namespacePath = Prefix + "/namespaces/{namespace}"
	jobPath       = namespacePath + "/jobs/{job}"
)

// Connections are the namespaces of a console: a *connection.Book.
type Connections interface {
	Namespaces() []connection.Namespace
	Ops(ctx context.Context, name string) (*ops.Ops, error)
	History(database string) (connection.Past, error)
}

// Options say what the API is about.
type Options struct {
	Connections Connections
	// Access has the users, tokens and sessions; nil if a program knows them: then there are no routes for them.
	Access *access.Control
	// LogoutURL returns where a user ends his log-in at a provider; empty if he cannot, or has none. nil: nobody can.
	LogoutURL func(ctx context.Context, name string) (string, error)
	// Jobs returns all jobs of a namespace by name, as they were known to be at a moment that is not long ago. They are
	// shared: nobody changes them. nil: each list is read from the store.
	Jobs func(ctx context.Context, namespace string) (jobs []*ops.JobInfo, at time.Time, err error)
	// Findings say from when on something is a finding.
	Findings doctor.Thresholds
	// Version is that of the program; who is logged in sees it. Default "unknown".
	Version string
}

// API is /api/v1 on a table of routes.
type API struct {
	Options
	table *route.Table
	huma  huma.API
	errs  []error // of routes that could not be added

	examinations examinations
}

// Add adds all routes of the API to a table. Other packages add theirs with [API.Handle].
//
// Errors: one that says what of a route is wrong.
func Add(table *route.Table, o Options) (*API, error) {
	if o.Connections == nil {
		return nil, errors.New("api: Connections are missing")
	}
	a := &API{Options: o, table: table}
	a.huma = huma.NewAPI(a.config(), &door{table: table})
	a.addDocument()
	a.addNamespaces()
	a.addJobs()
	a.addSettings()
	a.addMembers()
	a.addAudit()
	a.addCalendars()
	a.addFindings()
	a.addDump()
	a.addCron()
	a.addHistory()
	a.addWhy()
	a.addFailures()
	a.addLogin()
	a.addUsers()
	a.addTokens()
	a.addChanges()
	return a, errors.Join(a.errs...)
}

// refPrefix is that of references to schemas within the document.
const refPrefix = "#/components/schemas/"

// config is huma's configuration. Nothing of huma's own is served: the document is a route like all others.
func (a *API) config() huma.Config {
	schemas := huma.NewMapRegistry(refPrefix, nameOf)
	schemas.RegisterTypeAlias(reflect.TypeFor[huma.ErrorModel](), reflect.TypeFor[Problem]())
	return huma.Config{
		OpenAPI:       describe(schemas),
		Formats:       map[string]huma.Format{"application/json": format(), "json": format()},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{transform},
	}
}

// nameOf names a schema: who makes a client from the document has classes of these names.
func nameOf(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if of, isBody := strings.CutSuffix(name, "InputBody"); isBody {
		return of + "Body" // one without a type of its own
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch pkg := t.PkgPath(); { // Status, Node, Fault, Run say too little
	case pkg == reflect.TypeFor[dump.Dump]().PkgPath() && name != "Dump":
		return "Dump" + name
	case pkg == reflect.TypeFor[failed.Run]().PkgPath():
		return "Failed" + name
	}
	return name
}

// register adds an operation, which needs what need says.
func register[I, O any](a *API, need route.Need, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	registerAt(a, &door{table: a.table, need: need}, op, handler)
}

// registerStream is register for an operation that has no limit of time.
func registerStream[I, O any](a *API, need route.Need, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	registerAt(a, &door{table: a.table, need: need, stream: true}, op, handler)
}

func registerAt[I, O any](a *API, d *door, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	prepare(&op, d.need)
	op.RejectUnknownQueryParameters = true
	huma.Register(through{a.huma, d}, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err != nil {
			return nil, ProblemOf(err)
		}
		return out, nil
	})
	a.errs = append(a.errs, d.err)
}

// Handle adds an operation that reads its request and writes its answer by itself: a stream, or a file.
// op has its parameters and its answers. stream is whether it has no limit of time.
//
// Errors: one that says what of the route is wrong.
func (a *API) Handle(need route.Need, op huma.Operation, stream bool, handler http.Handler) error {
	prepare(&op, need)
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	content := map[string]*huma.MediaType{problemType: {Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")}}
	for _, status := range op.Errors {
		op.Responses[fmt.Sprint(status)] = &huma.Response{Description: http.StatusText(status), Content: content}
	}
	a.huma.OpenAPI().AddOperation(&op)
	d := &door{table: a.table, need: need, stream: stream}
	if stream {
		handler = compress.Stream(handler)
	}
	d.add(&op, handler)
	return d.err
}

// prepare writes into an operation what all have.
func prepare(op *huma.Operation, need route.Need) {
	op.Errors = append(op.Errors, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusGatewayTimeout)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch} {
		if op.Method == method {
			op.Errors = append(op.Errors, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
		}
	}
	says := "Open to everybody."
	if need.Scope != route.Open {
		op.Errors = append(op.Errors, http.StatusUnauthorized)
		op.Security = []map[string][]string{{"session": {}}, {"token": {}}, {"basic": {}}}
		says = "Needs a log-in."
	}
	if need.Scope > route.SignedIn {
		op.Errors = append(op.Errors, http.StatusForbidden, http.StatusServiceUnavailable, http.StatusBadGateway)
		says = fmt.Sprintf("Needs the role %v, for %s.", need.Role, scopeWords[need.Scope])
		op.Extensions = map[string]any{"x-role": need.Role.String(), "x-scope": need.Scope.String()}
	}
	if strings.Contains(op.Path, "{") {
		op.Errors = append(op.Errors, http.StatusNotFound)
	}
	op.Description = strings.TrimSpace(op.Description + "\n\n" + says)
	slices.Sort(op.Errors)
	op.Errors = slices.Compact(op.Errors)
}

// scopeWords say for what a role is needed.
var scopeWords = map[route.Scope]string{
	route.Everything: "everything", route.SomeJobs: "some jobs of the namespace", route.AllJobs: "all jobs of the namespace", route.Job: "the job",
}

// through is huma's API, with a door for one operation.
type through struct {
	huma.API
	door *door
}

func (t through) Adapter() huma.Adapter { return t.door }

// door is huma's adapter that adds an operation to the table, with what it needs.
type door struct {
	table  *route.Table
	need   route.Need
	stream bool
	err    error
}

// Handle is of huma.Adapter.
func (d *door) Handle(op *huma.Operation, handler func(huma.Context)) {
	d.add(op, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkQuery(r.URL.RawQuery); err != nil {
			Fail(w, r, err)
			return
		}
		compress.Answer(w, r, func(w http.ResponseWriter) { handler(humago.NewContext(op, r, w)) })
	}))
}

// checkQuery refuses what would be passed over in silence: what cannot be read, and all but the first of
// several values.
func checkQuery(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return refuse("query", "it cannot be read")
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(query[name]) > 1 {
			return refuse("query."+name, "it is there more than once; a list has commas between its values")
		}
		if name == "dryRun" && query.Get(name) == "" { // as in a script whose variable is not set
			return refuse("query."+name, "it is empty; true and false are allowed")
		}
	}
	return nil
}

// ServeHTTP is of huma.Adapter.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.table.ServeHTTP(w, r) }

func (d *door) add(op *huma.Operation, handler http.Handler) {
	if d.err = check(op); d.err == nil {
		d.err = d.table.Add(route.Route{Method: op.Method, Pattern: op.Path, Need: d.need, Fail: Fail, Handler: handler, Stream: d.stream})
	}
}

// check reports what an operation's description has not.
func check(op *huma.Operation) error {
	fail := func(why string) error { return fmt.Errorf("api: %s %s: %s", op.Method, op.Path, why) }
	if !strings.HasPrefix(op.Path, Prefix) || op.OperationID == "" || op.Summary == "" || len(op.Tags) == 0 {
		return fail("it needs a path below " + Prefix + ", an id, a summary and a tag")
	}
	for segment := range strings.SplitSeq(op.Path, "/") {
		name, isParameter := strings.CutPrefix(strings.TrimSuffix(segment, "}"), "{")
		if isParameter && !slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "path" && p.Name == name }) {
			return fail("parameter " + name + " is not described")
		}
	}
	return nil
}

// viewer, operator and admin are what an operation needs: the role, for the scope.
func viewer(s route.Scope) route.Need   { return route.Need{Scope: s, Role: access.Viewer} }
func operator(s route.Scope) route.Need { return route.Need{Scope: s, Role: access.Operator} }
func admin(s route.Scope) route.Need    { return route.Need{Scope: s, Role: access.Admin} }

// answer is an answer with a body.
type answer[T any] struct{ Body T }

// versioned is an answer with a body and its version, for If-Match.
type versioned[T any] struct {
	ETag string `header:"ETag" doc:"Version, for If-Match."`
	Body T
}

// InNamespace is the part of a request that says which namespace it is about.
type InNamespace struct {
	Namespace string `path:"namespace" maxLength:"255" doc:"Name that the console has for the namespace." example:"orders"`
}

// InJob is the part of a request that says which job it is about.
type InJob struct {
	InNamespace
	Job string `path:"job" maxLength:"255" doc:"Name of the job." example:"settle"`
}
