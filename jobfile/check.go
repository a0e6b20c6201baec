package jobfile

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/httpx"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
)

// check looks at what no key can tell alone.
func (f *File) check(whole *value, r *reader) {
	f.checkRegistry(whole, r)
	f.checkAllow(whole, r)
	if f.node.address != "" && f.node.network != "" {
		r.fault(whole.get(keyNode).at, keyNode, "address and network: one of them is allowed")
	}
	if f.log != nil && f.options.Slog != nil {
		r.fault(whole.get(keyLog).at, keyLog, "is not allowed: this program has a logger of its own")
	}
	if len(f.jobs) == 0 && !f.node.serve {
		r.fault(whole.at, keyJobs, "at least one job is needed, or node.serve; enabled: false leaves one out")
	}
	f.checkJobs(whole, r)
	for _, d := range f.jobs {
		f.checkWork(d, r)
	}
	o := &f.options
	f.tracing.check(whole.get(keyTracing), keyTracing, slices.Concat([]string{typeLog}, names(o.Tracing), names(o.Databases)), nil, r)
	f.tracing.checkDatabase(whole.get(keyTracing), o.Tracing, o.Databases, r)
	f.metrics.check(whole.get(keyMetrics), keyMetrics, names(o.Metrics), append(names(o.Exporters), typeExpvar), r)
	f.dump.check(whole.get(keyDump), keyDump, nil, []string{typeHTTP}, r)
	f.dump.checkExposure(whole.get(keyDump), r)
	if f.health != nil && !f.health.off && f.health.listen == "" {
		r.fault(whole.get(keyHealth).at, keyHealth, needsListen)
	}
}

func (f *File) checkRegistry(whole *value, r *reader) {
	s, at := &f.registry, whole.at
	if v := whole.get(keyRegistry); v != nil {
		at = v.at
	}
	n := 0
	for _, is := range []bool{s.etcd != nil, s.zookeeper != nil, s.memory != nil} {
		if is {
			n++
		}
	}
	switch {
	case f.options.Registry != nil && n > 0:
		r.fault(at, keyRegistry, "is not allowed: this program has a registry of its own")
	case f.options.Registry == nil && n != 1:
		r.fault(at, keyRegistry, "one of etcd, zookeeper and memory is needed, here are %d; null removes that of an earlier file", n)
	case s.etcd != nil:
		s.etcd.tls.check(whole.get(keyRegistry).get("etcd").get("tls"), keyRegistry+".etcd.tls", r)
	case s.zookeeper != nil:
		s.zookeeper.tls.check(whole.get(keyRegistry).get("zookeeper").get("tls"), keyRegistry+".zookeeper.tls", r)
	}
}

// checkConfig checks what the adapters check before they connect.
func (s *registrySection) checkConfig(v *value, r *reader) {
	check := func(key string, err error) {
		if err != nil {
			r.fault(v.get(key).at, join(keyRegistry, key), "%w", err)
		}
	}
	if s.etcd != nil {
		c := s.etcd.config
		if s.etcd.tls != nil {
			c.TLS = &tls.Config{} // whether there is one counts
		}
		check("etcd", c.Validate())
	}
	if s.zookeeper != nil {
		check("zookeeper", s.zookeeper.config.Validate())
	}
	if s.memory != nil {
		check("memory", s.memory.Validate())
	}
}

// checkJobs checks jobs and calendars, whatever program runs them.
func (d *document) checkJobs(whole *value, r *reader) {
	if jobs := whole.get(keyJobs); jobs != nil {
		for _, e := range jobs.entries {
			d.jobs[e.key].source = e.value
			d.jobs[e.key].check(r)
		}
	}
	if calendars := whole.get(keyCalendars); calendars != nil {
		for _, e := range calendars.entries {
			d.calendars[e.key].check(e, r)
		}
	}
}

// check checks a job that is not left out.
func (d *declared) check(r *reader) {
	if d.disabled {
		return
	}
	path := join(keyJobs, d.config.Name)
	fault := func(key, format string, args ...any) {
		r.fault(d.place(key), join(path, key), format, args...)
	}
	if (d.work.jobType == "") == (d.work.implementation == "") {
		r.fault(d.source.at, path, "either type or implementation is needed")
	}
	if d.threads != "" && d.source.get("threads") != nil {
		fault("threads", "threads and jobExecutorThreadPoolSizeProviderType: one of them is allowed")
	}
	if d.threads == "SINGLE_THREAD" {
		d.config.Threads = 1
	}
	var invalid *jobtype.ConfigError
	if err := d.config.Validate(); errors.As(err, &invalid) {
		for _, wrong := range invalid.Faults {
			key := d.keyOf(wrong.Field)
			err := wrong.Err
			if wrong.Value != "" {
				err = fmt.Errorf("%s: %w", wrong.Value, err)
			}
			name, isProp := strings.CutPrefix(wrong.Field, inProps)
			prop := d.source.get(keyProps).get(name)
			switch {
			case key == "":
				r.fault(d.source.at, path, "%w", err)
			case isProp && prop != nil && key != join(keyProps, name): // what has a key of its own stands in props
				r.fault(prop.at, join(join(path, keyProps), name), "%w: %s", err, key)
			default:
				fault(key, "%w", err)
			}
		}
	}
}

