package alert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"
	"text/template/parse"
	"time"
)

// Bounds of a template, in bytes.
const (
	maxTemplate = 16 << 10
	maxBody     = 64 << 10
)

// bodyTemplate makes the body of a request of a message.
type bodyTemplate struct{ parsed *template.Template }

// newBodyTemplate parses a template, and tries it with messages of all sorts.
func newBodyTemplate(text string, isJSON bool, expand func(string) (string, error)) (*bodyTemplate, error) {
	unresolved := func(string) (string, error) { return "", errors.New("secret is not known here") }
	parsed, err := template.New("").Option("missingkey=error").Funcs(functions(unresolved)).Parse(text)
	if err != nil {
		return nil, withoutPrefix(err)
	}
	if err := checkTemplate(parsed); err != nil {
		return nil, err
	}
	t := &bodyTemplate{parsed}
	for _, m := range samples() {
		body, err := t.execute(m, func(text string) (string, error) {
			_, err := expand(text)
			return "secret", err
		})
		if err != nil {
			return nil, err
		}
		if isJSON && !json.Valid(body) {
			return nil, errors.New("the body that it makes is no JSON, as webhook.content.type says; is there a text without the function json?")
		}
	}
	return t, nil
}

// execute makes a body. expand puts the values of references in their place.
func (t *bodyTemplate) execute(m Message, expand func(string) (string, error)) ([]byte, error) {
	clone, err := t.parsed.Clone()
	if err != nil {
		return nil, err
	}
	var body bounded
	if err := clone.Funcs(functions(expand)).Execute(&body, m); err != nil {
		return nil, withoutPrefix(err)
	}
	return body.Bytes(), nil
}

// samples are messages with texts that break what does not escape them.
func samples() []Message {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)
	failure := Message{
		Job: "sample", Failing: 2, Error: "a \"sample\"\nof <an> error \\ & more", Count: 3, Items: []int{0, 1},
		First: at, Last: at.Add(time.Minute), Host: "host", Unsent: 1,
		Execution: Execution{Item: 1, TaskID: "task", InstanceID: "instance", ScheduledTime: at, Source: "NORMAL_TRIGGER", Attempt: 1},
	}
	recovery := failure
	recovery.Recovered, recovery.Failing, recovery.Error, recovery.Unsent = true, 0, "", 0
	lost := Message{
		Job: "sample", About: AboutFault, What: "fault of the kind store", Fault: "store", Holding: 1, Error: failure.Error, Count: 1, Items: []int{},
		First: at, Last: at, Execution: Execution{InstanceID: "instance"}, Host: "host",
	}
	late := Message{
		Job: "sample", About: AboutLate, What: "not done by 06:00", Recovered: true, Count: 1, Items: []int{1},
		First: at, Last: at, Execution: Execution{ScheduledTime: at}, Host: "host",
	}
	return []Message{failure, recovery, lost, late}
}

// functions are what a template has beside the fields of the message.
func functions(expand func(string) (string, error)) template.FuncMap {
	return template.FuncMap{
		"json": func(v any) (string, error) {
			text, err := json.Marshal(v)
			if len(text) > maxBody {
				return "", errBody
			}
			return string(text), err
		},
		"secret": func(name string) (string, error) {
			if !strings.HasPrefix(name, "env:") && !strings.HasPrefix(name, "file:") {
				return "", errors.New("secret env:NAME and secret file:/path are allowed, within quotation marks")
			}
			return expand("${" + name + "}")
		},
		"printf": func(format string, args ...any) (string, error) {
			if wideVerb.MatchString(format) {
				return "", errors.New("printf with a width of more than two digits is not allowed")
			}
			return short(func(args ...any) string { return fmt.Sprintf(format, args...) })(args...)
		},
		// These are the functions of package template, for texts of a bounded length: a variable
		// that is put together of others would double its length at each step.
		"print":    short(fmt.Sprint),
		"println":  short(fmt.Sprintln),
		"html":     short(template.HTMLEscaper),
		"js":       short(template.JSEscaper),
		"urlquery": short(template.URLQueryEscaper),
	}
}

// short bounds what a function is given, and what it returns.
func short(f func(...any) string) func(...any) (string, error) {
	return func(args ...any) (string, error) {
		given := 0
		for _, arg := range args {
			if text, ok := arg.(string); ok {
				given += len(text)
			}
		}
		if given > maxBody {
			return "", errBody
		}
		text := f(args...)
		if len(text) > maxBody {
			return "", errBody
		}
		return text, nil
	}
}

// wideVerb finds what makes a long text of a short one.
var wideVerb = regexp.MustCompile(`%[^a-zA-Z%]*(\*|[0-9]{3})`)

var errBody = fmt.Errorf("more than %d bytes", maxBody)

// bounded is a buffer that refuses what is too long.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxBody {
		return 0, errBody
	}
	return b.Buffer.Write(p)
}

// checkTemplate refuses what may take for ever: a loop over a number, loops within loops, and
// templates that call each other.
func checkTemplate(t *template.Template) error {
	if len(t.Templates()) > 1 {
		return errors.New("define and block are not allowed")
	}
	if t.Tree == nil {
		return nil // it is empty
	}
	return checkNodes(t.Root, false)
}

func checkNodes(list *parse.ListNode, inRange bool) error {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		var inner *parse.BranchNode
		repeats := inRange
		switch n := node.(type) {
		case *parse.TemplateNode:
			return errors.New("template is not allowed")
		case *parse.RangeNode:
			if inRange {
				return errors.New("range within range is not allowed")
			}
			if over := n.Pipe.String(); over != ".Items" && over != "$.Items" && !strings.HasSuffix(over, ":= .Items") && !strings.HasSuffix(over, ":= $.Items") {
				return fmt.Errorf("range over .Items is allowed, not over %s", over)
			}
			inner, repeats = &n.BranchNode, true
		case *parse.IfNode:
			inner = &n.BranchNode
		case *parse.WithNode:
			inner = &n.BranchNode
		default:
			continue
		}
		if err := checkNodes(inner.List, repeats); err != nil {
			return err
		}
		if err := checkNodes(inner.ElseList, inRange); err != nil {
			return err
		}
	}
	return nil
}

// withoutPrefix takes the beginning out of an error, which is about a name that templates here
// do not have.
func withoutPrefix(err error) error {
	return errors.New(strings.TrimPrefix(strings.TrimPrefix(err.Error(), "template: "), ":"))
}
