package jobfile

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
	"github.com/elasticjob-go/elasticjob/job/script"
)

// dial connects to the registry centre of the section. kind is its key.
func (s *registrySection) dial(ctx context.Context, log *slog.Logger) (kind string, reg coord.Registry, err error) {
	switch {
	case s.etcd != nil:
		c := s.etcd.config
		c.Slog = log
		if c.TLS, err = s.etcd.tls.config(); err == nil {
			reg, err = etcd.Dial(ctx, c)
		}
		return "etcd", reg, err
	case s.zookeeper != nil:
		c := s.zookeeper.config
		c.Slog = log
		if c.TLS, err = s.zookeeper.tls.config(); err == nil {
			reg, err = zk.Dial(ctx, c)
		}
		return "zookeeper", reg, err
	}
	log.Warn("the registry is in memory: the jobs run in this process alone, and all is lost when it ends")
	c := *s.memory
	c.Slog = log
	store := memory.NewStore(memory.Options{})
	r, err := store.Dial(ctx, c)
	if err != nil {
		return "memory", nil, err
	}
	return "memory", ownStore{r, store}, nil
}

// ownStore is a registry that closes its store, too.
type ownStore struct {
	*memory.Registry
	store *memory.Store
}

func (o ownStore) Close(ctx context.Context) error {
	defer o.store.Close()
	return o.Registry.Close(ctx)
}

// logger returns the program's logger, or that of the section.
func (f *File) logger(to io.Writer) *slog.Logger {
	if f.options.Slog != nil {
		return f.options.Slog
	}
	s := f.log
	if s == nil {
		s = &logSection{}
		s.fields() // sets the defaults
	}
	return s.logger(to)
}

func (s *logSection) logger(to io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.level)) // it was checked
	o := &slog.HandlerOptions{Level: level}
	if s.format == formatJSON {
		return slog.New(slog.NewJSONHandler(to, o))
	}
	return slog.New(slog.NewTextHandler(to, o))
}

// nodeOptions returns the options of all jobs. The program's come last: they count.
func (a *App) nodeOptions(f *File) ([]job.Option, error) {
	s, o := &f.node, &f.options
	options := []job.Option{job.WithSlog(a.log)}
	if s.address != "" {
		options = append(options, job.WithIP(s.address))
	}
	if s.network != "" {
		options = append(options, job.WithNetwork(s.network))
	}
	if len(s.labels) > 0 {
		options = append(options, job.WithLabels(s.labels...))
	}
	if s.weight > 0 {
		options = append(options, job.WithWeight(s.weight))
	}
	if s.cancelGrace != 0 {
		options = append(options, job.WithCancelGrace(max(s.cancelGrace, 0)))
	}
	if s.listenerTimeout != 0 {
		options = append(options, job.WithListenerTimeout(s.listenerTimeout))
	}
	options = append(options, job.WithEarlyClaims(s.earlyClaims))

	observers, err := a.observers()
	if err != nil {
		return nil, err
	}
	return slices.Concat(options, a.errorHandlers(o), observers, o.Job), nil
}

// typesOf returns the types that this package has, and the program's, which count.
func (f *File) typesOf() (types map[string]job.Type, end func(), err error) {
	requests := httpjob.New(httpjob.Options{Allow: f.allowed})
	types = map[string]job.Type{httpjob.Name: requests}
	if o := &f.options; o.Supervisor != (script.Supervisor{}) {
		if types[script.Name], err = script.New(o.Supervisor, script.Options{Allow: f.allowed}); err != nil {
			return nil, nil, err
		}
	}
	maps.Copy(types, f.options.Types)
	return types, requests.Close, nil
}

// Check asks the types whether they take the jobs, as the start of a job does: whether the
// properties are right, and what they want is allowed.
//
// The error is an *Error with all mistakes.
func (f *File) Check() error {
	types, end, err := f.typesOf()
	if err != nil {
		return err
	}
	defer end()
	return f.declarations().Check(types)
}

// handlersOf returns the handlers of the program, and of all types.
func (a *App) handlersOf(o *Options) (map[string]job.Handler, error) {
	types, end, err := a.file.typesOf()
	if err != nil {
		return nil, err
	}
	a.close = append(a.close, func(context.Context) error { end(); return nil })
	handlers := maps.Clone(o.Handlers)
	if handlers == nil {
		handlers = map[string]job.Handler{}
	}
	for name, t := range types {
		if handlers[name] != nil {
			return nil, fmt.Errorf("jobfile: handler %q has the name of a type", name)
		}
		handlers[name] = job.OfType(name, t)
	}
	return handlers, nil
}

// errorHandlers returns those that this package has, and then the program's, which count.
func (a *App) errorHandlers(o *Options) []job.Option {
	alerts := o.Alert
	if alerts.Allow == nil {
		alerts.Allow = a.file.allowed
	}
	types := map[string]func(alert.Options) job.ErrorHandlerType{
		alert.NameWeChat: alert.WeChat, alert.NameDingTalk: alert.DingTalk, alert.NameSlack: alert.Slack, alert.NameWebhook: alert.Webhook,
	}
	maps.Copy(types, o.Alerts)
	var options []job.Option
	for name, of := range types {
		options = append(options, job.WithErrorHandler(name, of(alerts)))
	}
	for name, t := range o.ErrorHandlers {
		options = append(options, job.WithErrorHandler(name, t))
	}
	return options
}
