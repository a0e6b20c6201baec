package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/console/access"
)

// consoleUsers are the commands that change the users file of a console. A console that runs goes by it at once.
type consoleUsers struct {
	*cli
	flags *consoleFlags
}

// listedUser is a row of console user list.
type listedUser struct {
	Name     string    `json:"name"`
	Grants   []string  `json:"grants"`
	Password bool      `json:"password"`
	Disabled bool      `json:"disabled"`
	Tokens   int       `json:"tokens"`
	Created  time.Time `json:"created,omitzero"`
}

func (c consoleUsers) userCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List the users of the console", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.read(c.listUsers) },
	}
	end := c.recorded(&cobra.Command{
		Use: "logout NAME", Short: "End all sessions of a user of the console", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.userNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.change(cmd, access.Event{Kind: access.SessionEnded, User: args[0]}, func(u *access.Users) error { return u.EndSessions(args[0]) })
		},
	})
	remove := c.changes(&cobra.Command{
		Use: "remove NAME", Short: "Remove a user of the console, with tokens and sessions", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.userNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.confirm(cmd.Context(), target.Place{}, "remove user %s, with all tokens", args[0]); err != nil {
				return err
			}
			return c.change(cmd, access.Event{Kind: access.UserRemoved, User: args[0]}, func(u *access.Users) error { return u.Remove(args[0]) })
		},
	})
	return family("user", "Users of the console, in its users file", list, c.addUser(), c.setUser(), c.setPassword(), end, remove)
}

func (c consoleUsers) addUser() *cobra.Command {
	var g grants
	var p passwordFlags
	cmd := c.recorded(&cobra.Command{
		Use: "add NAME", Short: "Add a user to the console, and make the users file if there is none",
		Long: `Adds a user. The password is asked for, or read from --password-file; no flag gives it. It has 12 to 256 bytes.

A grant is a role in namespaces, for jobs: role, namespaces and jobs with colons between them, lists with commas, and * for
any text. viewer sees, operator steers what runs, admin changes what there is. An admin for everything also changes users.`,
		Example: "  elasticjob console user add anna --role admin\n  elasticjob console user add ben --grant operator:prod*:pay-*,bill --grant viewer",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			granted, err := g.parse()
			if err != nil {
				return err
			}
			if err := c.missing(args[0]); err != nil {
				return err
			}
			password, err := c.newPassword(cmd.Context(), args[0], p)
			if err != nil {
				return err
			}
			e := access.Event{Kind: access.UserAdded, User: args[0], Detail: strings.Join(textsOf(granted), " ")}
			return c.change(cmd, e, func(u *access.Users) error { return u.Add(args[0], password, granted) })
		},
	})
	g.flags(cmd)
	p.flag(cmd)
	cmd.Flags().BoolVar(&p.none, "no-password", false, "a user who has tokens alone, or whom a proxy knows")
	return cmd
}

func (c consoleUsers) setUser() *cobra.Command {
	var g grants
	var disable, enable bool
	cmd := c.recorded(&cobra.Command{
		Use: "set NAME", Short: "Replace the grants of a user of the console, or disable or enable him", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.userNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			granted, err := g.parse()
			if err != nil {
				return err
			}
			if !g.given() && !disable && !enable {
				return exit.Errorf(exit.Usage, "console user set %s: nothing is given: allowed are grants, --disable and --enable", args[0])
			}
			detail := textsOf(granted)
			if disable || enable {
				detail = append(detail, map[bool]string{true: "disabled", false: "enabled"}[disable])
			}
			return c.change(cmd, access.Event{Kind: access.UserChanged, User: args[0], Detail: strings.Join(detail, " ")}, func(u *access.Users) error {
				var err error
				if g.given() {
					err = u.SetGrants(args[0], granted)
				}
				if err == nil && (disable || enable) {
					err = u.Disable(args[0], disable)
				}
				return err
			})
		},
	})
	g.flags(cmd)
	cmd.Flags().BoolVar(&disable, "disable", false, "keep him out, and end his sessions")
	cmd.Flags().BoolVar(&enable, "enable", false, "let him in again")
	cmd.MarkFlagsMutuallyExclusive("disable", "enable")
	return cmd
}

