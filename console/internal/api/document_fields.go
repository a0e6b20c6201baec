package api

import (
	"path"

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
	for _, op := range operationsOf(d) {
		finishAnswers(op)
	}
	openAnswers(d)
}

// finishAnswers describes headers, and what any operation may answer.
func finishAnswers(op *huma.Operation) {
	problem := map[string]*huma.MediaType{problemType: {Schema: &huma.Schema{Ref: refPrefix + "Problem"}}}
	op.Responses["default"] = &huma.Response{Description: "Anything else that keeps the console from doing it.", Content: problem}
	for status, answer := range op.Responses {
		for _, header := range answer.Headers {
			if header.Description == "" && header.Schema != nil {
				header.Description = header.Schema.Description
			}
		}
		if status == "429" || status == "503" {
			answer.Headers = map[string]*huma.Param{"Retry-After": {
				Description: "After how many seconds to come again.", Schema: &huma.Schema{Type: huma.TypeInteger},
			}}
		}
	}
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
