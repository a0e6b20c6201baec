package httpjob

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/httpx"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// template is a text with what is put into it: literals[0], names[0], literals[1], ….
type template struct{ literals, names []string }

// mark stands for a reference while a text is taken apart.
const mark = "\x00"

func parseTemplate(text string) (template, error) {
	if strings.Contains(text, mark) {
		return template{}, errors.New("it has a zero byte")
	}
	var names []string
	marked, err := property.Expand(text, func(name string) (string, bool, error) {
		names = append(names, name)
		return mark, true, nil
	})
	if err != nil {
		return template{}, err
	}
	return template{strings.Split(marked, mark), names}, nil
}

// marked is the text with marks.
func (t template) marked() string { return strings.Join(t.literals, mark) }

// isSecret reports whether the process puts something into the text.
func (t template) isSecret() bool {
	return slices.ContainsFunc(t.names, func(name string) bool {
		for _, form := range forms {
			name = strings.TrimPrefix(name, form.prefix)
		}
		_, known := placeholder(job.ShardingContext{}, name)
		return !known
	})
}

// errUnfit: a value cannot stand where it is to be put. Another attempt has the same value.
var errUnfit = errors.New("a value does not fit")

// maxFilled bounds a text with its values.
const maxFilled = 1 << 20

// filler puts values into the templates of one execution, and knows which of them are secret: all that the process
// has looked up.
type filler struct {
	sc job.ShardingContext
	*property.Secrets
}

func (w worker) filler(sc job.ShardingContext) *filler {
	return &filler{sc, property.NewSecrets(w.lookup, unknown)}
}

// fill puts values into a text. place returns the one of the name with that number.
func (f *filler) fill(t template, place func(i int, name string) (string, error)) (string, error) {
	if len(t.names) == 0 {
		return t.literals[0], nil
	}
	var b strings.Builder
	for i, literal := range t.literals {
		b.WriteString(literal)
		if i < len(t.names) {
			value, err := place(i, t.names[i])
			if err != nil {
				return "", err
			}
			b.WriteString(value)
		}
		if b.Len() > maxFilled {
			return "", fmt.Errorf("with its values it has more than %d bytes: %w", maxFilled, errUnfit)
		}
	}
	return b.String(), nil
}

// value returns what a name stands for.
func (f *filler) value(name string) (string, error) {
	if value, ok := placeholder(f.sc, name); ok {
		return value, nil
	}
	return f.Expand("${" + name + "}")
}

// header fills the text of a header. A line break would begin another header.
func (f *filler) header(t template) (string, error) {
	isBad := func(text string) bool { return !httpx.IsHeaderValue(text) }
	if slices.ContainsFunc(t.literals, isBad) {
		return "", errors.New("control characters are not allowed")
	}
	return f.fill(t, func(_ int, name string) (string, error) {
		value, err := f.value(name)
		if err == nil && isBad(value) {
			err = fmt.Errorf("%s: control characters are not allowed: %w", brief.Quote("${"+name+"}"), errUnfit)
		}
		return value, err
	})
}

// body fills a body: with values as they are, unless their name asks for a form.
func (f *filler) body(t template) (string, error) {
	return f.fill(t, func(_ int, name string) (string, error) {
		for _, form := range forms {
			if plain, ok := strings.CutPrefix(name, form.prefix); ok {
				value, err := f.value(plain)
				return form.of(value), err
			}
		}
		return f.value(name)
	})
}

// forms are how values may be written into a body.
var forms = []struct {
	prefix string
	of     func(value string) string
}{
	{"json:", asJSON},
	{"url:", escape},
}

// asJSON returns a value as a JSON string, with its quotation marks.
func asJSON(value string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // a string always has a form
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// escape returns a value as it may stand anywhere in a URL.
func escape(value string) string { return strings.ReplaceAll(url.QueryEscape(value), "+", "%20") }

// placeholders are what an execution puts into texts.
var placeholders = []struct {
	name string
	of   func(sc job.ShardingContext) string
}{
	{"jobName", func(sc job.ShardingContext) string { return sc.JobName }},
	{"taskId", func(sc job.ShardingContext) string { return sc.TaskID }},
	{"shardingTotalCount", func(sc job.ShardingContext) string { return strconv.Itoa(sc.Total) }},
	{"jobParameter", func(sc job.ShardingContext) string { return sc.JobParameter }},
	{"shardingItem", func(sc job.ShardingContext) string { return strconv.Itoa(sc.Item) }},
	{"shardingParameter", func(sc job.ShardingContext) string { return sc.ItemParameter }},
	{"instanceId", func(sc job.ShardingContext) string { return sc.InstanceID }},
	{"scheduledTime", func(sc job.ShardingContext) string { return sc.ScheduledTime.Format(time.RFC3339Nano) }},
	{"source", func(sc job.ShardingContext) string { return sc.Source.String() }},
	{"attempt", func(sc job.ShardingContext) string { return strconv.Itoa(sc.Attempt) }},
	{"token", func(sc job.ShardingContext) string { return strconv.FormatInt(sc.Token, 10) }},
}

// placeholder returns what an execution has under a name.
func placeholder(sc job.ShardingContext, name string) (string, bool) {
	for _, p := range placeholders {
		if p.name == name {
			return p.of(sc), true
		}
	}
	return "", false
}

// unknown is the Lookup of names that no other knows.
func unknown(string) (string, bool, error) {
	var known []string
	for _, p := range placeholders {
		known = append(known, p.name)
	}
	return "", false, fmt.Errorf("is not known; the placeholders are %s; $${ stands for ${ itself", strings.Join(known, ", "))
}
