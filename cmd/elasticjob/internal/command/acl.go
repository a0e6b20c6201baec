package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/job/property"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/rights"
)

// login is a user of ZooKeeper; digest is empty if nobody can log in as him here.
type login struct {
	identity zk.Identity
	digest   string
}

// anyone is how zkCli calls everybody.
const anyone = "anyone"

// logIn returns the user that a text names: anyone, USER:HASH, or USER, whose password is in a file or
// is asked for.
func (c *cli) logIn(ctx context.Context, text, passwordFile string) (login, error) {
	if text == anyone {
		return login{identity: zk.Everybody()}, nil
	}
	if strings.Contains(text, ":") {
		acl, err := zk.ParseACL("digest:" + strings.TrimPrefix(text, "digest:") + ":r")
		if err != nil {
			return login{}, exit.With(exit.Usage, err)
		}
		return login{identity: acl[0].Identity}, nil
	}
	var password string
	var err error
	if passwordFile != "" {
		password, _, err = property.FromProcess()("file:" + passwordFile)
	} else {
		password, err = c.password(ctx, "user "+text)
	}
	if err != nil {
		return login{}, exit.With(exit.Usage, err)
	}
	digest := text + ":" + password
	identity, err := zk.DigestIdentity(digest)
	return login{identity, digest}, exit.With(exit.Usage, err)
}

func (c *cli) aclCommand() *cobra.Command {
	identity := &cobra.Command{
		Use: "identity", Short: "Print as whom ZooKeeper knows --user: USER and a hash of the password", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.flags.User == "" {
				return exit.Errorf(exit.Usage, "whose? give --user, and --password-file unless the password is to be asked for")
			}
			l, err := c.logIn(cmd.Context(), c.flags.User, c.flags.PasswordFile)
			if err != nil {
				return err
			}
			text := l.identity.String()
			return c.print(show.Result{Value: map[string]string{"identity": text}, Names: func() []string { return []string{text} }, Table: func() *show.Table {
				t := show.NewTable()
				t.Field("Identity", text)
				return t
			}})
		},
	}
	cmd := family("acl", "Change the user or the password of a ZooKeeper namespace while jobs run",
		identity,
		c.aclStep("show", "Show how far a change of the user has come", "", func(change rights.Change) changeStep {
			return func(ctx context.Context, lists rights.Lists, _ rights.Options) (rights.Report, error) {
				return change.Look(ctx, lists)
			}
		}),
		c.aclStep("add", "Give the new user all that the former one may do", "", func(change rights.Change) changeStep { return change.Add }),
		c.aclStep("remove", "Take the former user out of all access lists", "take the former user out of all access lists", func(change rights.Change) changeStep { return change.Remove }),
	)
	cmd.Long = `Changes the user or the password of a ZooKeeper namespace while jobs run. With another password a user is
another one for ZooKeeper.

  1. Restart the processes one by one, with digest: the new user, and otherDigests: the former one.
  2. elasticjob acl add      Repeat it until no process knows the former user alone.
  3. Restart the processes one by one, with the new user alone; consoles, too.
  4. elasticjob acl remove   It refuses as long as a process knows the former user.

Each step may be interrupted and repeated. "elasticjob acl show" tells how far it has come. Where the user may
not change all lists, because others have made the nodes, log in with --user as the operator, too.`
	return cmd
}

type changeStep func(context.Context, rights.Lists, rights.Options) (rights.Report, error)

