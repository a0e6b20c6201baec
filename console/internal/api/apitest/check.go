// Package apitest is for tests of /api/v1: a namespace in which everything happens, and a check of each
// answer against the OpenAPI document.
package apitest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/elasticjob-go/elasticjob/console/internal/api"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// Checker checks answers against a document.
type Checker struct{ Document *openapi3.T }

// NewChecker asks a server for its document, and checks that.
func NewChecker(server http.Handler) (*Checker, error) {
	w := httptest.NewRecorder()
	server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/openapi.json", nil))
	if w.Code != http.StatusOK {
		return nil, fmt.Errorf("the document: %d %s", w.Code, w.Body)
	}
	document, err := read(w.Body.String())
	if err != nil {
		return nil, fmt.Errorf("the document: %w", err)
	}
	return &Checker{document}, nil
}

// documents are those that were read, by their text: each world has the same one, and reading it takes longer than most tests.
var documents sync.Map

func read(text string) (*openapi3.T, error) {
	if known, ok := documents.Load(text); ok {
		return known.(*openapi3.T), nil
	}
	loader := openapi3.NewLoader()
	document, err := loader.LoadFromData([]byte(text))
	if err != nil {
		return nil, err
	}
	if err := document.Validate(loader.Context); err != nil {
		return nil, err
	}
	for _, path := range document.Paths.Map() {
		for _, op := range path.Operations() {
			op.Responses.Delete("default") // clients have to bear any failure; here, each is in the document
		}
	}
	for _, s := range document.Components.Schemas {
		if more := &s.Value.AdditionalProperties; s.Value.Type.Is(openapi3.TypeObject) && more.Has == nil && more.Schema == nil {
			more.Has = new(bool) // clients have to bear more fields; here, each is in the document
		}
	}
	documents.Store(text, document)
	return document, nil
}

// Compare returns where the document and routes do not agree, of those below /api/v1: each route is in the document
// with what it needs, nothing else is, and all is described.
func (c *Checker) Compare(all []route.Route) (differences []error) {
	differ := func(format string, args ...any) { differences = append(differences, fmt.Errorf(format, args...)) }
	needs := map[string]route.Need{}
	for _, r := range all {
		if strings.HasPrefix(r.Pattern, api.Prefix+"/oidc/") {
			continue // the log-in at a provider leads a browser from page to page: no client calls it
		}
		if strings.HasPrefix(r.Pattern, api.Prefix+"/") || r.Pattern == api.Prefix {
			needs[r.Method+" "+r.Pattern] = r.Need
		}
	}
	for path, item := range c.Document.Paths.Map() {
		for method, op := range item.Operations() {
			name := method + " " + path
			need, isRoute := needs[name]
			if !isRoute {
				differ("the document has %s, and there is no such route", name)
				continue
			}
			delete(needs, name)
			if hasSecurity := op.Security != nil && len(*op.Security) > 0; hasSecurity != (need.Scope != route.Open) {
				differ("%s: %v, security %v", name, need, op.Security)
			}
			if need.Scope > route.SignedIn && (op.Extensions["x-role"] != need.Role.String() || op.Extensions["x-scope"] != need.Scope.String()) {
				differ("%s: %v, and the document says %v", name, need, op.Extensions)
			}
			if op.Summary == "" || op.OperationID == "" || len(op.Tags) == 0 || len(op.Responses.Map()) < 2 {
				differ("%s is not described", name)
			}
			for _, p := range op.Parameters {
				if p.Value.Description == "" {
					differ("%s: parameter %s is not described", name, p.Value.Name)
				}
			}
		}
	}
	for name := range needs {
		differ("the document has no %s", name)
	}
	return differences
}

// Check reports what of an answer is not as the document says. pattern is that of the route: it is in
// Request.Pattern after a route.Table has served the request.
func (c *Checker) Check(r *http.Request, pattern string, answer *http.Response) error {
	fail := func(err error) error { return fmt.Errorf("%s %s: %d: %w", r.Method, r.URL, answer.StatusCode, err) }
	path := strings.TrimSuffix(pattern, "/")
	item := c.Document.Paths.Value(path)
	if item == nil {
		return fail(fmt.Errorf("the document has no path %s", path))
	}
	operation := item.GetOperation(r.Method)
	if operation == nil {
		return fail(fmt.Errorf("the document has no such method of %s", path))
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return fail(err)
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	err = openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: r, Route: &routers.Route{Spec: c.Document, Path: path, PathItem: item, Method: r.Method, Operation: operation},
		},
		Status: answer.StatusCode, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	})
	if err != nil {
		return fail(fmt.Errorf("%w\n%.2000s", err, body))
	}
	return nil
}
