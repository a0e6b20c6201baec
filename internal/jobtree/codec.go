package jobtree

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// codec writes and reads the documents of one type, which this project alone has in the tree: YAML
// with one key in a line, in the order of the struct's fields. The tag of a field says its key, or else that for JSON:
//
//	doc:"by,255"        a text of at most 255 bytes: a longer one is cut when it is written, and refused when it is read
//	doc:"jobs,always"   is written although it is zero; others are left out
//	doc:"since,exact"   a time with nanoseconds; others have milliseconds
//
// A reader ignores the keys that it does not know, and a key that is missing is zero. Items are written as
// ranges, 0-3,7. It is not encoding/json or the YAML library, because those name no field if they cannot read
// one, and bound neither texts nor the time that a document takes.
type codec[D any] struct {
	what   string // begins errors
	most   int    // bytes of a document
	check  func(*D) error
	fields []field
}

// field is a field of a struct that has a key.
type field struct {
	index  []int
	key    string
	most   int     // bytes of a text; 0 if it has no bound
	always bool    // it is written although it is zero
	layout string  // of a time
	fields []field // of the structs of a list
}

// newCodec returns the codec of a type. check refuses documents that were read, and may be nil.
func newCodec[D any](what string, most int, check func(*D) error) *codec[D] {
	return &codec[D]{what, most, check, fieldsOf(reflect.TypeFor[D]())}
}

func fieldsOf(t reflect.Type) (list []field) {
	for _, f := range reflect.VisibleFields(t) {
		key, option, _ := strings.Cut(cmp.Or(f.Tag.Get("doc"), f.Tag.Get("json")), ",")
		if key == "" {
			continue
		}
		of := field{index: f.Index, key: key, always: option == "always", layout: firedLayout}
		if option == "exact" {
			of.layout = time.RFC3339Nano
		}
		of.most, _ = strconv.Atoi(option) // 0 if it is none
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
			of.fields = fieldsOf(f.Type.Elem())
		}
		list = append(list, of)
	}
	return list
}

// encode returns a document; nil if all of it is zero.
func (c *codec[D]) encode(d D) []byte {
	b := appendFields(make([]byte, 0, 192), reflect.ValueOf(&d).Elem(), c.fields)
	if len(b) == 0 {
		return nil
	}
	return b
}

// encodeBounded is encode for a document of which nothing may be cut.
func (c *codec[D]) encodeBounded(d D) ([]byte, error) {
	b := c.encode(d)
	if len(b) > c.most {
		return nil, fmt.Errorf("%s: %w", c.what, errSize(len(b), c.most))
	}
	return b, nil
}

// errNone is the error of a value that has to be a document.
var errNone = errors.New("there is no document")

func errSize(size, most int) error { return fmt.Errorf("%d bytes, at most %d are allowed", size, most) }

func appendFields(b []byte, d reflect.Value, fields []field) []byte {
	for i := range fields {
		f := &fields[i]
		v := d.FieldByIndex(f.index)
		if v.IsZero() && !f.always {
			continue
		}
		switch v.Kind() {
		case reflect.String:
			b = appendText(b, f.key, v.String(), f.most)
		case reflect.Bool:
			b = append(strconv.AppendBool(appendKey(b, f.key), v.Bool()), '\n')
		case reflect.Int, reflect.Int64:
			b = append(strconv.AppendInt(appendKey(b, f.key), v.Int(), 10), '\n')
		case reflect.Slice:
			b = appendList(b, v, f)
		default:
			b = appendTime(b, f.key, *v.Addr().Interface().(*time.Time), f.layout)
		}
	}
	return b
}

func appendKey(b []byte, key string) []byte { return append(append(b, key...), ": "...) }

// appendTime writes a time, unless it is zero or its year is not allowed in RFC 3339.
func appendTime(b []byte, key string, t time.Time, layout string) []byte {
	t = t.UTC()
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return b
	}
	return append(t.AppendFormat(appendKey(b, key), layout), '\n')
}

// appendText writes a text, between quotation marks if YAML needs them. YAML reads all
// escapes that Go writes, except those for bytes that are not UTF-8.
func appendText(b []byte, key, text string, most int) []byte {
	if text == "" {
		return b
	}
	if most > 0 {
		text = brief.Cut(text, most)
	}
	text = strings.ToValidUTF8(text, "?")
	if b = appendKey(b, key); plainScalar(text) {
		return append(append(b, text...), '\n')
	}
	return append(strconv.AppendQuote(b, text), '\n')
}

// plainScalar reports whether text surely means the same text in YAML, without quotes.
func plainScalar(text string) bool {
	if text == "" || strings.EqualFold(text, "null") || strings.Contains(text, ": ") {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case strings.IndexByte(".,@_=-:/*? ", c) >= 0 && i > 0:
		default:
			return false
		}
	}
	return strings.IndexByte(": ", text[len(text)-1]) < 0
}

