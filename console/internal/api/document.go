package api

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// Tags group operations in the document.
var (
	tagConsole    = []string{"console"}
	tagNamespaces = []string{"namespaces"}
	tagJobs       = []string{"jobs"}
	tagServers    = []string{"servers"}
	tagHistory    = []string{"history"}
	tagAccess     = []string{"access"}
)

// describe returns the document without its operations.
func describe(schemas huma.Registry) *huma.OpenAPI {
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "ElasticJob console", Version: "1",
			Description: "Jobs of namespaces: what they are, what they do, and what they did. " +
				"Times are in UTC. A field that is left out of an answer is false, 0, empty or not known; lists are never null. " +
				"Errors are problems (RFC 9457) with a code that does not change. " +
				"Later versions add fields to answers, and words to fields such as status, outcome and kind: a client leaves alone what it does not know. " +
				"A body or a query with a field that the document does not have is refused. " +
				"x-role and x-scope say which role an operation needs, and for what. " +
				"Header X-Request-Id of an answer has the id of the request in the log of the console.",
		},
		Components: &huma.Components{
			Schemas: schemas,
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"session": {Type: "apiKey", In: "cookie", Name: "elasticjob", Description: "Cookie of a log-in; by TLS it is named __Host-elasticjob. At another port than the default one, - and the port follow. GET /api/v1/oidc/login?return=/path begins a log-in of a browser at the provider, if the console has one."},
				"token":   {Type: "http", Scheme: "bearer", Description: "Token of the API."},
				"basic":   {Type: "http", Scheme: "basic", Description: "Name and password with each request: for people with a shell. Scripts take tokens."},
			},
		},
		Tags: []*huma.Tag{
			{Name: "console", Description: "The console itself."},
			{Name: "namespaces", Description: "A namespace of a store, over all its jobs."},
			{Name: "jobs", Description: "One job."},
			{Name: "servers", Description: "Hosts and processes."},
			{Name: "history", Description: "What has happened: it needs a database."},
			{Name: "access", Description: "Log-in, users and tokens."},
			{Name: "connections", Description: "Namespaces and databases that the console knows, and how to get to them."},
		},
	}
}

// addDocument adds the routes of the document. They are open: it tells nothing of an installation, not
// even its version, and who writes a client needs no account for it.
func (a *API) addDocument() {
	document := sync.OnceValue(func() *huma.OpenAPI { // with the first request all routes are there
		finish(a.huma.OpenAPI())
		return a.huma.OpenAPI()
	})
	documents := []struct {
		id, path, contentType string
		schema                huma.Schema
		make                  func() ([]byte, error)
	}{
		{"get-openapi-json", "/openapi.json", "application/openapi+json", huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}, func() ([]byte, error) { return json.Marshal(document()) }},
		{"get-openapi-yaml", "/openapi.yaml", "application/openapi+yaml", huma.Schema{Type: huma.TypeString, Format: "binary"}, func() ([]byte, error) { return document().YAML() }},
	}
	for _, d := range documents {
		text := sync.OnceValues(d.make)
		op := huma.Operation{
			OperationID: d.id, Method: http.MethodGet, Path: Prefix + d.path, Tags: tagConsole, Summary: "This document",
			Responses: map[string]*huma.Response{"200": {Description: "The document.", Content: map[string]*huma.MediaType{d.contentType: {Schema: &d.schema}}}},
		}
		err := a.Handle(route.Need{Scope: route.Open}, op, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			document, err := text()
			if err != nil {
				Fail(w, r, err)
				return
			}
			w.Header().Set("Content-Type", d.contentType)
			_, _ = w.Write(document) // the client is gone
		}))
		a.errs = append(a.errs, err)
	}
}

// format writes and reads JSON. A client that goes away while it is written is no error.
func format() huma.Format {
	return huma.Format{
		Unmarshal: json.Unmarshal,
		Marshal: func(w io.Writer, v any) error {
			var b bytes.Buffer
			encoder := json.NewEncoder(&b)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(v); err != nil {
				return err
			}
			_, _ = w.Write(b.Bytes()) // the client is gone
			return nil
		},
	}
}
