package jobtype

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// replacement puts a configuration into a document, in place of the one that is there. What
// means the same stays as it is written in the old document.
type replacement struct {
	old, oldProps document
	was           Config // what the old document says, with defaults
	unread        faults // what of the old document could not be read
}

// replacedBy returns the document with a configuration in place of its own. It keeps keys
// that a Config has no field for.
func (d document) replacedBy(c Config) document {
	r := replacement{old: d}
	r.unread = d.decode(&r.was)
	r.was = r.was.WithDefaults()
	if !r.unread.of(jobconf.KeyProps) {
		r.oldProps, _ = d.props()
	}
	defaults := defaultConfig()

	out, props := make(document), make(document)
	for key, value := range d {
		if !hasPlace(key) {
			out[key] = value
		}
	}
	r.putFields(out, d, c.fields(), r.was.fields(), defaults.fields())
	r.putListeners(out, c.Listeners)
	r.putFields(props, r.oldProps, c.propFields(), r.was.propFields(), defaults.propFields())
	r.putOtherProps(props, c.Props)
	r.putThreads(out, props, c.Threads)
	r.putProps(out, props)
	return out
}

// putFields puts fields into out. One that has its default is left out, unless ElasticJob
// always writes it. A binary text is written as text, because ElasticJob reads binary listeners
// and properties as something else.
func (r *replacement) putFields(out, old document, fields, was, defaults []field) {
	for i, f := range fields {
		text := f.get()
		if value, ok := old[f.key]; ok && text == was[i].get() && !r.unread.of(f.key) && !yamldoc.IsBinary(value) {
			out[f.key] = value
		} else if f.always || text != defaults[i].get() {
			out[f.key] = scalar(f.tag, text)
		}
	}
}

func (r *replacement) putListeners(out document, names []string) {
	value, ok := r.old[jobconf.KeyListeners]
	if ok && slices.Equal(names, r.was.Listeners) && !r.unread.of(jobconf.KeyListeners) && !slices.ContainsFunc(value.Content, yamldoc.IsBinary) {
		out[jobconf.KeyListeners] = value
	} else if len(names) > 0 {
		out[jobconf.KeyListeners] = list(names)
	}
}

// putOtherProps puts the properties that belong to no field into props.
func (r *replacement) putOtherProps(props document, byName map[string]string) {
	for name, value := range byName {
		key := jobconf.PropsPrefix + name
		props[key] = scalar("!!str", value)
		if old, ok := r.oldProps[key]; ok && old.Kind == yaml.ScalarNode && old.Value == value && !yamldoc.IsBinary(old) {
			props[key] = old
		}
	}
}

// putThreads puts the number of threads into out or props. ElasticJob has two names for the
// thread pool, and only the old document tells which one its readers know. So that name is
// used if the old document has it; otherwise the number is a property.
func (r *replacement) putThreads(out, props document, threads int) {
	delete(props, jobconf.KeyThreads)
	pool, ok := r.old.threadPoolKey()
	if threads == r.was.Threads && !r.unread.of(pool) && !r.unread.of(jobconf.KeyThreads) {
		out.copy(r.old, jobconf.KeyThreadPool)
		out.copy(r.old, jobconf.KeyThreadPoolOld)
		props.copy(r.oldProps, jobconf.KeyThreads)
		return
	}
	switch {
	case !ok:
	case threads == 0:
		out[pool] = scalar("!!str", threadPoolCPU)
	case threads == 1:
		out[pool] = scalar("!!str", threadPoolSingle)
		return
	case !r.unread.of(pool):
		out[pool] = r.old[pool]
	}
	if threads > 0 {
		props[jobconf.KeyThreads] = scalar("!!str", strconv.Itoa(threads))
	}
}

// putProps puts props into out. Empty ones stay if they were there.
func (r *replacement) putProps(out, props document) {
	if len(props) > 0 {
		bare := make(document, len(props))
		for key, value := range props {
			bare[strings.TrimPrefix(key, jobconf.PropsPrefix)] = value
		}
		out[jobconf.KeyProps] = bare.node()
	} else if value, ok := r.old[jobconf.KeyProps]; ok && len(r.oldProps) == 0 && !r.unread.of(jobconf.KeyProps) {
		out[jobconf.KeyProps] = value
	}
}

// copy copies the value of a key, if there is one.
func (d document) copy(from document, key string) {
	if value, ok := from[key]; ok {
		d[key] = value
	}
}

// hasPlace reports whether a Config has a place for the key, or whether it is one of
// elastic-job 2.1.x, whose value stands elsewhere in a document of 3.0.x.
func hasPlace(key string) bool {
	var c Config
	return slices.Contains([]string{jobconf.KeyProps, jobconf.KeyListeners, jobconf.KeyThreadPool, jobconf.KeyThreadPoolOld}, key) ||
		slices.ContainsFunc(c.fields(), func(f field) bool { return f.key == key }) ||
		slices.Contains(jobconf.OldKeys(), key)
}
