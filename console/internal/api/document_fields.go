package api

import (
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// finish writes into the document what huma does not: words for fields that have none of their own, and what answers
// may be.
func finish(d *huma.OpenAPI) {
	for name, s := range d.Components.Schemas.Map() {
		of := d.Components.Schemas.TypeFromRef(refPrefix + name)
		if of == nil {
			continue // one that is written by hand
		}
		described := wordsOf(of)
		for name, property := range s.Properties {
			if property.Description == "" {
				property.Description = described[name]
			}
			if property.Type == huma.TypeArray && property.Nullable {
				property.Nullable = false // what an answer has is [] if it is empty, or left out
			}
		}
	}
	openAnswers(d)
	nameFailures(d)
}

// nameFailures puts failures at one place of the document, by their status: whoever makes a client of it has one
// class for each. Any operation may fail in a way that it does not list.
func nameFailures(d *huma.OpenAPI) {
	d.Components.Responses = map[string]*huma.Response{}
	for status, about := range failures {
		answer := &huma.Response{Description: about, Content: map[string]*huma.MediaType{problemType: {Schema: &huma.Schema{Ref: refPrefix + "Problem"}}}}
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			answer.Headers = map[string]*huma.Param{"Retry-After": {Description: "After how many seconds to come again.", Schema: &huma.Schema{Type: huma.TypeInteger}}}
		}
		d.Components.Responses[failureName(status)] = answer
	}
	for _, op := range operationsOf(d) {
		for status, answer := range op.Responses {
			if n, err := strconv.Atoi(status); err == nil && answer.Content[problemType] != nil {
				op.Responses[status] = &huma.Response{Ref: "#/components/responses/" + failureName(n)}
			}
			for _, header := range answer.Headers {
				if header.Description == "" && header.Schema != nil {
					header.Description = header.Schema.Description
				}
			}
		}
		op.Responses["default"] = &huma.Response{Ref: "#/components/responses/" + failureName(0)}
	}
}

// failures say what statuses mean; 0 is any other.
var failures = map[int]string{
	0:                                "Anything else that keeps the console from doing it.",
	http.StatusBadRequest:            "The body is missing, or cannot be read.",
	http.StatusUnauthorized:          "Nobody is logged in, or the log-in was refused.",
	http.StatusForbidden:             "You may not do this. The detail says which role is needed for what.",
	http.StatusNotFound:              "What the request names is not there: a namespace, a job, an item and so on. The code says which.",
	http.StatusConflict:              "It does not go with how things are. The code says why.",
	http.StatusPreconditionFailed:    "What is to change has another version than the request says. Read it again.",
	http.StatusRequestEntityTooLarge: "The body is larger than 1 MiB.",
	http.StatusUnsupportedMediaType:  "The body is of another type than the one that is allowed.",
	http.StatusUnprocessableEntity:   "The request is wrong. Its errors say where, and what is allowed.",
	http.StatusPreconditionRequired:  "Header If-Match is missing, or If-None-Match.",
	http.StatusTooManyRequests:       "Too many requests, streams or log-ins.",
	http.StatusInternalServerError:   "The console has a defect. Its log says more, under the id in X-Request-Id.",
	http.StatusBadGateway:            "The store does not let the console do this.",
	http.StatusServiceUnavailable:    "The store, the database or the console is away or busy.",
	http.StatusGatewayTimeout:        "It took longer than the 30 s of a request.",
}

// failureName is the name that a status has in the document.
func failureName(status int) string {
	if status == 0 {
		return "Failure"
	}
	return strings.ReplaceAll(http.StatusText(status), " ", "")
}

// operationsOf returns all operations of a document.
func operationsOf(d *huma.OpenAPI) (all []*huma.Operation) {
	for _, item := range d.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil {
				all = append(all, op)
			}
		}
	}
	return all
}

// openAnswers has the document say that answers may have more fields, because later versions add some. Bodies of
// requests may not: a field that nobody knows is a mistake.
func openAnswers(d *huma.OpenAPI) {
	asked := bodies{schemas: d.Components.Schemas.Map(), names: map[string]bool{}}
	for _, op := range operationsOf(d) {
		if op.RequestBody != nil {
			for _, content := range op.RequestBody.Content {
				asked.visit(content.Schema)
			}
		}
	}
	for name, s := range asked.schemas {
		if s.AdditionalProperties == false && !asked.names[name] {
			s.AdditionalProperties = nil
		}
	}
}

// bodies finds the schemas that are parts of bodies of requests.
type bodies struct {
	schemas map[string]*huma.Schema
	names   map[string]bool
}

func (b bodies) visit(s *huma.Schema) {
	if s == nil {
		return
	}
	if name := path.Base(s.Ref); s.Ref != "" && !b.names[name] {
		b.names[name] = true
		b.visit(b.schemas[name])
	}
	b.visit(s.Items)
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		b.visit(values)
	}
	for _, property := range s.Properties {
		b.visit(property)
	}
	for _, of := range [][]*huma.Schema{s.OneOf, s.AnyOf, s.AllOf} {
		for _, one := range of {
			b.visit(one)
		}
	}
}
