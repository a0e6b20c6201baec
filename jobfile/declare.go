package jobfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Declarations are what files say of a namespace, whoever runs its jobs.
type Declarations struct {
	Jobs      []Declared // by name
	Calendars []Calendar // by name
}

// Declared is a job of files.
type Declared struct {
	Config jobtype.Config
	// Type or Implementation says what does the work: one of the two. The registry has only one
	// name for both: see [Declared.Work].
	Type, Implementation string

	from *declared // nil if it comes from no file
}

// Calendar is a calendar of files: see package calendar.
type Calendar struct {
	Name, Document string

	at place
}

// Declare reads what files say of jobs and calendars, for a program that writes them into the
// registry and runs none. So a job may have any type or implementation, and no file needs to have
// a registry. The other sections may have no mistakes, but what they refer to need not be there.
// Of the options, Profiles and LookupEnv count. A job with enabled: false is left out.
//
// What types and error handlers say of props is not asked: see [Declarations.Check].
//
// The error is an *Error with all mistakes, or that of reading a file.
func Declare(o Options, paths ...string) (*Declarations, error) {
	sources := make([]Source, len(paths))
	texts, err := readAll(paths)
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		sources[i] = Source{path, texts[i]}
	}
	return DeclareSources(o, sources...)
}

// Source is the text of a file. Its name stands in mistakes, and relative paths begin in the folder of it.
type Source struct {
	Name string
	Text []byte
}

// DeclareSources is [Declare] for texts.
func DeclareSources(o Options, sources ...Source) (*Declarations, error) {
	if len(sources) == 0 || len(sources) > maxFiles {
		return nil, fmt.Errorf("jobfile: %d files; 1 to %d are allowed", len(sources), maxFiles)
	}
	names, texts := make([]string, len(sources)), make([][]byte, len(sources))
	for i, s := range sources {
		names[i], texts[i] = s.Name, s.Text
	}
	return declare(o, names, texts)
}

// declare is Declare for files whose content is given.
func declare(o Options, paths []string, sources [][]byte) (*Declarations, error) {
	o = o.withDefaults()
	merged, r, err := together(o, paths, sources)
	if err != nil {
		return nil, err
	}
	var d document
	sections := []string{keyJobs, keyCalendars}
	if !merged.get(keyRegistry).refers() {
		sections = append(sections, keyRegistry)
	}
	whole, err := d.take(o, merged.only(sections...), r)
	if err != nil {
		return nil, err
	}
	d.registry.checkConfig(whole.get(keyRegistry), r)
	d.checkJobs(whole, r)
	if err := r.err(); err != nil {
		return nil, err
	}
	return d.declarations(), nil
}

// only leaves out all other keys of a mapping.
func (v *value) only(keys ...string) *value {
	if v == nil || v.kind != mapping {
		return v
	}
	left := *v
	left.entries = slices.DeleteFunc(slices.Clone(v.entries), func(e entry) bool { return !slices.Contains(keys, e.key) })
	return &left
}

func (d *document) declarations() *Declarations {
	all := &Declarations{}
	for _, j := range d.jobs {
		if !j.disabled {
			all.Jobs = append(all.Jobs, Declared{Config: j.config, Type: j.work.jobType, Implementation: j.work.implementation, from: j})
		}
	}
	for _, c := range d.calendars {
		all.Calendars = append(all.Calendars, *c)
	}
	all.sort()
	return all
}

func (d *Declarations) sort() {
	slices.SortFunc(d.Jobs, func(a, b Declared) int { return cmp.Compare(a.Config.Name, b.Config.Name) })
	slices.SortFunc(d.Calendars, func(a, b Calendar) int { return cmp.Compare(a.Name, b.Name) })
}

// check checks a calendar.
func (c *Calendar) check(e entry, r *reader) {
	c.at = e.value.at
	path := join(keyCalendars, e.key)
	if !jobtree.IsName(c.Name) {
		r.fault(e.at, path, "no calendar can have this name")
	} else if _, err := calendar.Parse([]byte(c.Document)); err != nil {
		r.fault(c.at, path, "%w", err)
	}
}

// Place says where the calendar stands: file:line:column. It is empty if that is in no file.
func (c Calendar) Place() string { return c.at.String() }

// InRegistry returns a job as a file would say it, given what the registry has of it. Which types
// programs have is not known there: but for SCRIPT and HTTP, work is taken for the name of an
// implementation.
func InRegistry(c jobtype.Config, work string) Declared {
	switch work {
	case script.Name, httpjob.Name:
		return Declared{Config: c, Type: work}
	}
	return Declared{Config: c, Implementation: work}
}

// Work is what the registry has of Type and Implementation.
func (d Declared) Work() string { return cmp.Or(d.Type, d.Implementation) }

// Place says where the job stands: file:line:column. It is empty if that is in no file.
func (d Declared) Place() string { return d.PlaceOf(nil) }

