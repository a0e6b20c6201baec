package jobfile

import (
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/veil"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// Warnings are what is allowed, and most likely not meant: command lines of SCRIPT that need a shell, secrets in clear
// text in variables of SCRIPT and headers of HTTP, calendars whose names are nearly those of the files, and sharding
// strategies that are not built in, such as classes of Java. There are at most MaxMistakes.
func (d *Declarations) Warnings() []*Mistake {
	r := &reader{}
	var calendars []string
	for _, c := range d.Calendars {
		calendars = append(calendars, c.Name)
	}
	for _, j := range d.Jobs {
		j.warnProps(r)
		j.warnCalendars(r, calendars)
		if _, err := strategy.Lookup(brief.Text(j.Config.Strategy), nil); err != nil {
			j.warn(r, "jobShardingStrategyType", err.Error()+", and what each program that runs the job adds with job.WithStrategy; classes of Java are not looked up")
		}
	}
	return r.mistakes
}

// calendarsAreApplied is what a person may not expect of a program that runs the jobs of a file.
const calendarsAreApplied = "elasticjob apply writes the calendars of the files; a process that runs the jobs does not, and jobs whose calendars are not in the namespace begin no tick"

// Warnings are what this process allows, and what is most likely not meant: those of [Declarations.Warnings], without the
// names that [File.Check] looks up, and calendars, which no process that runs the jobs writes. There are at most
// MaxMistakes.
func (f *File) Warnings() []*Mistake {
	r := &reader{}
	if len(f.calendars) > 0 {
		r.fault(f.at(keyCalendars), keyCalendars, calendarsAreApplied)
	}
	calendars := slices.Sorted(maps.Keys(f.calendars))
	for _, j := range f.declarations().Jobs {
		j.warnProps(r)
		j.warnCalendars(r, calendars)
	}
	return r.mistakes
}

// warnProps warns of properties of the types that are built in.
func (d Declared) warnProps(r *reader) {
	const line = "script.command.line"
	if hint := script.Hint(d.Config.Props[line]); hint != "" && d.Type == script.Name {
		d.warn(r, join(keyProps, line), hint)
	}
	family := map[string]string{script.Name: "script.env.", httpjob.Name: "http.header."}[d.Type]
	if family == "" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(d.Config.Props)) {
		value := d.Config.Props[name]
		if strings.HasPrefix(name, family) && !strings.Contains(value, "${") && veil.Value(name, value) != value {
			d.warn(r, join(keyProps, name), "a secret in clear text: everybody who may read the store sees it; allowed are ${env:NAME} and ${file:PATH}")
		}
	}
}

// warnCalendars warns of calendars that the files do not have, and most likely mean to have.
func (d Declared) warnCalendars(r *reader, known []string) {
	for _, name := range d.Config.Calendars {
		if near := brief.Similar(name, known); len(near) > 0 && !slices.Contains(known, name) {
			d.warn(r, keyCalendars, "these files have no calendar "+brief.Quote(name)+"; did you mean "+near[0]+"?")
		}
	}
}

// warn notes a warning of a key of the job.
func (d Declared) warn(r *reader, key, what string) {
	at := place{}
	if d.from != nil {
		at = d.from.place(key)
	}
	if len(r.mistakes) < MaxMistakes {
		r.fault(at, join(join(keyJobs, d.Config.Name), key), "%s", what)
	}
}
