package ops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// CreateRequest says what job is to be created.
type CreateRequest struct {
	// Config is that of the job. A process that runs the job with Config.Overwrite replaces it.
	Config jobtype.Config
	// Implementation is what runs the job, in up to 1,000 bytes: the name of a type, or what
	// programs name by job.WithImplementation. Default Config.Name.
	Implementation string
}

// Create creates a job, which runs when a process joins it. It may have been removed before: what
// says so goes with the same commit.
//
// Errors: ErrJobExists; ErrMoved; a *job.ConfigError; those of a read and of a commit.
func (o *Ops) Create(ctx context.Context, r CreateRequest) error {
	document, err := r.Config.Encode(nil)
	if err != nil {
		return err
	}
	implementation := r.Implementation
	if implementation == "" {
		implementation = r.Config.Name
	}
	if err := checkImplementation(implementation); err != nil {
		return fmt.Errorf("job %s: create: %w", r.Config.Name, err)
	}
	j := o.Job(r.Config.Name)
	return j.again(ctx, "create", func() error {
		_, err := j.config(ctx)
		if err == nil {
			return ErrJobExists
		}
		if !errors.Is(err, ErrNoJob) {
			return err
		}
		// Who has removed the job may have ended before all of it was gone.
		removed, err := j.ops.nodes(ctx, j.name.Removal())
		if err != nil {
			return err
		}
		if err := j.makeRoom(ctx, removed[0]); err != nil {
			return err
		}
		act, err := o.act(j.name, ActionCreate)
		if err != nil {
			return err
		}
		_, err = act.says("implementation "+implementation, "", string(document)).commit(ctx, j.created(implementation, document)...)
		return err
	})
}

// created returns what creates the job. It may have been removed before.
func (j *Job) created(implementation string, document []byte) []coord.Op {
	return []coord.Op{coord.Put(j.name.Root(), []byte(implementation)), coord.Create(j.name.Config(), document), coord.DeleteTree(j.name.Removal())}
}

// Settings is what the registry says of how a job is to run.
type Settings struct {
	Job    string
	Config jobtype.Config // with its defaults
	// Implementation is what runs the job: see CreateRequest.
	Implementation string
	// Version is that of the configuration, for UpdateRequest. It is another one after each change,
	// and after the job was removed and created again.
	Version int64
	// Created is the store-wide number of the commit that has created it: see Applied.
	Created int64
	// Document is the configuration as it stands in the registry, with keys that Config has no field for.
	Document []byte
	// Err says why the document cannot be read, a *job.ConfigError; Config has what could be.
	Err error
}

// Settings reads the configuration of the job. If it cannot be read, the error comes with what
// could be, and with its version.
//
// Errors: ErrNoJob; a *job.ConfigError; those of a read.
func (j *Job) Settings(ctx context.Context) (Settings, error) {
	failed := func(s Settings, err error) (Settings, error) {
		return s, fmt.Errorf("job %s: settings: %w", brief.Text(string(j.name)), err)
	}
	document, err := j.config(ctx)
	if err != nil {
		return failed(Settings{}, err)
	}
	root, err := j.ops.reg.Get(ctx, j.name.Root())
	if err != nil && !errors.Is(err, coord.ErrNoNode) {
		return failed(Settings{}, err)
	}
	s := settingsOf(j.name, root, document)
	if s.Err != nil {
		return failed(s, s.Err)
	}
	return s, nil
}

func settingsOf(name jobtree.Job, root, document coord.Node) Settings {
	s := Settings{Job: string(name), Implementation: string(root.Value), Version: document.Modified, Created: document.Created, Document: document.Value}
	s.Config, s.Err = jobtype.DecodeConfig(document.Value)
	return s
}

// config reads the node of the configuration.
func (j *Job) config(ctx context.Context) (coord.Node, error) {
	if err := j.check(); err != nil {
		return coord.Node{}, err
	}
	n, err := j.ops.reg.Get(ctx, j.name.Config())
	if errors.Is(err, coord.ErrNoNode) {
		err = ErrNoJob
	}
	return n, err
}

// UpdateRequest says how a job is to run from now on.
type UpdateRequest struct {
	// Config replaces the whole configuration. Its name is that of the job, or empty.
	Config jobtype.Config
	// Version is the one that the configuration has to have: see Settings.
	Version int64
	Without []string // keys of the document that go: see jobtype.Config.Encode
}

// Update replaces the configuration of the job, if nobody has since it was read. Keys of the
// document that Config has no field for stay, but for r.Without, if it can be read. The instances go by it a moment later. A job with a
// schedule stays one with a schedule. A document of elastic-job 2.1 becomes one of ElasticJob 3.0, and the class in it
// becomes the implementation of the job. It is one commit.
//
// Errors: ErrNoJob; ErrConfigChanged; jobtype.ErrKindConflict; jobtype.ErrOldMembers, with one of them, while members of
// 2.1 run the job by that document; a *job.ConfigError; those of a read and of a commit.
func (j *Job) Update(ctx context.Context, r UpdateRequest) error {
	return j.again(ctx, "update", func() error {
		there, err := j.config(ctx)
		if err != nil {
			return err
		}
		_, document, err := j.replace(there, r)
		if err != nil || bytes.Equal(document, there.Value) {
			return err
		}
		act, err := j.ops.act(j.name, ActionUpdate)
		if err != nil {
			return err
		}
		ops := []coord.Op{coord.SetAt(j.name.Config(), document, there.Version)}
		if err := j.checkOldMembers(ctx, there); err != nil {
			return err
		}
		if work := jobconf.OldWork(there.Value); work != "" {
			root, err := j.ops.nodes(ctx, j.name.Root())
			if err != nil {
				return err
			}
			if len(root[0].Value) == 0 {
				ops = append(ops, coord.Put(j.name.Root(), []byte(work)))
			}
		}
		_, err = act.says("", string(there.Value), string(document)).commit(ctx, ops...)
		return err
	})
}

// checkOldMembers returns an error if members of elastic-job 2.1 run the job by the document that is there.
func (j *Job) checkOldMembers(ctx context.Context, there coord.Node) error {
	if !jobconf.IsOld(there.Value) {
		return nil
	}
	instances, err := j.Instances(ctx)
	if err != nil {
		return err
	}
	if at := slices.IndexFunc(instances, func(in InstanceInfo) bool { return in.JVM }); at >= 0 {
		return fmt.Errorf("job %s: %w: %s", brief.Text(string(j.name)), jobtype.ErrOldMembers, brief.Quote(instances[at].ID))
	}
	return nil
}

// replace returns the configuration that an update puts in the place of the one that is there, and its document.
func (j *Job) replace(there coord.Node, r UpdateRequest) (next jobtype.Config, document []byte, err error) {
	next = r.Config
	if next.Name == "" {
		next.Name = string(j.name)
	}
	before, unread := jobtype.DecodeConfig(there.Value)
	switch {
	case next.Name != string(j.name):
		return next, nil, wrong("config.jobName", "the configuration is that of job %s", brief.Quote(next.Name))
	case there.Modified != r.Version:
		return next, nil, fmt.Errorf("%w: it has version %d, not %d", ErrConfigChanged, there.Modified, r.Version)
	case unread == nil && (before.Cron == "") != (next.Cron == ""):
		return next, nil, jobtype.ErrKindConflict
	}
	document, err = next.Encode(there.Value, r.Without...)
	if err != nil && unread != nil {
		document, err = next.Encode(nil) // there is nothing to keep of what nobody can read
	}
	return next, document, err
}