// PlaceOf is Place for the key that an error is about, if it is one of a configuration.
func (d Declared) PlaceOf(err error) string {
	if d.from == nil {
		return ""
	}
	return d.from.placeOf(err).String()
}

func (d Declared) fields() fields {
	return (&declared{config: d.Config.WithDefaults(), work: work{d.Type, d.Implementation}}).fields()
}

// Difference is a key that has other values in two jobs.
type Difference struct {
	// Key is as in a file, such as retry.attempts, or props.script.command.line.
	Key string `json:"key"`
	// Before and After are the values as they may stand in a file, with defaults; nil if there is
	// none. Those of props are shown, too: secrets ought to stand there as references only.
	Before *string `json:"before,omitempty"`
	After  *string `json:"after,omitempty"`
}

// String says it in one line of bounded length.
func (d Difference) String() string {
	return fmt.Sprintf("%s: %s → %s", brief.Text(d.Key), shownValue(d.Before), shownValue(d.After))
}

// AfterText is After as String shows it.
func (d Difference) AfterText() string { return shownValue(d.After) }

func shownValue(text *string) string {
	switch {
	case text == nil:
		return "none"
	case *text == "" || *text != strings.TrimSpace(*text):
		return brief.Quote(*text)
	}
	return shown(*text)
}

// Differences returns the keys in which another description of the job differs, in the order of
// the documentation.
func (d Declared) Differences(after Declared) []Difference {
	if d.Work() == after.Work() && d.Config.Equal(after.Config) {
		return nil // the usual case takes little time
	}
	var list []Difference
	if was, is := d.Work(), after.Work(); was != is {
		key := "implementation"
		if after.Type != "" {
			key = "type"
		}
		list = append(list, Difference{key, &was, &is})
	}
	after.Type, after.Implementation = d.Type, d.Implementation
	before := map[string]string{}
	for _, e := range d.fields().texts("") {
		before[e.key] = e.text
	}
	for _, e := range after.fields().texts("") {
		was, had := before[e.key]
		delete(before, e.key)
		switch {
		case !had:
			list = append(list, Difference{Key: e.key, After: &e.text})
		case was != e.text:
			list = append(list, Difference{e.key, &was, &e.text})
		}
	}
	for _, e := range d.fields().texts("") {
		if was, left := before[e.key]; left {
			list = append(list, Difference{Key: e.key, Before: &was})
		}
	}
	return list
}

// pair is a key with its value as a text.
type pair struct{ key, text string }

// texts returns all values of fields.
func (fs fields) texts(path string) []pair { return pairs(path, fs.written()) }

func pairs(path string, n *yaml.Node) []pair {
	switch n.Kind {
	case yaml.MappingNode:
		var list []pair
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if path != "" {
				key = path + "." + key
			}
			list = append(list, pairs(key, n.Content[i+1])...)
		}
		return list
	case yaml.SequenceNode:
		items := make([]string, len(n.Content))
		for i, child := range n.Content {
			items[i] = child.Value
		}
		return []pair{{path, strings.Join(items, ", ")}}
	}
	return []pair{{path, n.Value}}
}

// Write writes one file that [Declare] takes back as the same. What has its default is left out.
//
// Errors: ErrInvalid, with the file, if that has mistakes, so that somebody can correct them; if it would be too large; if a
// job is there twice.
func (d Declarations) Write() ([]byte, error) {
	d = Declarations{slices.Clone(d.Jobs), slices.Clone(d.Calendars)}
	d.sort()
	var root, jobs, calendars []*yaml.Node
	defaults := Declared{}.fields()
	for _, j := range d.Jobs {
		jobs = append(jobs, nameNode(j.Config.Name), j.fields().besides(defaults).written())
	}
	for _, c := range d.Calendars {
		calendars = append(calendars, nameNode(c.Name), text{&c.Document}.written())
	}
	if calendars != nil {
		root = append(root, nameNode(keyCalendars), mappingNode(calendars))
	}
	root = append(root, nameNode(keyJobs), mappingNode(jobs))
	written, err := marshal(mappingNode(root))
	if err != nil {
		return nil, fmt.Errorf("jobfile: write: %w", err)
	}
	if err := d.check(written); errors.Is(err, ErrInvalid) {
		return written, fmt.Errorf("jobfile: write: %w", err)
	} else if err != nil {
		return nil, fmt.Errorf("jobfile: write: %w", err)
	}
	return written, nil
}

// check looks whether a file that was written is read as the declarations.
func (d Declarations) check(written []byte) error {
	back, err := declare(Options{Profiles: []string{}}, []string{"the file that was written"}, [][]byte{written})
	if err != nil {
		return err
	}
	isSame := func(a, b Declared) bool { return a.Work() == b.Work() && a.Config.Equal(b.Config) }
	if !slices.EqualFunc(d.Jobs, back.Jobs, isSame) || !slices.EqualFunc(d.Calendars, back.Calendars, func(a, b Calendar) bool { return a.Document == b.Document }) {
		return errors.New("it would be read as something else")
	}
	return nil
}
