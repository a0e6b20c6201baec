package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/etcdmember"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/selection"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/ops"
)

// store is a connection to the namespace that was asked for.
type store struct {
	target *target.Target
	reg    coord.Registry
	ops    *ops.Ops
	asked  string // the job that the command is about, if it is about one
	noPast error  // why there is no history although one is named

	place   target.Place
	isNamed bool     // people know the place
	notes   []string // for people, below what is changed
}

// job returns the operations on a job. If there is none of the name, the error says which ones have
// a similar one.
func (s *store) job(name string) *ops.Job {
	s.asked = name
	return s.ops.Job(name)
}

// closeTime bounds how long it takes to say good-bye, and dialTime how long it takes to connect.
const (
	closeTime = 3 * time.Second
	dialTime  = 5 * time.Second
)

// ask connects, does something that is through within --timeout, and disconnects.
func (c *cli) ask(cmd *cobra.Command, do func(context.Context, *store) error) error {
	return c.on(cmd, false, do)
}

// follow is ask for what takes as long as it takes, unless --timeout is given: it waits, follows, or moves much.
func (c *cli) follow(cmd *cobra.Command, do func(context.Context, *store) error) error {
	return c.on(cmd, true, do)
}

// bounded returns a context that ends after --timeout; if that was not given, not for what takes as long as it takes.
func (c *cli) bounded(cmd *cobra.Command, isLong bool) (context.Context, context.CancelFunc) {
	if isLong && !c.limited {
		return context.WithCancel(cmd.Context())
	}
	return context.WithTimeoutCause(cmd.Context(), c.timeout, fmt.Errorf("not through within %v (--timeout): %w", c.timeout, context.DeadlineExceeded))
}

func (c *cli) on(cmd *cobra.Command, isLong bool, do func(context.Context, *store) error) (err error) {
	ctx, cancel := c.bounded(cmd, isLong)
	defer cancel()
	place, err := c.place()
	if err != nil {
		return err
	}
	t, err := c.targetOf(ctx, c.chosen)
	if err != nil {
		return err
	}
	past, noPast := c.chosen.OpenHistory() // which does not keep anybody from looking at jobs, and steering them
	var options []ops.Option
	if past != nil {
		defer func() { err = cmp.Or(err, past.Close()) }()
		options = append(options, ops.WithHistory(past), ops.WithTrace(past, c.notTraced))
	}
	reg, hangUp, err := c.dial(ctx, t)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, hangUp()) }()
	s := &store{target: t, place: place, reg: reg, noPast: noPast, ops: ops.New(reg, options...).By(c.who(cmd))}
	return selection.Missing(ctx, s.reg, s.asked, c.flags.Words(c.context), do(ctx, s))
}

// dial connects to a store. hangUp disconnects.
func (c *cli) dial(ctx context.Context, t *target.Target) (reg coord.Registry, hangUp func() error, err error) {
	reg, err = t.Dial(ctx, c.dialTime())
	if err != nil {
		return nil, nil, unreachable(err)
	}
	return reg, func() error {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(c.env.Patience, closeTime))
		defer cancel()
		if err := reg.Close(end); err != nil {
			return fmt.Errorf("done, but the session at %s has not ended: %w", t, err)
		}
		return nil
	}, nil
}

// notTraced warns that a change was made that the database of the history does not have. The audit of
// the namespace has it.
func (c *cli) notTraced(made ops.Change, err error) {
	c.warn("%s %s is done, and the history does not have it: %v", made.Action, made.Job, err)
}

// warn tells the person something that is wrong, although the command goes on.
func (c *cli) warn(format string, args ...any) {
	text := strings.ReplaceAll(brief.Cut(fmt.Sprintf(format, args...), maxError), "\n", "; ")
	c.warning.Lock()
	defer c.warning.Unlock()
	fmt.Fprintln(c.env.Err, "elasticjob: warning:", show.Line(text))
}

// dialTime bounds how long it takes to connect to a store.
func (c *cli) dialTime() time.Duration { return min(c.timeout, cmp.Or(c.env.Patience, dialTime)) }

// unreachable makes one thing of all time-outs of a connect.
func unreachable(err error) error {
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, coord.ErrDenied) {
		return exit.With(exit.Unreachable, err)
	}
	return err
}

// targetOf returns what settings stand for, with its password.
func (c *cli) targetOf(ctx context.Context, s target.Settings) (*target.Target, error) {
	t, err := s.Target()
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	t.RequestTimeout = c.env.Patience
	if !t.NeedsPassword() {
		return t, nil
	}
	password, err := c.password(ctx, t.String())
	if err != nil {
		return nil, err
	}
	t.SetPassword(password)
	return t, nil
}

// named returns the settings that a text names, the address of a store or a context, and that context.
func (c *cli) named(what, text string) (s target.Settings, context string, err error) {
	if s, context, err = target.Named(text, c.contextsFile); err != nil {
		err = usageUnlessMissing(fmt.Errorf("%s: %w", what, err))
	}
	return s, context, err
}

// settings returns what flags, environment and contexts file say together. A command that has asked goes on with what
// it has asked about, if another context becomes the current one meanwhile.
func (c *cli) settings() (s target.Settings, context string, err error) {
	if c.chosen != (target.Settings{}) {
		return c.chosen, c.from, nil
	}
	file, err := c.contextsFile()
	if err != nil {
		return s, "", err
	}
	environmentContext, _ := c.env.Lookup("ELASTICJOB_CONTEXT")
	s, context, err = target.Choice{
		Flags: c.flags, FlagContext: c.context,
		Environment: target.FromEnvironment(c.env.Lookup), EnvironmentContext: environmentContext,
		File: file,
	}.Resolve()
	if err == nil {
		c.chosen, c.from = s, context
	}
	return s, context, usageUnlessMissing(err)
}

func (c *cli) contextsFile() (string, error) {
	file, err := target.DefaultFile(c.env.Lookup)
	return file, exit.With(exit.Usage, err)
}

func usageUnlessMissing(err error) error {
	if errors.Is(err, target.ErrNoContext) {
		return exit.With(exit.NotFound, err)
	}
	return exit.With(exit.Usage, err)
}

// who returns in whose name the command acts: that of the flag, of ELASTICJOB_BY, or of the user of
// the system at this host.
func (c *cli) who(cmd *cobra.Command) string {
	by, _ := c.env.Lookup("ELASTICJOB_BY")
	if f := cmd.Flags().Lookup("by"); f != nil && f.Changed {
		by = f.Value.String()
	}
	if by != "" {
		return by
	}
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	} else if variable, ok := c.env.Lookup("USER"); ok {
		name = variable
	}
	host, _ := os.Hostname() // a name alone says something, too
	return name + "@" + cmp.Or(host, "unknown")
}

// etcdCommand is elasticjob etcd.
func (c *cli) etcdCommand() *cobra.Command {
	return etcdmember.Command(etcdmember.Host{Out: c.env.Out, Err: c.env.Err, StoreFlags: c.storeFlags, Store: func(cmd *cobra.Command, do func(context.Context, *target.Target, time.Duration) error) error {
		ctx, cancel := c.bounded(cmd, true)
		defer cancel()
		given, _, err := c.settings()
		if err != nil {
			return err
		}
		t, err := c.targetOf(ctx, given)
		if err != nil {
			return err
		}
		return do(ctx, t, c.dialTime())
	}})
}
