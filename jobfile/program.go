package jobfile

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"maps"
	"strings"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// program is what a program has for jobs: its types of jobs, and of error handlers, by their names.
type program struct {
	types    map[string]job.Type
	handlers map[string]job.ErrorHandlerType
	end      func() // closes the types
}

// program returns the types that this package has, and then the program's, which count.
func (o *Options) program(requests httpjob.Options, scripts script.Options, alerts alert.Options) (*program, error) {
	p := &program{types: map[string]job.Type{}, handlers: map[string]job.ErrorHandlerType{
		alert.NameWeChat: alert.WeChat(alerts), alert.NameDingTalk: alert.DingTalk(alerts),
		alert.NameSlack: alert.Slack(alerts), alert.NameWebhook: alert.Webhook(alerts),
	}}
	if o.Supervisor != (script.Supervisor{}) {
		var err error
		if p.types[script.Name], err = script.New(o.Supervisor, scripts); err != nil {
			return nil, err
		}
	}
	client := httpjob.New(requests)
	p.types[httpjob.Name], p.end = client, client.Close
	maps.Copy(p.types, o.Types)
	for name, of := range o.Alerts {
		p.handlers[name] = of(alerts)
	}
	maps.Copy(p.handlers, o.ErrorHandlers)
	return p, nil
}

// program is what a process of the file has, with what that allows.
func (f *File) program() (*program, error) {
	alerts := f.options.Alert
	if alerts.Allow == nil {
		alerts.Allow = f.allowed
	}
	return f.options.program(httpjob.Options{Allow: f.allowed}, script.Options{Allow: f.allowed}, alerts)
}

// Check asks the types and the error handlers whether they take the jobs, as the start of a job
// does: whether the properties are right, and what they want is allowed.
//
// The error is an *Error with all mistakes.
func (f *File) Check() error {
	p, err := f.program()
	if err != nil {
		return err
	}
	defer p.end()
	r := &reader{}
	for _, d := range f.declarations().Jobs {
		p.ask(d, Declared{}, r)
	}
	return r.err()
}

// Check asks the types and the error handlers of a program whether they would take the jobs that name them: those that
// a process with these options has. So a secret in clear text is found before it is in the registry. What only the
// process knows that runs a job is not looked at: what references in props stand for, settings of TLS, and what is
// allowed there. A placeholder such as ${shardingItem} has to be one of the type.
//
// The error is an *Error with all mistakes.
func (d *Declarations) Check(o Options) error {
	return check(o, d.Jobs, Declared{})
}

// CheckChange is [Declarations.Check] for one job. What was wrong before, and is the same, is no mistake: whoever
// changes a schedule need not be able to replace a secret.
func (d Declared) CheckChange(o Options, before Declared) error {
	return check(o, []Declared{d}, before)
}

func check(o Options, jobs []Declared, before Declared) error {
	named := map[string]*tls.Config{}
	for _, d := range append([]Declared{before}, jobs...) {
		for name, value := range d.Config.Props {
			if strings.HasSuffix(name, ".tls") {
				named[value] = new(tls.Config)
			}
		}
	}
	p, err := o.program(httpjob.Options{Lookup: ofWorker, TLS: named}, script.Options{Lookup: ofWorker}, alert.Options{Lookup: ofWorker, TLS: named})
	if err != nil {
		return err
	}
	defer p.end()
	r := &reader{}
	for _, d := range jobs {
		p.ask(d, before, r)
	}
	return r.err()
}

// ofWorker is a property.Lookup that takes each reference to what a worker has for known: ${env:NAME}, ${file:/path},
// and those of a program's own Lookup, if they have a kind. Names without one are placeholders, which the type knows.
// json and url are no kinds: they are forms of placeholders in the body of an HTTP job, which takes them off by itself.
func ofWorker(name string) (value string, ok bool, err error) {
	kind, _, hasKind := strings.Cut(name, ":")
	return "x", hasKind && kind != "json" && kind != "url", nil
}

// ask notes what is wrong with a job, and was not before.
func (p *program) ask(d, before Declared, r *reader) {
	type wrong struct{ text, value string }
	of := func(d Declared, f *jobtype.FieldError) wrong {
		return wrong{f.Error(), d.Config.Props[strings.TrimPrefix(f.Field, inProps)]}
	}
	known := map[wrong]bool{}
	faults, _ := p.refusals(before)
	for _, f := range faults {
		known[of(before, f)] = true
	}
	faults, more := p.refusals(d)
	for _, f := range faults {
		if w := of(d, f); !known[w] {
			known[w] = true // several error handlers may refuse the same property
			d.fault(f, r)
		}
	}
	r.more += more
}

func (d Declared) fault(f *jobtype.FieldError, r *reader) {
	at, path := place{}, join(keyJobs, d.Config.Name)
	if d.from != nil {
		at = d.from.placeOf(f)
	}
	if f.Field == "" { // it is about no property
		r.fault(at, path, "%w", f.Err)
		return
	}
	what := *f
	what.Field = strings.TrimPrefix(f.Field, inProps)
	r.fault(at, join(path, keyProps), "%w", &what)
}

// refusals are what the type of a job and its error handlers say against its configuration, and how many more there are.
func (p *program) refusals(d Declared) (faults []*jobtype.FieldError, more int) {
	c := d.Config.WithDefaults()
	add := func(err error) {
		if all, ok := errors.AsType[*jobtype.ConfigError](err); ok {
			faults, more = append(faults, all.Faults...), more+all.More
		} else if one, ok := errors.AsType[*jobtype.FieldError](err); ok {
			faults = append(faults, one)
		} else if err != nil {
			faults = append(faults, &jobtype.FieldError{Err: err})
		}
	}
	if t := p.types[d.Type]; t != nil {
		_, err := t.Handler(c)
		add(err)
	}
	names, _ := c.ErrorHandlerNames() // what is wrong with them is a mistake already
	for _, name := range names {
		if t := p.handlers[name]; t != nil {
			_, err := t.ErrorHandler(c, slog.New(slog.DiscardHandler))
			add(err)
		}
	}
	return faults, more
}
