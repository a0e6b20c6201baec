package jobtype

import (
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// replacedBy returns the document with a configuration in place of its own. It keeps the keys that a Config has no field
// for. A field that has its default is left out, unless ElasticJob always writes it.
func (d document) replacedBy(c Config) document {
	out, props := make(document), make(document)
	for key, value := range d {
		if !hasPlace(key) {
			out[key] = value
		}
	}
	defaults := defaultConfig()
	out.putFields(c.fields(), defaults.fields())
	props.putFields(c.propFields(), defaults.propFields())
	if n := d[jobconf.KeyMaxTimeDiff]; c.MaxTimeDiff == 0 && n != nil && n.Value == "0" {
		out[jobconf.KeyMaxTimeDiff] = n // to ElasticJob it is not the same as -1
	}
	if len(c.Listeners) > 0 {
		out[jobconf.KeyListeners] = list(c.Listeners)
	}
	d.putThreads(out, props, c.Threads)
	for name, value := range c.Props {
		props[jobconf.PropsPrefix+name] = scalar("!!str", value)
	}
	if len(props) > 0 {
		bare := make(document, len(props))
		for key, value := range props {
			bare[strings.TrimPrefix(key, jobconf.PropsPrefix)] = value
		}
		out[jobconf.KeyProps] = bare.node()
	}
	return out
}

func (d document) putFields(fields, defaults []field) {
	for i, f := range fields {
		if text := f.get(); f.always || text != defaults[i].get() {
			d[f.key] = scalar(f.tag, text)
		}
	}
}

// putThreads puts the number of threads into out or props. ElasticJob has two names for the thread pool, and only the
// document that is replaced tells which one its readers know. So that name is used if the document has it.
func (d document) putThreads(out, props document, threads int) {
	pool, ok := d.threadPoolKey()
	switch {
	case !ok:
	case threads == 0:
		out[pool] = scalar("!!str", threadPoolCPU)
	case threads == 1:
		out[pool] = scalar("!!str", threadPoolSingle)
		delete(props, jobconf.KeyThreads)
	case d[pool].Value == threadPoolSingle:
		out[pool] = d[pool]
	}
}

// drop removes those of the keys that a Config has no field for, or that name the thread pool. It reports whether the
// document had one of them.
func (d document) drop(keys []string) (had bool) {
	for _, key := range keys {
		_, isThere := d[key]
		isPool := key == jobconf.KeyThreadPool || key == jobconf.KeyThreadPoolOld
		if isThere && (isPool || !hasPlace(key)) {
			delete(d, key)
			had = true
		}
	}
	return had
}

// hasPlace reports whether a Config has a place for the key, or whether it is one of
// elastic-job 2.1.x, whose value stands elsewhere in a document of 3.0.x.
func hasPlace(key string) bool {
	var c Config
	return slices.Contains([]string{jobconf.KeyProps, jobconf.KeyListeners, jobconf.KeyThreadPool, jobconf.KeyThreadPoolOld}, key) ||
		slices.ContainsFunc(c.fields(), func(f field) bool { return f.key == key }) ||
		slices.Contains(jobconf.OldKeys(), key)
}
