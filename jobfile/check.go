package jobfile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/job"
)

// check looks at what no key can tell alone.
func (f *File) check(whole *value, r *reader) {
	f.checkRegistry(whole, r)
	if f.node.address != "" && f.node.network != "" {
		r.fault(whole.get(keyNode).at, keyNode, "address and network: one of them is allowed")
	}
	if f.log != nil && f.options.Logger != nil {
		r.fault(whole.get(keyLog).at, keyLog, "is not allowed: this program has a logger of its own")
	}
	if len(f.jobs) == 0 {
		r.fault(whole.at, keyJobs, "at least one job is needed; enabled: false leaves one out")
	}
	for _, name := range slices.Sorted(maps.Keys(f.jobs)) {
		f.jobs[name].source = whole.get(keyJobs).get(name)
		f.checkJob(f.jobs[name], r)
	}
	f.tracing.check(whole.get(keyTracing), keyTracing, typeLog, false, f.options.Tracing, r)
	f.metrics.check(whole.get(keyMetrics), keyMetrics, typeExpvar, true, f.options.Metrics, r)
	f.dump.check(whole.get(keyDump), keyDump, typeHTTP, true, nil, r)
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

// check makes relative paths absolute, and looks whether the files can be used.
func (s *tlsSection) check(v *value, path string, r *reader) {
	if s == nil {
		return
	}
	for key, to := range map[string]*string{"ca": &s.ca, "cert": &s.cert, "key": &s.key} {
		if *to != "" {
			*to = beside(v.get(key).at.file, *to)
		}
	}
	if _, err := s.config(); err != nil {
		r.fault(v.at, path, "%w", err)
	}
}

// config reads the files.
func (s *tlsSection) config() (*tls.Config, error) {
	if s == nil {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.serverName}
	if s.ca != "" {
		pem, err := os.ReadFile(s.ca)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca: %s has no certificate in a PEM block", s.ca)
		}
	}
	if (s.cert == "") != (s.key == "") {
		return nil, errors.New("cert and key: one of them is missing")
	}
	if s.cert != "" {
		own := func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(s.cert, s.key)
			if err != nil {
				return nil, fmt.Errorf("cert and key: %w", err)
			}
			return &pair, nil
		}
		if _, err := own(); err != nil {
			return nil, err
		}
		// For each connection anew: certificates are replaced while the process lives.
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own() }
	}
	return c, nil
}

// checkJob checks a job that is not left out.
func (f *File) checkJob(d *declared, r *reader) {
	if d.disabled {
		return
	}
	path := join(keyJobs, d.config.Name)
	fault := func(key, format string, args ...any) {
		r.fault(d.place(key), join(path, key), format, args...)
	}
	types, handlers := f.options.types(), slices.Sorted(maps.Keys(f.options.Handlers))
	switch name := d.work.jobType; {
	case (name == "") == (d.work.implementation == ""):
		r.fault(d.source.at, path, "either type or implementation is needed")
	case name == "SCRIPT" && !slices.Contains(types, name):
		fault("type", "SCRIPT: this program runs no scripts; it needs Options.Supervisor")
	case name != "" && !slices.Contains(types, name):
		fault("type", "%q: this program has no such type%s", name, orMeant(name, types))
	case name == "" && f.options.Handlers[d.work.implementation] == nil:
		fault("implementation", "%q: this program has no handler of this name%s", d.work.implementation, orMeant(d.work.implementation, handlers))
	}
	if d.threads != "" && d.source.get("threads") != nil {
		fault("threads", "threads and jobExecutorThreadPoolSizeProviderType: one of them is allowed")
	}
	if d.threads == "SINGLE_THREAD" {
		d.config.Threads = 1
	}
	var invalid *job.ConfigError
	if err := d.config.Validate(); errors.As(err, &invalid) {
		for _, wrong := range invalid.Faults {
			key := d.keyOf(wrong.Field)
			err := wrong.Err
			if wrong.Value != "" {
				err = fmt.Errorf("%s: %w", wrong.Value, err)
			}
			if key == "" {
				r.fault(d.source.at, path, "%w", err)
			} else {
				fault(key, "%w", err)
			}
		}
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

// place returns where a key of a job stands; the job itself if it stands nowhere.
func (d *declared) place(key string) place {
	v := d.source
	for key != "" && v != nil {
		// The name of a property has dots in it.
		first, rest, _ := strings.Cut(key, ".")
		if child := v.get(key); child != nil {
			first, rest = key, ""
		}
		v, key = v.get(first), rest
	}
	if v == nil {
		return d.source.at
	}
	return v.at
}

// check checks a section. listens is whether its own type listens; more are the program's.
func (s *section) check(v *value, path, own string, listens bool, more map[string]job.Observer, r *reader) {
	if s == nil {
		return
	}
	if len(s.include) > 0 && len(s.exclude) > 0 {
		r.fault(v.at, path, "include and exclude: one of them is allowed")
	}
	_, known := more[s.typ]
	if !known && s.typ != own {
		names := append(slices.Collect(maps.Keys(more)), own)
		slices.Sort(names)
		at := v.at
		if t := v.get("type"); t != nil {
			at = t.at
		}
		r.fault(at, path+".type", "%q: this program knows %s", s.typ, strings.Join(names, ", "))
	}
	switch needs := listens && !known; {
	case !known && s.typ != own:
	case needs && s.listen == "" && !s.off:
		r.fault(v.at, path, needsListen)
	case !needs && s.listen != "":
		r.fault(v.at, path, "listen: the type %s does not listen", s.typ)
	}
}

const needsListen = "listen is needed, such as 127.0.0.1:8080"

// isFor reports whether a section is for a job.
func (s *section) isFor(name string) bool {
	matches := func(pattern string) bool {
		is, err := path.Match(pattern, name)
		return err == nil && is
	}
	switch {
	case s == nil || s.off:
		return false
	case len(s.include) > 0:
		return slices.ContainsFunc(s.include, matches)
	}
	return !slices.ContainsFunc(s.exclude, matches)
}
