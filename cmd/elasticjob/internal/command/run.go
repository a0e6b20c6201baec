package command

import (
	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/alert/email"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/trace/prom/promfile"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace/sqlfile"
)

// defaultFile is what run reads if no file is given.
const defaultFile = "elasticjob.yaml"

func (c *cli) runCommand() *cobra.Command {
	var paths, profiles []string
	var check bool
	cmd := &cobra.Command{
		Use: "run [-f FILE]", Short: "Run the script and HTTP jobs of files",
		Long: `Run the jobs of files in the format of elasticjob.yaml: scripts and HTTP requests, without any Go. The files say in
which store, so the flags for that do not count. With node.serve it also runs such jobs that others put into the
namespace, as apply does.

tracing may have the type SQL, with a database, and metrics are for Prometheus unless their type is EXPVAR;
jobErrorHandlerType may name EMAIL, too. The files are read again when they have changed, and at a SIGHUP. SIGINT and
SIGTERM end it when what runs is through, or node.drain is over; a second one ends it at once. The exit code is 0.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(paths) == 0 {
				paths = []string{defaultFile}
			}
			f, err := jobfile.Read(c.worker(profiles), paths...)
			if err == nil && check {
				err = f.Check()
			}
			if err != nil {
				return c.showMistakes(err)
			}
			if check {
				for _, w := range f.Warnings() {
					c.warn("%v", w)
				}
				return c.printer().Say("%s, no mistake", count(len(f.Jobs()), "job"))
			}
			app, err := f.Start(cmd.Context())
			if err != nil {
				return err
			}
			return app.Run(cmd.Context())
		},
	}
	cmd.Flags().StringArrayVarP(&paths, "file", "f", nil, "file with the jobs and this worker; may be given several times; default: "+defaultFile)
	cmd.Flags().BoolVar(&check, "check", false, "only check the files")
	c.profiles(cmd, &profiles)
	return cmd
}

// worker is what this command has for files.
func (c *cli) worker(profiles []string) jobfile.Options {
	return jobfile.Options{
		Supervisor: c.env.Supervisor, Profiles: profiles, LookupEnv: c.env.Lookup,
		Alerts:    map[string]func(alert.Options) job.ErrorHandlerType{email.Name: email.Type},
		Databases: map[string]jobfile.OpenDatabase{sqlfile.Name: sqlfile.Open},
		Exporters: map[string]jobfile.NewExporter{promfile.Name: promfile.New},
	}
}