// aclStep is one step of a change. It asks before, if there is something to confirm.
func (c *cli) aclStep(name, short, confirm string, of func(rights.Change) changeStep) *cobra.Command {
	var former, renewed, formerFile, renewedFile string
	cmd := &cobra.Command{
		Use: name + " --former USER --new USER", Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			switch {
			case confirm != "":
				err = c.confirmThere(cmd.Context(), "%s", confirm)
			case name != "show":
				err = c.confirmProduction(cmd)
			}
			if err != nil {
				return err
			}
			return c.withLists(cmd, former, formerFile, renewed, renewedFile, func(ctx context.Context, on changing) error {
				bar := c.progress("access lists")
				report, err := of(on.change)(ctx, on.lists, rights.Options{DryRun: c.dryRun, Progress: func(r rights.Report) { bar.At(r.Nodes, 0) }})
				bar.End()
				if err != nil && report.Passes == 0 {
					return err
				}
				if err == nil && name == "remove" && !c.dryRun {
					err = on.verify(ctx)
				}
				if report.Changed > 0 && !c.dryRun {
					err = cmp.Or(err, on.note(ctx, name, c.who(cmd), report))
				}
				return cmp.Or(err, c.printReport(name, report, err))
			})
		},
	}
	if name != "show" {
		c.changes(cmd)
	}
	flags := cmd.Flags()
	flags.StringVar(&former, "former", "", "the former user: USER, whose password is asked for, or USER:HASH, or anyone for a namespace without users")
	flags.StringVar(&formerFile, "former-password-file", "", "file with the password of the former user")
	flags.StringVar(&renewed, "new", "", "the new user, as --former")
	flags.StringVar(&renewedFile, "new-password-file", "", "file with the password of the new user")
	for _, needed := range []string{"former", "new"} {
		if err := cmd.MarkFlagRequired(needed); err != nil {
			panic(err) // an error of the program
		}
	}
	return cmd
}

// changing is a change of the user, and where it happens.
type changing struct {
	change       rights.Change
	lists        *zk.Registry
	alone, after zk.Config // of who logs in as the new user alone, and without the former one
}

