package jobfile

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
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

// options make the error handlers known to a node.
func (p *program) options() []job.Option {
	var options []job.Option
	for name, t := range p.handlers {
		options = append(options, job.WithErrorHandler(name, t))
	}
	return options
}

// handlersOf returns the handlers of the program, and of all types of jobs.
func (f *File) handlersOf(p *program) (map[string]job.Handler, error) {
	handlers := maps.Clone(f.options.Handlers)
	if handlers == nil {
		handlers = map[string]job.Handler{}
	}
	for name, t := range p.types {
		if handlers[name] != nil {
			return nil, fmt.Errorf("jobfile: handler %q has the name of a type", name)
		}
		handlers[name] = job.OfType(name, t)
	}
	return handlers, nil
}

// program is what a process of the file has, with what that allows.
func (f *File) program() (*program, error) {
	alerts := f.options.Alert
	if alerts.Allow == nil {
		alerts.Allow = f.allowed
	}
	return f.options.program(httpjob.Options{Allow: f.allowed}, script.Options{Allow: f.allowed}, alerts)
}

// Check asks whether this process would take the jobs, as their start does: whether the properties are right, what they
// want is allowed, and the names of strategies, error handlers and listeners are known.
//
// The error is an *Error with all mistakes.
func (f *File) Check() error {
	p, err := f.program()
	if err != nil {
		return err
	}
	defer p.end()
	handlers, err := f.handlersOf(p)
	if err != nil {
		return err
	}
	// Only what knows names, and any address: nothing is looked for in the network.
	options := append([]job.Option{job.WithIP("127.0.0.1"), job.WithSlog(slog.New(slog.DiscardHandler))}, p.options()...)
	n, err := job.NewNode(struct{ coord.Registry }{}, job.NodeConfig{Options: append(options, f.options.Job...)})
	if err != nil {
		return fmt.Errorf("jobfile: %w", err)
	}
	r := &reader{}
	for _, d := range f.declarations().Jobs {
		faults, more := faultsOf(n.Check(d.Config, handlers[d.Work()], d.from.options()...))
		d.note(faults, more, map[wrong]bool{}, r)
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

// wrong is what is wrong with a job, and the value of the property that it is about.
type wrong struct{ text, value string }

func (d Declared) wrong(f *jobtype.FieldError) wrong {
	return wrong{f.Error(), d.Config.Props[strings.TrimPrefix(f.Field, inProps)]}
}

// ask notes what is wrong with a job, and was not before.
func (p *program) ask(d, before Declared, r *reader) {
	known := map[wrong]bool{}
	faults, _ := p.refusals(before)
	for _, f := range faults {
		known[before.wrong(f)] = true
	}
	faults, more := p.refusals(d)
	d.note(faults, more, known, r)
}

// note notes what is wrong, and not known.
func (d Declared) note(faults []*jobtype.FieldError, more int, known map[wrong]bool, r *reader) {
	for _, f := range faults {
		if w := d.wrong(f); !known[w] {
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
	what := *f
	name, isProp := strings.CutPrefix(f.Field, inProps)
	switch what.Field = name; {
	case isProp:
		r.fault(at, join(path, keyProps), "%w", &what)
	case f.Field == "": // it is about no key
		r.fault(at, path, "%w", f.Err)
	case f.Value == "":
		r.fault(at, join(path, name), "%w", f.Err)
	default:
		r.fault(at, join(path, name), "%s: %w", f.Value, f.Err)
	}
}

// refusals are what the type of a job and its error handlers say against its configuration, and how many more there are.
func (p *program) refusals(d Declared) (faults []*jobtype.FieldError, more int) {
	c := d.Config.WithDefaults()
	add := func(err error) {
		list, n := faultsOf(err)
		faults, more = append(faults, list...), more+n
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

// faultsOf are what an error says against a configuration, and how many more there are.
func faultsOf(err error) ([]*jobtype.FieldError, int) {
	if all, ok := errors.AsType[*jobtype.ConfigError](err); ok {
		return all.Faults, all.More
	} else if one, ok := errors.AsType[*jobtype.FieldError](err); ok {
		return []*jobtype.FieldError{one}, 0
	} else if err != nil {
		return []*jobtype.FieldError{{Err: err}}, 0
	}
	return nil, 0
}
