package jobfile

import (
	"errors"
	"fmt"
	"math"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// shape is what a value may be. It is the same for the program and for editors.
type shape interface {
	// read checks a value, which is not null, and puts it into a variable of the program.
	read(v *value, path string, r *reader)
	// schema describes the values, and null, which removes a value of an earlier file.
	schema(defs schema) schema
	// written returns what read takes for what the variable has.
	written() *yaml.Node
}

// field is a key that a mapping may have.
type field struct {
	key     string
	shape   shape
	meaning string // for people: what it is, its default, its unit
	// registry is the name in the registry, if the registry has the field under another one.
	registry string
}

// fields are the keys of a mapping. Others are mistakes.
type fields []field

func (fs fields) read(v *value, path string, r *reader) {
	if !r.is(v, path, mapping) {
		return
	}
	for _, e := range v.entries {
		below := join(path, e.key)
		i := slices.IndexFunc(fs, func(f field) bool { return f.key == e.key })
		switch {
		case i < 0 && r.isFull(): // to look for what was meant takes time
			r.more++
		case i < 0:
			r.fault(e.at, below, "unknown key%s", fs.meant(e))
		case e.value.kind != null:
			fs[i].shape.read(e.value, below, r)
		}
	}
}

// meant says what was most likely meant by a key that is not known here.
func (fs fields) meant(e entry) string {
	if e.value.kind == null && e.value.text == "" && strings.Contains(e.key, " ") {
		return "; within braces a text with a comma in it needs quotation marks"
	}
	_, last, isNested := strings.Cut(e.key, ".")
	if !isNested {
		last = e.key
	}
	for _, f := range fs {
		of := f.shape
		if defaults, ok := of.(shared); ok {
			of = defaults.shape
		}
		below, ok := of.(fields)
		if ok && slices.Contains(below.keys(), last) && (!isNested || e.key == f.key+"."+last) {
			return fmt.Sprintf("; did you mean %s: {%s: …}?", f.key, last)
		}
	}
	if here := elasticJobKeys[e.key]; here != "" && slices.Contains(fs.keys(), keyProps) {
		return "; in a file it is " + here
	}
	hint, name := orMeant(e.key, fs.keys()), strings.TrimPrefix(e.wholeName(), keyProps+".")
	if key := fs.keyOf(inProps + name); key != "" {
		return "; in a file it is " + key
	}
	if hint == "" && strings.Contains(name, ".") && slices.Contains(fs.keys(), keyProps) {
		return fmt.Sprintf("; properties stand in props, each with its whole name: props: {%s: …}", shown(name))
	}
	return hint
}

// elasticJobKeys are keys of a job in ElasticJob's documents, its starter and Spring's namespace that no key here is like.
var elasticJobKeys = map[string]string{
	"class":                         "implementation",
	"jobClass":                      "implementation",
	"elasticJobClass":               "implementation",
	"elasticJobType":                "type",
	"jobType":                       "type",
	"streamingProcess":              "props: {streaming.process: …}",
	"streaming-process":             "props: {streaming.process: …}",
	"scriptCommandLine":             "props: {script.command.line: …}",
	"script-command-line":           "props: {script.command.line: …}",
	"job-exception-handler":         "jobErrorHandlerType",
	"executor-service-handler":      "threads",
	"jobExecutorServiceHandlerType": "threads",
	"monitorPort":                   "dump: {line: …}, of the process",
	"monitor-port":                  "dump: {line: …}, of the process",
}

func (fs fields) keys() []string {
	keys := make([]string, len(fs))
	for i, f := range fs {
		keys[i] = f.key
	}
	slices.Sort(keys)
	return keys
}

func join(path, key string) string {
	if path == "" {
		return shown(key)
	}
	return path + "." + shown(key)
}

// is reports whether a value is of a kind.
func (r *reader) is(v *value, path string, k kind) bool {
	if v.kind != k {
		r.fault(v.at, path, "%v is allowed, here is %v", k, v.kind)
	}
	return v.kind == k
}

// part is a mapping that may be left out: then there is no T.
type part[T any] struct {
	to     **T
	fields func(*T) fields
}

func (p part[T]) read(v *value, path string, r *reader) {
	t := new(T)
	*p.to = t
	p.fields(t).read(v, path, r)
}

// named is a mapping of names. of returns the shape of what has a name.
type named struct {
	of func(name string) shape
}

func (n named) read(v *value, path string, r *reader) {
	if !r.is(v, path, mapping) {
		return
	}
	for _, e := range v.entries {
		if e.value.kind != null {
			n.of(e.key).read(e.value, join(path, e.key), r)
		}
	}
}

// several is a list of texts.
type several struct{ to *[]string }

func (s several) read(v *value, path string, r *reader) {
	if !r.is(v, path, list) {
		return
	}
	texts := make([]string, len(v.list))
	for i, child := range v.list {
		text{&texts[i]}.read(child, fmt.Sprintf("%s[%d]", path, i), r)
	}
	*s.to = texts
}

// addresses are a list of texts, each with a check whose errors begin in the middle of a sentence.
type addresses struct {
	several
	check func(string) error
}

func (a addresses) read(v *value, path string, r *reader) {
	a.several.read(v, path, r)
	for i, child := range v.list {
		if child.kind != scalar || r.draft && child.hasReference() {
			continue
		}
		if err := a.check(child.text); err != nil {
			r.fault(child.at, fmt.Sprintf("%s[%d]", path, i), "%w", err)
		}
	}
}

// texts is a mapping of texts.
type texts struct{ to *map[string]string }

func (t texts) read(v *value, path string, r *reader) {
	if !r.is(v, path, mapping) {
		return
	}
	m := make(map[string]string, len(v.entries))
	for _, e := range v.entries {
		switch e.value.kind {
		case null:
		case mapping:
			r.fault(e.value.at, join(path, e.key), "%v is allowed, here is %v; write the whole name: %s: …", scalar, mapping, shown(e.wholeName()))
		default:
			var s string
			text{&s}.read(e.value, join(path, e.key), r)
			m[e.key] = s
		}
	}
	*t.to = m
}

// text is a single value of any type, as it is written.
type text struct{ to *string }

func (t text) read(v *value, path string, r *reader) {
	r.single(v, path, func() error {
		*t.to = v.text
		return nil
	})
}

// listen is an address to listen on, or nothing. A port may have a name, which only the process can look up.
type listen struct{ text }

func (l listen) read(v *value, path string, r *reader) {
	r.single(v, path, func() error {
		*l.to = v.text
		if v.text == "" {
			return nil
		}
		_, port, err := net.SplitHostPort(v.text)
		if err != nil {
			return errors.New("host:port is allowed, such as 127.0.0.1:8080")
		}
		if n, err := strconv.Atoi(port); port == "" || errors.Is(err, strconv.ErrRange) || err == nil && (n < 0 || n > math.MaxUint16) {
			return fmt.Errorf("ports from 0 to %d are allowed", math.MaxUint16)
		}
		return nil
	})
}

// single reads a single value, unless it is still to be expanded.
func (r *reader) single(v *value, path string, set func() error) {
	if !r.is(v, path, scalar) || r.draft && v.hasReference() {
		return
	}
	if err := set(); err != nil {
		r.fault(v.at, path, "%s: %w", brief.Quote(v.written), err)
	}
}

// plain is single for values that are no texts.
func (r *reader) plain(v *value, path, allowed string, set func() error) {
	r.single(v, path, func() error {
		if v.quoted {
			return fmt.Errorf("%s is allowed, here is a text", allowed)
		}
		return set()
	})
}

// oneOf is one of some words.
type oneOf struct {
	to    *string
	words []string
}

func (o oneOf) read(v *value, path string, r *reader) {
	r.single(v, path, func() error {
		if !slices.Contains(o.words, v.text) {
			return fmt.Errorf("%s is allowed", strings.Join(o.words, " or "))
		}
		*o.to = v.text
		return nil
	})
}

// boolean is true or false.
type boolean struct {
	set func(bool)
	get func() bool
}

func flag(to *bool) boolean {
	return boolean{func(on bool) { *to = on }, func() bool { return *to }}
}

// unless is a flag that stands for its opposite.
func unless(to *bool) boolean {
	return boolean{func(on bool) { *to = !on }, func() bool { return !*to }}
}

func toggle(to *jobtype.Toggle) boolean {
	return boolean{func(on bool) { *to = jobtype.ToggleOf(on) }, func() bool { return *to == jobtype.On }}
}

func (b boolean) read(v *value, path string, r *reader) {
	const allowed = "true or false"
	r.plain(v, path, allowed, func() error {
		if v.text != "true" && v.text != "false" {
			return fmt.Errorf("%s is allowed", allowed)
		}
		b.set(v.text == "true")
		return nil
	})
}

// integer is a whole number.
type integer struct {
	to          *int
	least, most int
}

func (i integer) read(v *value, path string, r *reader) {
	allowed := fmt.Sprintf("an integer from %d to %d", i.least, i.most)
	r.plain(v, path, allowed, func() error {
		n, err := strconv.Atoi(v.text)
		if err != nil || n < i.least || n > i.most {
			return fmt.Errorf("%s is allowed", allowed)
		}
		*i.to = n
		return nil
	})
}

// units is a time as a whole number of units, as ElasticJob has it; 0 and less is off.
type units struct {
	to   *time.Duration
	unit time.Duration
}

func (u units) read(v *value, path string, r *reader) {
	allowed := fmt.Sprintf("an integer up to %d, times %v, or 0 for off", u.most(), u.unit)
	r.plain(v, path, allowed, func() error {
		n, err := strconv.ParseInt(v.text, 10, 64)
		if err != nil || n > u.most() {
			return fmt.Errorf("%s is allowed", allowed)
		}
		if *u.to = time.Duration(n) * u.unit; n <= 0 {
			*u.to = off
		}
		return nil
	})
}

func (u units) most() int64 { return int64(math.MaxInt64 / u.unit) }

// off is a time that is switched off, where 0 would mean the default.
const off time.Duration = -1

// duration is a time as Go writes it: 1m30s.
type duration struct {
	to    *time.Duration
	least time.Duration
	// zero is what 0 means.
	zero time.Duration
}

func (d duration) read(v *value, path string, r *reader) {
	r.single(v, path, func() error {
		switch t, err := time.ParseDuration(v.text); {
		case err != nil:
			return errors.New("a time such as 1m30s or 500ms is allowed")
		case t < d.least:
			return fmt.Errorf("a time of at least %v is allowed", d.least)
		case t == 0:
			*d.to = d.zero
		default:
			*d.to = t
		}
		return nil
	})
}

// moment is a time as RFC 3339 has it.
type moment struct{ to *time.Time }

func (m moment) read(v *value, path string, r *reader) {
	r.single(v, path, func() error {
		t, err := time.Parse(time.RFC3339, v.text)
		if err != nil {
			return errors.New("a time such as 2026-12-24T18:00:00Z or 2026-12-24T18:00:00+08:00 is allowed")
		}
		*m.to = t
		return nil
	})
}

// accessList is an access list of ZooKeeper, as [zk.ParseACL] has it.
type accessList struct{ to *zk.ACL }

func (a accessList) read(v *value, path string, r *reader) {
	r.single(v, path, func() (err error) {
		*a.to, err = zk.ParseACL(v.text)
		return err
	})
}

// patterns are patterns of names, as [path.Match] has them.
type patterns struct{ to *[]string }

func (p patterns) read(v *value, at string, r *reader) {
	before := len(r.mistakes)
	several(p).read(v, at, r)
	if len(r.mistakes) > before {
		return
	}
	for i, pattern := range *p.to {
		if _, err := path.Match(pattern, ""); err != nil {
			r.fault(v.list[i].at, at, "%s: a pattern such as settle-* is allowed: %w", brief.Quote(pattern), err)
		}
	}
}