// verify reads everything as the new user alone.
func (on changing) verify(ctx context.Context) error {
	err := as(ctx, on.alone, func(reg *zk.Registry) error {
		for _, err := range reg.Walk(ctx, "") {
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the former user is gone, but the new one cannot read everything: %w", err)
	}
	return nil
}

// note writes an entry of the audit, which the former user has no part in once he is removed.
func (on changing) note(ctx context.Context, step, by string, r rights.Report) error {
	action := ops.ActionAddUser
	if step == "remove" {
		action = ops.ActionRemoveUser
	}
	write := func(reg *zk.Registry) error {
		return ops.New(reg).By(by).Note(ctx, action, fmt.Sprintf("%d access lists", r.Changed), userOf(on.change.From), userOf(on.change.To))
	}
	if step == "remove" {
		return as(ctx, on.after, write)
	}
	return write(on.lists)
}

// userOf is an identity without its hash.
func userOf(i zk.Identity) string {
	user, _, _ := strings.Cut(i.ID, ":")
	return user
}

// as does something with another log-in.
func as(ctx context.Context, cfg zk.Config, do func(*zk.Registry) error) error {
	reg, err := zk.Dial(ctx, cfg)
	if err != nil {
		return err
	}
	defer goodBye(ctx, reg)
	return do(reg)
}

// goodBye closes a registry that has no nodes: its session goes by itself if it cannot be ended.
func goodBye(ctx context.Context, reg *zk.Registry) {
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	_ = reg.Close(end) // as said above
}

// withLists logs in as the new user, as the former one, and as the user of the store if there is one.
func (c *cli) withLists(cmd *cobra.Command, former, formerFile, renewed, renewedFile string, do func(context.Context, changing) error) error {
	ctx, cancel := c.bounded(cmd, true)
	defer cancel()
	p, err := c.place()
	if err != nil {
		return err
	}
	t, err := c.targetOf(ctx, c.chosen)
	if err != nil {
		return err
	}
	cfg, ok := t.ZooKeeperConfig()
	if !ok {
		return exit.Errorf(exit.Usage, "store %s: access lists are those of ZooKeeper; on etcd make another user with the same role, restart the processes, and remove the former user", t)
	}
	to, err := c.logIn(ctx, renewed, renewedFile)
	if err != nil {
		return err
	}
	from, err := c.logIn(ctx, former, formerFile)
	if err != nil {
		return err
	}
	cfg.DialTimeout = c.dialTime()
	alone := loggedIn(cfg, to.digest)
	alone.Grants = nil
	after := loggedIn(cfg, cfg.Digest, to.digest)
	both := loggedIn(cfg, cfg.Digest, to.digest, from.digest)
	if from.digest == "" && both.Digest != "" { // then what it writes would not be for him
		both.Grants = append(both.Grants[:len(both.Grants):len(both.Grants)], zk.Entry{Identity: from.identity, Permissions: zk.All})
	}
	lists, err := zk.Dial(ctx, both)
	if err != nil {
		return unreachable(fmt.Errorf("store %s: %w", t, err))
	}
	defer goodBye(ctx, lists)
	if err := c.printer().Head(p.String(), p.Production); err != nil {
		return err
	}
	return do(ctx, changing{rights.Change{From: from.identity, To: to.identity}, lists, alone, after})
}

// loggedIn returns how to log in with all of the digests that are not empty.
func loggedIn(cfg zk.Config, digests ...string) zk.Config {
	cfg.Digest, cfg.OtherDigests = "", nil
	for _, digest := range digests {
		switch {
		case digest == "" || digest == cfg.Digest:
		case cfg.Digest == "":
			cfg.Digest = digest
		default:
			cfg.OtherDigests = append(cfg.OtherDigests, digest)
		}
	}
	return cfg
}

// aclReport is how far a change has come, for programs.
type aclReport struct {
	DryRun    bool      `json:"dryRun,omitempty"`
	Nodes     int       `json:"nodes"`
	Passes    int       `json:"passes"`
	Changed   int       `json:"changed"`
	Lasting   aclCount  `json:"lasting"`
	Ephemeral aclCount  `json:"ephemeral"`
	Waiting   aclSample `json:"waiting"`
	Denied    aclSample `json:"denied"`
}

type aclCount struct {
	Former int `json:"former"`
	Both   int `json:"both"`
	New    int `json:"new"`
}

func (c aclCount) String() string {
	return fmt.Sprintf("%d former user alone, %d both, %d new user alone", c.Former, c.Both, c.New)
}

type aclSample struct {
	Count int      `json:"count"`
	Paths []string `json:"paths,omitempty"`
}

func (s aclSample) String() string {
	if s.Count == 0 {
		return ""
	}
	text := strings.Join(s.Paths, ", ")
	if more := s.Count - len(s.Paths); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (c *cli) printReport(step string, r rights.Report, failed error) error {
	v := aclReport{DryRun: c.dryRun, Nodes: r.Nodes, Passes: r.Passes, Changed: r.Changed, Lasting: aclCount(r.Lasting), Ephemeral: aclCount(r.Ephemeral), Waiting: aclSample(r.Waiting), Denied: aclSample(r.Denied)}
	return c.print(show.Result{Value: v, Names: func() []string { return v.Waiting.Paths }, Table: func() *show.Table {
		t := show.NewTable()
		t.Field("Nodes", v.Nodes)
		if step != "show" {
			changed := "Lists changed"
			if c.dryRun {
				changed = "Lists to change"
			}
			t.Field(changed, v.Changed)
		}
		t.Field("Lists of lasting nodes", v.Lasting)
		t.Field("Nodes of processes", v.Ephemeral)
		t.Field("To be restarted", v.Waiting)
		t.Field("Not allowed", v.Denied)
		t.Field("Next", nextOf(step, r, c.dryRun, failed))
		return t
	}})
}

// nextOf says what to do next.
func nextOf(step string, r rights.Report, isDry bool, failed error) string {
	switch {
	case isDry, failed != nil && !errors.Is(failed, rights.ErrInUse):
		return ""
	case step == "add" && r.Waiting.Count > 0:
		return "restart these processes with both users, then add again"
	case step == "add":
		return "restart all processes with the new user alone, then elasticjob acl remove"
	case step == "remove" && r.Waiting.Count > 0:
		return "restart these processes with the new user alone, then remove again"
	case step == "remove":
		return "nothing: the former user is gone"
	case r.Ephemeral.Former > 0:
		return "restart the processes that know the former user alone with both users, then elasticjob acl add"
	case r.Lasting.Former > 0:
		return "elasticjob acl add"
	case r.Ephemeral.Both > 0:
		return "restart all processes with the new user alone, then elasticjob acl remove"
	case r.Lasting.Both > 0:
		return "elasticjob acl remove"
	}
	return "nothing: the former user is gone"
}