// checkWork looks whether this program can do the work of a job.
func (f *File) checkWork(d *declared, r *reader) {
	if d.disabled {
		return
	}
	fault := func(key, format string, args ...any) {
		r.fault(d.place(key), join(join(keyJobs, d.config.Name), key), format, args...)
	}
	types, handlers := f.options.types(), slices.Sorted(maps.Keys(f.options.Handlers))
	switch name := d.work.jobType; {
	case (name == "") == (d.work.implementation == ""): // a mistake already
	case name == "SCRIPT" && !slices.Contains(types, name):
		fault("type", "SCRIPT: this program runs no scripts; it needs Options.Supervisor")
	case name != "" && !slices.Contains(types, name):
		fault("type", "%q: this program has no such type%s", name, orMeant(name, types))
	case name == "" && f.options.Handlers[d.work.implementation] == nil:
		fault("implementation", "%q: this program has no handler of this name%s", d.work.implementation, orMeant(d.work.implementation, handlers))
	}
}

// keyOf returns the key of a field that the registry has under a name; empty if it is none.
func (d *declared) keyOf(registry string) string {
	if key := d.fields().keyOf(registry); key != "" {
		return key
	}
	if prop, ok := strings.CutPrefix(registry, inProps); ok {
		return keyProps + "." + strings.Trim(prop, `"`)
	}
	return ""
}

func (fs fields) keyOf(registry string) string {
	for _, f := range fs {
		if f.registry == registry || f.registry == "" && f.key == registry {
			return f.key
		}
		if below, ok := f.shape.(fields); ok {
			if key := below.keyOf(registry); key != "" {
				return f.key + "." + key
			}
		}
	}
	return ""
}

// KeyOf returns the key of a job in a file for a property by which the registry knows it, and the unit that its numbers
// have there: timeout and s for execution.timeout.seconds. The key is empty if it is none of these.
func KeyOf(property string) (key, unit string) {
	switch {
	case strings.HasSuffix(property, ".seconds"):
		unit = "s"
	case strings.HasSuffix(property, ".milliseconds"):
		unit = "ms"
	}
	return (&declared{}).fields().keyOf(inProps + property), unit
}

// place returns where a key of a job stands, or what has it if it is left out.
func (d *declared) place(key string) place {
	return d.source.placeOf(key)
}

// placeOf returns where a key stands, or what has it if it is left out.
func (v *value) placeOf(key string) place {
	for key != "" {
		first, rest, _ := strings.Cut(key, ".")
		child := v.get(key) // the name of a property has dots in it
		if child != nil {
			rest = ""
		} else if child = v.get(first); child == nil {
			break
		}
		v, key = child, rest
	}
	return v.at
}

// placeOf returns where the first thing stands that is wrong with a configuration; the job itself
// if the error is about something else.
func (d *declared) placeOf(err error) place {
	if wrong, ok := errors.AsType[*jobtype.FieldError](err); ok {
		return d.place(d.keyOf(wrong.Field))
	}
	return d.source.at
}

func names[T any](types map[string]T) []string { return slices.Collect(maps.Keys(types)) }

// checkDatabase checks what is for types that write into a database.
func (s *section) checkDatabase(v *value, others map[string]Tracer, types map[string]OpenDatabase, r *reader) {
	if s == nil || s.off {
		return
	}
	_, isOther := others[s.typ]
	_, is := types[s.typ]
	switch is = is && !isOther; {
	case is && s.database == "":
		r.fault(v.at, keyTracing, "database is needed with the type %s", s.typ)
	case !is && (s.database != "" || s.keep != 0):
		r.fault(v.at, keyTracing, "database, keep: the type %s has no database", s.typ)
	}
}

// check checks a section. Of the types that there are, some listen; a quiet one of the same name
// counts.
func (s *section) check(v *value, path string, quiet, listening []string, r *reader) {
	if s == nil {
		return
	}
	if len(s.include) > 0 && len(s.exclude) > 0 {
		r.fault(v.at, path, "include and exclude: one of them is allowed")
	} else if jobs, err := trace.NewFilter(s.include, s.exclude); err == nil { // a pattern that is wrong is a mistake already
		s.jobs = jobs
	}
	isQuiet := slices.Contains(quiet, s.typ)
	listens := !isQuiet && slices.Contains(listening, s.typ)
	if typ := v.get("type"); !isQuiet && !listens && (typ != nil || !s.off) {
		names := slices.Concat(quiet, listening)
		slices.Sort(names)
		names = slices.Compact(names)
		at, home := v.at, ""
		if typ != nil {
			at = typ.at
		}
		if p := homeOf(s.typ); p != "" {
			home = "; package " + p + " has it"
		}
		r.fault(at, path+".type", "%q: this program knows %s%s", s.typ, strings.Join(names, ", "), home)
	}
	switch {
	case listens && s.listen == "" && !s.off:
		r.fault(v.at, path, needsListen)
	case isQuiet && s.listen != "":
		r.fault(v.at, path, "listen: the type %s does not listen", s.typ)
	}
}

// checkExposure refuses a dump that other machines can ask without a token: it shows configurations and lines of runs, and
// runs the program's commands.
func (s *section) checkExposure(v *value, r *reader) {
	token := v.get("token")
	isWrong := token != nil && token.kind != scalar // a mistake already
	if s == nil || s.off || s.token != "" || isWrong {
		return
	}
	for _, at := range []struct{ key, address string }{{"listen", s.listen}, {"line", s.line}} {
		host, _, err := net.SplitHostPort(at.address)
		if err == nil && !httpx.IsLoopback(host) {
			r.fault(v.get(at.key).at, join(keyDump, at.key), "%q: other machines reach it: a token is needed, or 127.0.0.1", brief.Text(at.address))
		}
	}
}

const needsListen = "listen is needed, such as 127.0.0.1:8080"

// isFor reports whether a section is for a job.
func (s *section) isFor(name string) bool { return s != nil && !s.off && s.jobs.Has(name) }
