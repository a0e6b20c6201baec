package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
)

func (c *cli) contextCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List the contexts", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.readContexts(c.listContexts) },
	}
	use := &cobra.Command{
		Use: "use NAME", Short: "Choose the context that counts when nothing else is given", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.contextNames),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.changeContexts(func(f *target.File) (string, error) { return "", f.Use(args[0]) })
		},
	}
	current := &cobra.Command{
		Use: "current", Short: "Say which context counts", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, name, err := c.settings()
			switch {
			case errors.Is(err, target.ErrNoStore):
				return exit.Errorf(exit.NotFound, "no context is the current one: elasticjob context use NAME")
			case err == nil && name == "":
				return exit.Errorf(exit.NotFound, "no context counts: a store is given, by a flag or by %s", target.InPlace(c.env.Lookup))
			case err != nil:
				return err
			}
			return c.print(show.Result{Value: name, Names: func() []string { return []string{name} }})
		},
	}
	shown := &cobra.Command{
		Use: "show [NAME]", Short: "Show a context, or what counts now, without secrets", Args: cobra.MaximumNArgs(1), ValidArgsFunction: one(c.contextNames),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				s, _, err := c.settings()
				if err != nil {
					return err
				}
				return c.print(show.Result{Value: s.Mask()})
			}
			return c.readContexts(func(f *target.File) error {
				s, err := f.Context(args[0])
				if err != nil {
					return err
				}
				return c.print(show.Result{Value: s.Mask()})
			})
		},
	}
	isProduction := false
	set := &cobra.Command{
		Use: "set NAME", Short: "Write a context, or those of its settings that flags give",
		Long: `Write a context. The flags of the store give its settings; what an existing context has beside them stays,
and an empty value removes a setting. The first context is the current one; "elasticjob context use" chooses
another one. No flag gives a password: name a file by --password-file, or edit the contexts file, where it may be
${env:NAME} or ${file:/path}.

With --production each change asks for the namespace to be typed, and --yes=NAMESPACE takes the place of --yes.`,
		Example: "  elasticjob context set prod --store etcd+tls://etcd-0:2379,etcd-1:2379/shop/jobs --cacert ca.pem --production",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: one(c.contextNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.changeContexts(func(f *target.File) (string, error) { return c.setContext(cmd, f, args[0], isProduction) })
		},
	}
	set.Flags().BoolVar(&isProduction, "production", false, "ask for the namespace to be typed before each change; --production=false takes the mark away")
	remove := &cobra.Command{
		Use: "delete NAME", Short: "Delete a context; the store stays as it is", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.contextNames),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.changeContexts(func(f *target.File) (string, error) {
				return fmt.Sprintf("Context %s is deleted. ", args[0]), f.Delete(args[0])
			})
		},
	}
	return family("context", "Stores with names, in the contexts file", list, use, current, shown, set, remove)
}

func (c *cli) readContexts(do func(*target.File) error) error {
	path, err := c.contextsFile()
	if err != nil {
		return err
	}
	f, err := target.ReadFile(path)
	if err == nil {
		err = do(f)
	}
	return usageUnlessMissing(err)
}

// changeContexts says what it has done, and which context counts then: whoever writes one need not have chosen it.
func (c *cli) changeContexts(change func(*target.File) (done string, err error)) error {
	return c.readContexts(func(f *target.File) error {
		done, err := change(f)
		if err != nil {
			return err
		}
		if err := f.Save(); err != nil {
			return exit.With(exit.Failed, err)
		}
		current := fmt.Sprintf("The current one is %s.", f.Current)
		if f.Current == "" {
			current = "None is the current one: elasticjob context use NAME"
		}
		if name := target.InPlace(c.env.Lookup); name != "" {
			current += fmt.Sprintf(" But %s is set, and counts before it.", name)
		}
		return c.printer().Say("%s%s", done, current)
	})
}

// listedContext is a row of context list.
type listedContext struct {
	Name    string `json:"name"`
	Current bool   `json:"current"`
	target.Settings
}

func (c *cli) listContexts(f *target.File) error {
	rows := []listedContext{}
	for _, name := range f.Names() {
		rows = append(rows, listedContext{name, name == f.Current, f.Contexts[name].Mask()})
	}
	return c.print(show.Result{Value: rows, Names: f.Names, Table: func() *show.Table {
		t := show.NewTable("CURRENT", "NAME", "STORE", "USER", "(HISTORY)")
		t.Empty = "There is no context: elasticjob context set NAME --store …"
		for _, r := range rows {
			mark := " "
			if r.Current {
				mark = "*"
			}
			store := r.Store
			if r.Endpoints != "" || r.Namespace != "" {
				store = fmt.Sprintf("%s %s %s", r.Store, r.Endpoints, r.Namespace)
			}
			name := r.Name
			if r.Production {
				name += " (production)"
			}
			t.Row(mark, name, store, r.User, r.History)
		}
		return t
	}})
}

// setContext takes what flags give, and says what has come of it.
func (c *cli) setContext(cmd *cobra.Command, f *target.File, name string, isProduction bool) (done string, err error) {
	if err := c.flags.CheckFlags(); err != nil {
		return "", err
	}
	before, isThere := f.Contexts[name]
	s := before
	given := cmd.Flags().Changed("production")
	if given {
		s.Production = isProduction
	}
	for _, field := range target.Fields() {
		if field.Flag == "" || !cmd.Flags().Changed(field.Flag) {
			continue
		}
		given = true
		value, err := field.Lasting(*field.In(&c.flags))
		if err != nil {
			return "", err
		}
		*field.In(&s) = value
	}
	if !given {
		return "", exit.Errorf(exit.Usage, "context set %s: nothing is given; the flags of the store are, such as --store", name)
	}
	if why := before.NoHistory(name, s); why != "" && !cmd.Flags().Changed("history") {
		return "", exit.Errorf(exit.Usage, "context set: %s", why)
	}
	if err := f.Set(name, s); err != nil {
		return "", err
	}
	p, err := s.Place(name)
	done = map[bool]string{true: "Changed", false: "Added"}[isThere] + fmt.Sprintf(" %v. ", p)
	if f.Current != name {
		done += fmt.Sprintf("To choose it: elasticjob context use %s. ", name)
	}
	return done, err
}
