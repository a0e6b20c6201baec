package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/ops/rights"
)

// storeRoles is what makes the roles, for programs.
type storeRoles struct {
	Store    target.Kind `json:"store"`
	Commands []string    `json:"commands"`
	// Grants are what a process has to give to others, by its role. Only on ZooKeeper.
	Grants map[string]string `json:"grants,omitempty"`
	note   string            // for people, before the commands
}

func (c *cli) storeRolesCommand() *cobra.Command {
	users := map[rights.Role]*[]string{}
	var roles rights.Etcd
	cmd := &cobra.Command{
		Use: "store-roles", Short: "Print the commands that give a worker, an operator and a reader the least rights", Args: cobra.NoArgs,
		Long: `Prints the commands that give a worker, an operator and a reader of the namespace the least rights in the
store. It connects to nothing.

On etcd these are lines for a shell: etcdctl makes the roles, and the users if they are named. It asks for
their passwords on its standard input, so run them from a file, not from a pipe. With --job the worker
may run these jobs only, and may not change their configurations.

On ZooKeeper they are lines for zkCli, and a list of grants for each role, which its processes have to give
to the others: in elasticjob.yaml, in zk.Config, and for this command by --grants. Each role has one user,
as USER, whose password is asked for, or as USER:HASH: see "elasticjob acl identity". With -o name only the
commands are printed, for a pipe.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, _, err := c.settings()
			if err != nil {
				return err
			}
			t, err := s.WithoutSecrets().Target()
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			if t.Kind == target.ZooKeeper {
				return c.printZooKeeperRoles(cmd.Context(), t.Namespace, users, len(roles.Jobs) > 0 || roles.Name != "")
			}
			roles.Namespace, roles.Users = t.Namespace, map[rights.Role][]string{}
			for role, names := range users {
				roles.Users[role] = *names
			}
			lines, err := roles.Commands()
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			note := "# Run this from a file, with ETCDCTL_ENDPOINTS and ETCDCTL_USER=root set: etcdctl asks for passwords on its standard input.\n# Roles count once authentication is enabled: etcdctl auth enable."
			if len(roles.Jobs) > 0 {
				note += "\n# A worker of these jobs can end the sessions of all workers of the namespace, which stops their jobs until they have new ones: etcd cannot tell sessions apart."
			}
			return c.printRoles(storeRoles{Store: t.Kind, Commands: lines, note: note})
		},
	}
	for _, role := range rights.Roles() {
		users[role] = cmd.Flags().StringArray(role.String(), nil, "a user who is to be in the role "+role.String())
	}
	cmd.Flags().StringArrayVar(&roles.Jobs, "job", nil, "etcd: a job that the worker may run; default: all")
	cmd.Flags().StringVar(&roles.Name, "name", "", "etcd: how the names of the roles begin; default: the namespace")
	c.complete(cmd, "job", c.jobNames)
	return cmd
}

func (c *cli) printZooKeeperRoles(ctx context.Context, namespace string, users map[rights.Role]*[]string, isForEtcd bool) error {
	if isForEtcd {
		return exit.Errorf(exit.Usage, "--job and --name are for etcd: an access list of ZooKeeper is for one node, and has no name")
	}
	z := rights.ZooKeeper{Namespace: namespace, Users: map[rights.Role]zk.Identity{}}
	for _, role := range rights.Roles() {
		names := *users[role]
		if len(names) > 1 {
			return exit.Errorf(exit.Usage, "--%s is given %d times; allowed is one user for each role", role, len(names))
		}
		if len(names) == 1 {
			l, err := c.logIn(ctx, names[0], "")
			if err != nil {
				return err
			}
			z.Users[role] = l.identity
		}
	}
	lines, err := z.Commands()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	r := storeRoles{Store: target.ZooKeeper, Commands: lines, Grants: map[string]string{}, note: "# In zkCli, after addauth digest USER:PASSWORD of the operator, or of whom the nodes belong to."}
	for _, role := range []rights.Role{rights.Worker, rights.Operator} {
		if _, ok := z.Users[role]; !ok {
			continue
		}
		grants, err := z.Grants(role)
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		r.Grants[role.String()] = grants.String()
	}
	return c.printRoles(r)
}

func (c *cli) printRoles(r storeRoles) error {
	if !c.output.ForPeople() {
		return c.print(show.Result{Value: r, Names: func() []string { return r.Commands }})
	}
	lines := append([]string{r.note}, r.Commands...)
	for _, role := range rights.Roles() {
		if grants, ok := r.Grants[role.String()]; ok {
			lines = append(lines, "# Grants of every "+role.String()+": "+grants)
		}
	}
	return c.printer().Say("%s", strings.Join(lines, "\n"))
}
