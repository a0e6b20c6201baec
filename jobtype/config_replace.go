package jobtype

import (
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// replacedBy returns the document with a configuration in place of its own. It keeps the keys that a Config has no field
// for. A field that has its default is left out, unless ElasticJob always writes it.
func (d document) replacedBy(c Config) (document, error) {
	out, props := make(document), make(document)
	values := 2*len(c.Props) + len(c.Listeners)
	if err := checkValues(values); err != nil {
		return nil, err
	}
	for key, value := range d {
		if hasPlace(key) {
			continue
		}
		var err error
		if out[key], err = unshared(value, &values); err != nil {
			return nil, err
		}
	}
	out.putFields(fields, &c)
	props.putFields(propFields, &c)
	if n := d[jobconf.KeyMaxTimeDiff]; c.MaxTimeDiff == 0 && n != nil && n.Value == "0" {
		out[jobconf.KeyMaxTimeDiff] = scalar(n.ShortTag(), n.Value) // to ElasticJob it is not the same as -1
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
	return out, nil
}

func (d document) putFields(fields []field, c *Config) {
	defaults := defaultConfig()
	for _, f := range fields {
		if text := f.get(c); f.always || text != f.get(&defaults) {
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
		out[pool] = scalar(d[pool].ShortTag(), threadPoolSingle)
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
	return slices.Contains([]string{jobconf.KeyProps, jobconf.KeyListeners, jobconf.KeyThreadPool, jobconf.KeyThreadPoolOld}, key) ||
		slices.ContainsFunc(fields, func(f field) bool { return f.key == key }) ||
		slices.Contains(jobconf.OldKeys(), key)
}
