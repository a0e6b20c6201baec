package mdpage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Document is a document of YAML in a page. Those within a ConfigMap of Kubernetes follow it.
type Document struct {
	Name string // the file, if the block begins with # name.yaml, or the key in a ConfigMap
	Text string
	Line int      // where its block begins
	Keys []string // its top-level keys, sorted
}

// Has reports whether the document has one of these keys on its top level.
func (d Document) Has(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(d.Keys, key) })
}

var fileName = regexp.MustCompile(`^# ?([\w./-]+\.ya?ml)\b.*\n`)

// File returns the name of the file that the block shows: a block begins with it, in a comment.
func (b Block) File() string {
	if match := fileName.FindStringSubmatch(b.Text); match != nil {
		return match[1]
	}
	return ""
}

// Documents returns all documents of YAML. The error has a line for each one that cannot be read.
func (p Page) Documents() (documents []Document, err error) {
	var mistakes []error
	for _, b := range p.Blocks("yaml") {
		found, err := documentsOf(b.Text)
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s: %w", p.At(b.Line), err))
		}
		for _, d := range found {
			d.Line = b.Line
			if d.Name == "" {
				d.Name = b.File()
			}
			documents = append(documents, d)
		}
	}
	return documents, errors.Join(mistakes...)
}

func documentsOf(text string) (documents []Document, err error) {
	// With the comments, and the positions in errors, that it has as a file of its own.
	parts := regexp.MustCompile(`(?m)^---\s*$`).Split(text, -1)
	for _, part := range parts {
		keys := map[string]any{}
		d := yaml.NewDecoder(strings.NewReader(part))
		if err := d.Decode(&keys); errors.Is(err, io.EOF) {
			continue
		} else if err != nil {
			// A part of a file may be a list, or a single value.
			var other any
			if yaml.NewDecoder(bytes.NewReader([]byte(part))).Decode(&other) != nil {
				return nil, err
			}
		}
		documents = append(documents, Document{Text: part, Keys: slices.Sorted(maps.Keys(keys))})
		data, _ := keys["data"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(data)) {
			inner, isText := data[name].(string)
			if keys["kind"] != "ConfigMap" || !isText || !strings.HasSuffix(name, ".yaml") {
				continue
			}
			within, err := documentsOf(inner)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			for i := range within {
				within[i].Name = name
			}
			documents = append(documents, within...)
		}
	}
	return documents, nil
}