// appendList writes a list, with one element in a line or, if it has fields, in one line for each of them.
func appendList(b []byte, v reflect.Value, f *field) []byte {
	list := v.Addr().Interface()
	if items, ok := list.(*[]int); ok {
		return append(strconv.AppendQuote(appendKey(b, f.key), formatItems(*items)), '\n')
	}
	b = append(append(b, f.key...), ":\n"...)
	for i := range v.Len() {
		b = append(b, "- "...)
		switch list := list.(type) {
		case *[]string:
			b = strconv.AppendQuote(b, strings.ToValidUTF8((*list)[i], "?"))
		case *[]time.Time:
			b = strconv.AppendQuote(b, string(EncodeFired((*list)[i])))
		default:
			lines := bytes.TrimSuffix(appendFields(nil, v.Index(i), f.fields), []byte("\n"))
			b = append(b, bytes.ReplaceAll(lines, []byte("\n"), []byte("\n  "))...)
		}
		b = append(b, '\n')
	}
	return b
}

// decode reads a document. An error names the field, and comes with the zero document.
func (c *codec[D]) decode(value []byte) (d D, err error) {
	if d, err = c.read(value); err != nil {
		var zero D
		return zero, err
	}
	return d, nil
}

// read is decode for who wants what could be read of a bad document, too.
func (c *codec[D]) read(value []byte) (d D, err error) {
	if err = c.readInto(&d, value); err != nil {
		return d, fmt.Errorf("%s: %w", c.what, brief.Error(err))
	}
	return d, nil
}

func (c *codec[D]) readInto(d *D, value []byte) error {
	if len(value) > c.most {
		return errSize(len(value), c.most)
	}
	document, err := yamldoc.Parse(value)
	if err != nil && !errors.Is(err, yamldoc.ErrEmpty) {
		return err
	}
	err = readFields(document, reflect.ValueOf(d).Elem(), c.fields)
	if err != nil || c.check == nil {
		return err
	}
	return c.check(d)
}

// readFields returns the first error, and reads the other fields nevertheless.
func readFields(document map[string]*yaml.Node, d reflect.Value, fields []field) (err error) {
	for i := range fields {
		f := &fields[i]
		if unread := readField(document[f.key], d.FieldByIndex(f.index), f); unread != nil && err == nil {
			err = fmt.Errorf("%s: %w", f.key, unread)
		}
	}
	return err
}

func readField(n *yaml.Node, v reflect.Value, f *field) error {
	switch list := v.Addr().Interface().(type) {
	case *[]string:
		*list = textsOf(n)
		return nil
	case *[]int:
		text, err := yamldoc.Text(n)
		if err != nil || text == "" {
			return err
		}
		*list, err = parseItems(text)
		return err
	}
	if v.Kind() == reflect.Slice {
		return readList(n, v, f)
	}
	text, err := yamldoc.Text(n)
	if err != nil || text == "" {
		return err
	}
	return readText(text, v, f.most)
}

// textsOf returns the texts of a list. It leaves out what is none.
func textsOf(n *yaml.Node) (texts []string) {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	for _, text := range n.Content {
		if text = yamldoc.Resolve(text); text.Kind == yaml.ScalarNode && !yamldoc.IsNull(text) {
			texts = append(texts, text.Value)
		}
	}
	return texts
}

func readList(n *yaml.Node, v reflect.Value, f *field) error {
	if yamldoc.IsNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return errors.New("a list is allowed")
	}
	list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, n := range n.Content {
		err := error(nil)
		if f.fields == nil {
			err = readField(yamldoc.Resolve(n), list.Index(i), f)
		} else if document, unread := yamldoc.Mapping(n); unread != nil {
			err = unread
		} else {
			err = readFields(document, list.Index(i), f.fields)
		}
		if err != nil {
			return err
		}
	}
	v.Set(list)
	return nil
}

func readText(text string, v reflect.Value, most int) error {
	switch v.Kind() {
	case reflect.String:
		if most > 0 && len(strings.TrimSuffix(text, "…")) > most { // a text that was cut ends with …
			return errSize(len(text), most)
		}
		v.SetString(text)
	case reflect.Bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%s: true and false are allowed", brief.Quote(text))
		}
		v.SetBool(text == "true")
	case reflect.Int, reflect.Int64:
		number, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%s: an integer is allowed", brief.Quote(text))
		}
		v.SetInt(number)
	default:
		at, err := parseTime(text)
		if err != nil {
			return err
		}
		v.Set(reflect.ValueOf(at))
	}
	return nil
}
