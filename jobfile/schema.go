package jobfile

import (
	_ "embed"
	"encoding/json"
	"strings"
)

// Schema returns the JSON Schema (draft 2020-12) of the files, for editors:
//
//	# yaml-language-server: $schema=elasticjob.schema.json
//
// It is the file elasticjob.schema.json of this package. A file that is right for it may still
// have mistakes that only [Read] finds, such as a wrong cron expression.
func Schema() []byte { return []byte(schemaText) }

//go:embed elasticjob.schema.json
var schemaText string

// schema is a JSON Schema.
type schema map[string]any

// reference is what a text has that is expanded before its type counts.
const reference = `\$\{`

// makeSchema makes the schema of the fields of a file.
func makeSchema() ([]byte, error) {
	defs := schema{}
	var d document
	root := d.fields().schema(defs)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "elasticjob.yaml"
	root["description"] = "Jobs, and the process that runs them. See package jobfile of github.com/elasticjob-go/elasticjob."
	root["$defs"] = defs
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(root)
	return []byte(b.String()), err
}

func (fs fields) schema(defs schema) schema {
	properties := schema{}
	for _, f := range fs {
		s := f.shape.schema(defs)
		s["description"] = f.meaning
		properties[f.key] = s
	}
	return schema{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
}

func (p part[T]) schema(defs schema) schema { return p.fields(new(T)).schema(defs) }

func (n named) schema(defs schema) schema {
	return schema{"type": []string{"object", "null"}, "additionalProperties": n.of("").schema(defs)}
}

func (s several) schema(defs schema) schema {
	return schema{"type": []string{"array", "null"}, "items": text{}.schema(defs)}
}

func (p patterns) schema(defs schema) schema { return several(p).schema(defs) }

func (t texts) schema(defs schema) schema {
	return schema{"type": []string{"object", "null"}, "additionalProperties": text{}.schema(defs)}
}

func (t text) schema(schema) schema {
	return schema{"type": []string{"string", "number", "boolean", "null"}}
}

func (o oneOf) schema(schema) schema {
	words := []any{nil}
	for _, w := range o.words {
		words = append(words, w)
	}
	return schema{"anyOf": []schema{{"enum": words}, {"type": "string", "pattern": reference}}}
}

func (b boolean) schema(schema) schema {
	return schema{"type": []string{"boolean", "string", "null"}, "pattern": reference}
}

func (i integer) schema(schema) schema {
	return schema{"type": []string{"integer", "string", "null"}, "pattern": reference, "minimum": i.least, "maximum": i.most}
}

func (u units) schema(schema) schema {
	return schema{"type": []string{"integer", "string", "null"}, "pattern": reference, "maximum": u.most()}
}

func (d duration) schema(schema) schema {
	const amount = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+)$`
	return schema{"type": []string{"string", "integer", "null"}, "pattern": amount + "|" + reference, "minimum": 0, "maximum": 0}
}

func (m moment) schema(schema) schema {
	const rfc3339 = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`
	return schema{"type": []string{"string", "null"}, "pattern": rfc3339 + "|" + reference}
}

func (a accessList) schema(schema) schema { return text{}.schema(nil) }

// shared is a shape that the schema describes once.
type shared struct {
	shape
	name string
}

func (s shared) schema(defs schema) schema {
	if _, isThere := defs[s.name]; !isThere {
		defs[s.name] = nil // in case that it has itself in it
		defs[s.name] = s.shape.schema(defs)
	}
	return schema{"$ref": "#/$defs/" + s.name}
}
