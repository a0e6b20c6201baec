package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/job/property"
)

func (c *cli) dumpCommand() *cobra.Command {
	var address, tokenFile string
	var isMasked bool
	cmd := &cobra.Command{
		Use: "dump JOB", Short: "Show all nodes of a job, as the store has them or as a process sees them", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.jobNames),
		Long: `Show all nodes of a job, in ElasticJob's format: path | value. With --address the process is asked that listens
there for dumps; it shows what it believes beside what the store has, without secrets. No store is needed for that.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			printed := func(d dump.Dump, err error) error {
				if err != nil {
					return err
				}
				if isMasked {
					d = d.WithoutSecrets().Masked()
				}
				return c.printDump(d)
			}
			if address == "" {
				return c.ask(cmd, func(ctx context.Context, s *store) error { return printed(s.job(args[0]).Dump(ctx)) })
			}
			token := ""
			if tokenFile != "" {
				var err error
				if token, _, err = property.FromProcess()("file:" + tokenFile); err != nil {
					return exit.Errorf(exit.Usage, "--token-file: %w", err)
				}
			}
			ctx, cancel := c.bounded(cmd, false)
			defer cancel()
			return printed(target.DumpOf(ctx, address, token, args[0]))
		},
	}
	cmd.Flags().StringVar(&address, "address", "", "host:port where a process listens for dumps")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "file with the token that the process asks for")
	cmd.Flags().BoolVar(&isMasked, "mask", false, "replace addresses, and hide secrets of the configuration, to send the dump to others")
	return cmd
}

func (c *cli) printDump(d dump.Dump) error {
	if !c.output.ForPeople() {
		return c.print(show.Result{Value: d, Names: func() []string { return namesOf(d.Nodes, func(n dump.Node) string { return n.Path }) }})
	}
	var text strings.Builder
	if err := d.WriteText(&text); err != nil {
		return err
	}
	return c.printer().Say("%s", strings.TrimSuffix(text.String(), "\n"))
}