func (c consoleUsers) listUsers(u *access.Users) error {
	rows := []listedUser{}
	for _, name := range u.Names() {
		user := u.Users[name]
		rows = append(rows, listedUser{name, textsOf(user.Grants), user.Password != "", user.Disabled, len(user.Tokens), user.Created})
	}
	return c.print(show.Result{Value: rows, Names: u.Names, Table: func() *show.Table {
		t := show.NewTable("USER", "GRANTS", "PASSWORD", "TOKENS", "DISABLED", "(CREATED)")
		t.Empty = "No user: elasticjob console user add NAME --role admin"
		for _, r := range rows {
			t.Row(r.Name, strings.Join(r.Grants, " "), yesNo(r.Password), r.Tokens, yesNo(r.Disabled), clock(r.Created))
		}
		return t
	}})
}

func (c consoleUsers) file() (access.File, error) {
	path, err := c.usersFile(c.flags)
	return access.File(path), exit.With(exit.Usage, err)
}

func (c consoleUsers) read(do func(*access.Users) error) error {
	file, err := c.file()
	if err != nil {
		return err
	}
	users, err := file.Read()
	if err != nil {
		return err
	}
	return do(users)
}

// missing returns an error if there is a user of that name, so that nobody thinks of a password in vain.
func (c consoleUsers) missing(name string) error {
	err := c.read(func(u *access.Users) error {
		if u.Users[name] != nil {
			return fmt.Errorf("user %s: %w", name, access.ErrExists)
		}
		return access.CheckName(name)
	})
	if errors.Is(err, access.ErrNoFile) {
		return access.CheckName(name)
	}
	return err
}

// change changes the users file, and notes that in the trail beside it. In a dry run it does so in memory alone.
func (c consoleUsers) change(cmd *cobra.Command, e access.Event, change func(*access.Users) error) error {
	file, err := c.file()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), c.timeout)
	defer cancel()
	e.Time, e.By = time.Now().UTC(), c.who(cmd)
	if c.dryRun {
		users, err := file.Read()
		if errors.Is(err, access.ErrNoFile) {
			users, err = &access.Users{}, nil
		}
		if err == nil {
			err = change(users)
		}
		if err != nil {
			return err
		}
		return c.tell("would be ", e)
	}
	if err := file.Change(ctx, change); err != nil {
		return err
	}
	if err := access.TrailOf(string(file)).Append(ctx, e); err != nil {
		return fmt.Errorf("it was done, but the trail does not have it: %w", err)
	}
	if e.Kind == access.TokenCreated {
		return nil // the token is printed instead
	}
	return c.tell("", e)
}

// tell prints what was done, or would be.
func (c consoleUsers) tell(would string, e access.Event) error {
	if c.output.ForPeople() {
		if e.Kind == access.UserAdded && e.Detail == "" {
			return c.printer().Say("%s: %s%s, without grants: may see nothing before elasticjob console user set gives some.", e.User, would, e.Kind)
		}
		return c.printer().Say("%s: %s%s.", e.User, would, e.Kind)
	}
	return c.print(show.Result{Value: e, Names: func() []string { return []string{e.User} }})
}

func (c consoleUsers) userNames(*cobra.Command, []string, string) (names []string) {
	_ = c.read(func(u *access.Users) error { names = u.Names(); return nil }) // without them nothing is proposed
	return names
}

// grants are the flags that give rights.
type grants struct {
	texts            []string
	role             string
	namespaces, jobs []string
}

func (g *grants) flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&g.texts, "grant", nil, "role:namespaces:jobs; may be given several times")
	cmd.Flags().StringVar(&g.role, "role", "", "viewer, operator or admin: a grant with --namespace and --job")
	cmd.Flags().StringArrayVar(&g.namespaces, "namespace", nil, "with --role: pattern of namespaces of the console; may be given several times; default: all")
	cmd.Flags().StringArrayVar(&g.jobs, "job", nil, "with --role: pattern of jobs; may be given several times; default: all")
}

func (g *grants) given() bool { return g.role != "" || len(g.texts) > 0 }

func (g *grants) parse() ([]access.Grant, error) {
	var all []access.Grant
	for _, text := range g.texts {
		grant, err := access.ParseGrant(text)
		if err != nil {
			return nil, exit.With(exit.Usage, err)
		}
		all = append(all, grant)
	}
	if g.role == "" {
		if len(g.namespaces)+len(g.jobs) > 0 {
			return nil, exit.Errorf(exit.Usage, "--namespace and --job need --role")
		}
		return all, nil
	}
	grant := access.Grant{Namespaces: g.namespaces, Jobs: g.jobs}
	err := grant.Role.UnmarshalText([]byte(g.role))
	if err == nil {
		err = grant.Validate()
	}
	return append(all, grant), exit.With(exit.Usage, err)
}

func textsOf(grants []access.Grant) []string {
	texts := []string{}
	for _, g := range grants {
		texts = append(texts, g.String())
	}
	return texts
}

