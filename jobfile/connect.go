package jobfile

import (
	"context"
	"io"
	"log/slog"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/job"
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
func (a *App) nodeOptions(f *File, p *program) ([]job.Option, error) {
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
	if s.earlyClaims != 0 {
		options = append(options, job.WithEarlyClaims(max(s.earlyClaims, 0)))
	}

	observers, err := a.observers()
	if err != nil {
		return nil, err
	}
	return slices.Concat(options, p.options(), observers, o.Job), nil
}
