package jobfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/allow"
	"github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
)

// Options are what a program has for its files. The zero value runs HTTP jobs.
type Options struct {
	// Handlers do the work of jobs with an implementation, by that name. A handler that is a
	// [job.Type], too, reads the job's properties, as one of package dataflow does.
	Handlers map[string]job.Handler
	// Supervisor is what [script.Supervise] has returned. Without it there is no type SCRIPT.
	Supervisor script.Supervisor
	// Types do the work of jobs with a type, beside SCRIPT and HTTP, or in their place. The
	// section allow does not narrow them.
	Types map[string]job.Type
	// ErrorHandlers are the types of error handlers beside WECHAT, DINGTALK, SLACK and WEBHOOK,
	// or in their place. The section allow does not narrow them.
	ErrorHandlers map[string]job.ErrorHandlerType
	// Alerts are further types of error handlers, made with Alert, such as email.Type for EMAIL.
	Alerts map[string]func(alert.Options) job.ErrorHandlerType
	// Alert is for WECHAT, DINGTALK, SLACK, WEBHOOK and Alerts. If it has no list of what is
	// allowed, it gets that of the section allow; if it has no Counts, it gets some for Exporters.
	Alert alert.Options
	// Tracing and Metrics are further types of these sections: each is told of the jobs that the
	// section is for. They stay the program's, which closes them after the end of the App.
	Tracing map[string]Tracer
	Metrics map[string]job.Observer
	// Databases are types of the section tracing that write into the database which it names, such
	// as SQL of package trace/sqltrace/sqlfile, and Exporters are types of the section metrics that
	// listen, such as PROMETHEUS of trace/prom/promfile. What they open is closed at the end.
	Databases map[string]OpenDatabase
	Exporters map[string]NewExporter
	// Job are options of all jobs, such as listeners and strategies. They count more than what
	// the files say.
	Job []job.Option
	// Commands and Log are for the section dump: commands of the program, and where it finds the
	// lines of runs. Without Log it keeps the newest ones in memory, as [trace.NewNewest] does.
	Commands map[string]dump.Command
	Log      dump.Log

	// Profiles are those that are chosen, in their order. nil means those in the variable
	// ELASTICJOB_PROFILES, with commas between them.
	Profiles []string
	// LookupEnv reads the environment for the files. Default [os.LookupEnv]. Types look up by
	// themselves what props refer to.
	LookupEnv func(name string) (string, bool)
	// Registry, if it is set, takes the place of the files' section: they must not have one. It
	// stays the program's, which closes it after the end of the App.
	Registry coord.Registry
	// Slog, if it is set, takes the place of the files' section: they must not have one.
	Slog *slog.Logger
}

// Tracer makes jobs tell what happens to them. A [trace.Recorder] is one, whatever its sink is.
type Tracer interface {
	// Only returns an option of all jobs that concerns those of the filter.
	Only(trace.Filter) job.Option
}

// EnvProfiles is the variable that chooses profiles.
const EnvProfiles = "ELASTICJOB_PROFILES"

func (o Options) withDefaults() Options {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.Alert.Counts == nil {
		o.Alert.Counts = new(alert.Counts)
	}
	if o.Profiles == nil {
		names, _ := o.LookupEnv(EnvProfiles)
		for name := range strings.SplitSeq(names, ",") {
			if name = strings.TrimSpace(name); name != "" {
				o.Profiles = append(o.Profiles, name)
			}
		}
	}
	return o
}