// madeToken is what console token create has made.
type madeToken struct {
	Token   string    `json:"token"`
	User    string    `json:"user"`
	Name    string    `json:"name"`
	Expires time.Time `json:"expires,omitzero"`
}

// listedToken is a row of console token list.
type listedToken struct {
	User    string    `json:"user"`
	Name    string    `json:"name"`
	Grants  []string  `json:"grants"`
	Created time.Time `json:"created,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	Used    time.Time `json:"used,omitzero"`
}

func (c consoleUsers) tokenCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list [USER]", Short: "List the API tokens of the console, without the tokens", Args: cobra.MaximumNArgs(1), ValidArgsFunction: one(c.userNames),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.read(func(u *access.Users) error { return c.listTokens(u, args) })
		},
	}
	revoke := c.recorded(&cobra.Command{
		Use: "revoke USER NAME", Short: "Remove an API token of the console", Args: cobra.ExactArgs(2), ValidArgsFunction: one(c.userNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			e := access.Event{Kind: access.TokenRevoked, User: args[0], Token: args[1]}
			return c.change(cmd, e, func(u *access.Users) error { return u.RevokeToken(args[0], args[1]) })
		},
	})
	return family("token", "API tokens of the console, in its users file", list, c.createToken(), revoke)
}

func (c consoleUsers) createToken() *cobra.Command {
	var g grants
	var days int
	var never bool
	cmd := c.recorded(&cobra.Command{
		Use: "create USER NAME", Short: "Create an API token of the console, and print it this once",
		Long: `Creates a token, by which a script acts in the name of a user: Authorization: Bearer ej_…
It may do what both may, the user and the token: grants of the token can only narrow those of the user. Without
grants it may do all that the user may. With -o name only the token is printed.`,
		Example: "  elasticjob console token create ben deploy --grant operator:prod:pay-* --days 30",
		Args:    cobra.ExactArgs(2), ValidArgsFunction: one(c.userNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			granted, err := g.parse()
			if err != nil {
				return err
			}
			if days < 1 || days > 365 {
				return exit.Errorf(exit.Usage, "--days is %d; allowed are 1 to 365", days)
			}
			life := time.Duration(days) * 24 * time.Hour
			if never {
				life = access.Never
			}
			made := madeToken{User: args[0], Name: args[1]}
			e := access.Event{Kind: access.TokenCreated, User: args[0], Token: args[1], Detail: strings.Join(textsOf(granted), " ")}
			err = c.change(cmd, e, func(u *access.Users) (err error) {
				if made.Token, err = u.AddToken(args[0], args[1], granted, life); err == nil {
					made.Expires = u.Users[args[0]].Tokens[args[1]].Expires
				}
				return err
			})
			if err != nil || c.dryRun {
				return err
			}
			if c.output.ForPeople() {
				return c.printer().Say("%s\nIt cannot be shown again. It expires: %s.", made.Token, expiry(made.Expires))
			}
			return c.print(show.Result{Value: made, Names: func() []string { return []string{made.Token} }})
		},
	})
	g.flags(cmd)
	cmd.Flags().IntVar(&days, "days", 90, "how long it counts, at most 365")
	cmd.Flags().BoolVar(&never, "never-expires", false, "it counts until it is revoked")
	cmd.MarkFlagsMutuallyExclusive("days", "never-expires")
	return cmd
}

func expiry(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return clock(t)
}

func (c consoleUsers) listTokens(u *access.Users, of []string) error {
	names := u.Names()
	if len(of) > 0 {
		if _, err := u.User(of[0]); err != nil {
			return err
		}
		names = of
	}
	file, err := c.file()
	if err != nil {
		return err
	}
	used := file.Uses()
	rows := []listedToken{}
	for _, name := range names {
		tokens := u.Users[name].Tokens
		for _, token := range slices.Sorted(maps.Keys(tokens)) {
			t := tokens[token]
			rows = append(rows, listedToken{name, token, textsOf(t.Grants), t.Created, t.Expires, used[t.ID()]})
		}
	}
	ids := func() (all []string) {
		for _, r := range rows {
			all = append(all, r.User+"/"+r.Name)
		}
		return all
	}
	return c.print(show.Result{Value: rows, Names: ids, Table: func() *show.Table {
		t := show.NewTable("USER", "TOKEN", "GRANTS", "EXPIRES", "USED", "(CREATED)")
		t.Empty = "No token."
		for _, r := range rows {
			t.Row(r.User, r.Name, strings.Join(r.Grants, " "), expiry(r.Expires), clock(r.Used), clock(r.Created))
		}
		return t
	}})
}
