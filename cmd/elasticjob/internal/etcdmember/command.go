package etcdmember

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
)

// Host is what the commands have of the program that they are part of.
type Host struct {
	Out, Err io.Writer
	// StoreFlags returns the names of flags that were given and say which store is meant.
	StoreFlags func(*cobra.Command) []string
	// Store calls a function with the store that flags, environment and contexts name, and how long it may take to
	// answer.
	Store func(*cobra.Command, func(context.Context, *target.Target, time.Duration) error) error
}

// Command returns elasticjob etcd.
func Command(h Host) *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use: "etcd --data FOLDER", Short: "Serve a member of etcd, for one or three hosts", Args: cobra.NoArgs,
		Long: `Serve a member of etcd from this process: the only one, or one of three, each on a host of its own. Three go on when one
of them is away. Start each with the same --members, and its own --name and --data; they serve as soon as two are there.
--members, --name and --join count at the first start: later the data knows who the members are. Only the hosts that
--members names may be members.

Without TLS it listens on a loopback address only, unless --insecure-http says that the network keeps others out. With
--tls-cacert clients need a certificate of that authority, as the members do; without it and without users in etcd, who
reaches the port may do anything. Certificates are read again for each connection.

History is kept for an hour, and the database may have 4 GiB. SIGINT and SIGTERM end it, and a leader hands over first.`,
		Example: "  elasticjob etcd --data /var/lib/elasticjob-etcd\n" +
			"  elasticjob etcd --data /var/lib/elasticjob-etcd --name a --listen 0.0.0.0:2379 \\\n" +
			"      --members a=https://10.0.0.1:2380,b=https://10.0.0.2:2380,c=https://10.0.0.3:2380 \\\n" +
			"      --tls-cert a.pem --tls-key a.key --tls-cacert ca.pem",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := h.refuseStore(cmd, "etcd"); err != nil {
				return err
			}
			return Run(cmd.Context(), o, h.Out, h.Err)
		},
	}
	dataFlags(cmd, &o)
	flags := cmd.Flags()
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:2379", "IP:port for clients; members listen on the same IP")
	flags.BoolVar(&o.Join, "join", false, "join members that run already, after etcdctl member add")
	flags.StringVar(&o.Cert, "tls-cert", "", "file with the member's certificate, as a server and as a client of the other members")
	flags.StringVar(&o.Key, "tls-key", "", "file with the private key of --tls-cert")
	flags.StringVar(&o.CACert, "tls-cacert", "", "file with the authority that signs certificates of members and clients")
	flags.BoolVar(&o.Insecure, "insecure-http", false, "no TLS on any address: the network keeps others out")
	cmd.MarkFlagsMutuallyExclusive("tls-cert", "insecure-http")
	cmd.AddCommand(h.snapshotCommand(), h.restoreCommand())
	return cmd
}

// dataFlags are the flags of all who use a member's folder.
func dataFlags(cmd *cobra.Command, o *Options) {
	flags := cmd.Flags()
	flags.StringVar(&o.Data, "data", "", "folder with the member's data; it is made if it is not there")
	flags.StringVar(&o.Members, "members", "", "all three members as NAME=https://HOST:PORT,… by which they reach each other; default: this is the only one")
	flags.StringVar(&o.Name, "name", "", "which of --members this is")
}

// refuseStore refuses flags that say which store is meant.
func (h Host) refuseStore(cmd *cobra.Command, what string) error {
	if given := h.StoreFlags(cmd); len(given) > 0 {
		return exit.Errorf(exit.Usage, "%s connects to no store: leave --%s out", what, strings.Join(given, ", --"))
	}
	return nil
}

func (h Host) snapshotCommand() *cobra.Command {
	return &cobra.Command{
		Use: "snapshot FILE", Short: "Save all that an etcd has to a file", Args: cobra.ExactArgs(1),
		Long: `Save all that an etcd has, of all namespaces, to a file: of the first endpoint of the store that answers. The file is
checked, and takes the place of an older one only when it is whole. If etcd has users it takes one with the role root.`,
		Example: "  elasticjob etcd snapshot --store etcd://127.0.0.1:2379/shop backup.db",
		RunE: func(cmd *cobra.Command, args []string) error {
			return h.Store(cmd, func(ctx context.Context, t *target.Target, dial time.Duration) error {
				s, err := Save(ctx, t, dial, args[0])
				if err == nil {
					_, err = fmt.Fprintf(h.Out, "Saved %s: %d bytes of %s, with revision %d.\n", args[0], s.Size, s.Endpoint, s.Revision)
				}
				return err
			})
		},
	}
}

func (h Host) restoreCommand() *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use: "restore FILE --data FOLDER", Short: "Make the data of a member from a snapshot", Args: cobra.ExactArgs(1),
		Long: `Make the data of a member from a snapshot, in a folder that has none. Stop all members, restore each of them from the same
file with its own --name, and start them with the new folders. They may be other members than those of the snapshot: so
one becomes three. Revisions go on a billion above those of the snapshot, because fencing tokens may not go back.`,
		Example: "  elasticjob etcd restore backup.db --data /var/lib/elasticjob-etcd-new",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := h.refuseStore(cmd, "restore"); err != nil {
				return err
			}
			if o.Data == "" {
				return exit.Errorf(exit.Usage, "--data is missing: the folder for the member's data")
			}
			if err := Restore(o, args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(h.Out, "Restored %s into %s.\n", args[0], o.Data)
			return err
		},
	}
	dataFlags(cmd, &o)
	return cmd
}