// types are the names of types that jobs may have.
func (o Options) types() []string {
	names := slices.Collect(maps.Keys(o.Types))
	names = append(names, httpjob.Name)
	if o.Supervisor != (script.Supervisor{}) {
		names = append(names, script.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// File is what the files of a program say, all together. It does not change.
type File struct {
	document
	options Options
	paths   []string
	sources [][]byte // of the files
	whole   *value   // all together
	allowed *allow.List
}

// at returns where a section stands.
func (f *File) at(section string) place {
	if v := f.whole.get(section); v != nil {
		return v.at
	}
	return f.whole.at
}

// maxFiles bounds the files of a program.
const maxFiles = 100

// Read reads files and puts them together, as the comment of this package says. It reads no
// more than them, the environment, and files that they refer to.
//
// The error is an *Error with all mistakes, or that of reading a file.
func Read(o Options, paths ...string) (*File, error) {
	if len(paths) == 0 || len(paths) > maxFiles {
		return nil, fmt.Errorf("jobfile: %d files; 1 to %d are allowed", len(paths), maxFiles)
	}
	sources, err := readAll(paths)
	if err != nil {
		return nil, err
	}
	return read(o, paths, sources)
}

// read is Read for files whose content is given.
func read(o Options, paths []string, sources [][]byte) (*File, error) {
	o = o.withDefaults()
	f := &File{options: o, paths: paths, sources: sources}
	merged, r, err := together(o, paths, sources)
	if err != nil {
		return nil, err
	}
	if f.whole, err = f.take(o, merged, r); err != nil {
		return nil, err
	}
	f.check(f.whole, r)
	return f, r.err()
}

// together puts files together.
func together(o Options, paths []string, sources [][]byte) (*value, *reader, error) {
	r := &reader{files: paths, draft: true}

	// Each file by itself, so that a mistake shows even if another file removes it.
	layers := make([]*value, len(paths))
	for i, path := range paths {
		if layers[i] = parse(path, sources[i], r); layers[i] != nil && layers[i].kind == mapping {
			new(document).fields().read(layers[i], "", r)
		}
	}
	checkProfiles(layers, o.Profiles, r)
	r.draft = false
	return mergeAll(layers, o.Profiles), r, r.err()
}

// take fills the document with what files have together, and returns that with its references
// expanded.
func (d *document) take(o Options, merged *value, r *reader) (*value, error) {
	whole := expander{o.LookupEnv, r}.expand(merged, nil)
	if err := r.err(); err != nil {
		return nil, err
	}
	if whole == nil || whole.kind != mapping {
		whole = &value{at: place{file: r.files[0]}, kind: mapping}
	}
	d.profileFields().read(whole, "", r)
	return whole, r.err()
}

// readAll reads files of bounded size.
func readAll(paths []string) ([][]byte, error) {
	sources := make([][]byte, len(paths))
	var errs []error
	for i, path := range paths {
		var err error
		if sources[i], err = readFile(path); err != nil {
			errs = append(errs, fmt.Errorf("jobfile: %w", err))
		}
	}
	return sources, errors.Join(errs...)
}

// readFile reads a regular file up to one byte more than it may have.
func readFile(path string) (text []byte, err error) {
	// To open a named pipe would wait for a writer otherwise, perhaps for ever.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	switch info, err := file.Stat(); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: it is no regular file", path)
	}
	return io.ReadAll(io.LimitReader(file, maxSize+1))
}

// checkProfiles looks for profiles that no file has.
func checkProfiles(layers []*value, profiles []string, r *reader) {
	known := map[string]bool{}
	for _, layer := range layers {
		if all := layer.get(keyProfiles); all != nil {
			for _, e := range all.entries {
				known[e.key] = true
			}
		}
	}
	for _, name := range profiles {
		if !known[name] {
			r.fault(place{file: r.files[0]}, keyProfiles, "the profile %q is chosen, and no file has it%s", name, orMeant(name, slices.Sorted(maps.Keys(known))))
		}
	}
}

// Jobs returns the configurations of all jobs, by name, but for those with enabled: false.
func (f *File) Jobs() []jobtype.Config {
	var configs []jobtype.Config
	for _, j := range f.jobs {
		if !j.disabled {
			configs = append(configs, j.config)
		}
	}
	slices.SortFunc(configs, func(a, b jobtype.Config) int { return cmp.Compare(a.Name, b.Name) })
	return configs
}
