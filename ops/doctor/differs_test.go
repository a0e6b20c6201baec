package doctor_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// Who changes the cron in code and deploys without another revision finds both values, and how to take either one.
func TestProgramWithAnotherConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := jobtest.NewCluster(t)
		reg, err := c.Store().Dial(t.Context(), memory.Config{Namespace: "jobtest", Name: "doctor"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = reg.Close(t.Context()) }()
		cfg := job.Config{Name: "settle", Cron: "0 0 3 * * ?", ShardingTotalCount: 2, Props: map[string]string{"token": "first"}}
		first := c.Process("10.0.0.1")
		first.Schedule(cfg, lasts(time.Second))
		if err := first.Shutdown(time.Second); err != nil {
			t.Fatal(err)
		}
		cfg.Cron = "0 0 4 * * ?"
		deployed := c.Process("10.0.0.2")
		scheduler := deployed.Schedule(cfg, lasts(time.Second))
		third := c.Process("10.0.0.3").Schedule(cfg, lasts(time.Second))
		find := func(severity doctor.Severity, texts ...string) {
			t.Helper()
			time.Sleep(time.Second)
			report, err := doctor.Examine(t.Context(), reg, doctor.Options{})
			if err != nil || report.Worst() != severity || len(report.Findings) != min(int(severity), 1) || scheduler.Status().Differs != (severity > 0) {
				t.Fatalf("%v, %v; differs: %v", report.Findings, err, scheduler.Status().Differs)
			}
			for _, text := range texts {
				if all := report.Findings[0].String(); !strings.Contains(all, text) || strings.Contains(all, "secret") {
					t.Errorf("%s, want %s", all, text)
				}
			}
		}
		find(doctor.Warning, "config-differs", "and 1 more", `cron is \"0 0 4 * * ?\" in the program, and \"0 0 3 * * ?\" in the store`,
			"set its Config.Revision to 1", "if it is another program", "elasticjob get settle", "elasticjob update settle --set 'cron=0 0 4 * * ?'")

		// The program's is taken; then somebody wants another one.
		steer := c.Ops().Job("settle")
		set := func(change func(*job.Config)) {
			t.Helper()
			if err := update(t.Context(), steer, change); err != nil {
				t.Fatal(err)
			}
		}
		set(func(c *job.Config) { c.Cron = "0 0 4 * * ?" })
		find(0)
		set(func(c *job.Config) { c.Cron = "0 0 5 * * ?"; c.Props = map[string]string{"token": "secret"} })
		find(doctor.Info, `\"0 0 5 * * ?\" in the store`, `props: \"token\" is a value in the program, and another value in the store`)

		// The programs have read their configuration again.
		declare := func(cron, token string) {
			cfg.Cron, cfg.Props = cron, map[string]string{"token": token}
			scheduler.Declare(cfg)
			third.Declare(cfg)
			c.Advance(30 * time.Second) // by then it is taken in
		}
		declare("0 0 5 * * ?", "secret")
		find(0)
		declare("0 0 4 * * ?", "first")
		find(doctor.Info, "and 1 more")

		// A Runner brings no configuration.
		c.Runner("10.0.0.9", map[string]job.Handler{"settle": lasts(time.Second)})
		find(doctor.Info, "and 1 more")
	})
}

// Whatever the revisions are, it may be another program with the job's name; and what files say is changed in the files.
func TestAdviceOfDifferences(t *testing.T) {
	const stranger = "if it is another program, which has the job's name by mistake"
	for name, tt := range map[string]struct {
		revision int    // of the program; the store's is 8
		set      string // to which the job belongs
		earlier  bool   // it is an earlier job of that name that belongs to it
		advice   string
		not      string
		command  string
	}{
		"no revision":        {0, "", false, "nothing, if its program is to be replaced", "Revision to", ""},
		"an equal one":       {8, "", false, "set its Config.Revision to 9", "files", "elasticjob update settle --set 'cron=a'"},
		"a larger one":       {9, "", false, "find out why the newer one", "Revision to", ""},
		"of a set":           {8, "billing", false, "change the job in the set billing of files", "Revision to", ""},
		"an earlier one was": {8, "billing", true, "set its Config.Revision to 9", "files", "elasticjob update settle --set 'cron=a'"},
	} {
		t.Run(name, func(t *testing.T) {
			inGoodHealth(t, func(f *fixture) {
				apply := func() {
					if tt.set != "" {
						f.commit(coord.Put(f.job.Applied(), jobtree.EncodeApplied(jobtree.AppliedDocument{Set: tt.set, By: "anna"})))
					}
				}
				if tt.earlier {
					apply()
					f.commit(coord.DeleteTree(f.job.Config()))
				}
				f.configure(func(c *job.Config) { c.Revision = 8 })
				f.inForce(func(*jobtree.ScheduleDocument) {})
				if !tt.earlier {
					apply()
				}
				f.says(1, func(d *jobtree.SessionDocument) { d.Revision, d.Differs = tt.revision, "cron\t\"a\"\t\"b\"" })
				found := f.finds(doctor.ConfigDiffers).Findings[0]
				if !strings.Contains(found.Advice, tt.advice) || !strings.Contains(found.Advice, stranger) || strings.Contains(found.Advice, tt.not) || found.Command != tt.command {
					t.Errorf("%v", found)
				}
			})
		})
	}
}

// What an instance says that differs is text of others: it becomes no other command.
func TestDifferencesOfOthers(t *testing.T) {
	for name, tt := range map[string]struct{ differs, cause, command string }{
		"a field":         {"cron\t\"0 0 4 * * ?\"\t\"0 0 3 * * ?\"", `cron is "0 0 4 * * ?" in the program`, "elasticjob update settle --set 'cron=0 0 4 * * ?'"},
		"two":             {"cron\t\"a\"\t\"b\"\nlabel\t\"gpu\"\t\"\"", `; label is "gpu" in the program, and "" in the store`, "elasticjob update settle --set 'cron=a' --set 'label=gpu'"},
		"a quote":         {"jobParameter\t\"it's; rm -rf ~\"\t\"\"", "rm -rf", `elasticjob update settle --set 'jobParameter=it'\''s; rm -rf ~'`},
		"a control":       {"jobParameter\t\"a\\nb\"\t\"\"", `"a\nb"`, ""},
		"another field":   {"a'; rm -rf ~\t\"a\"\t\"b\"", "rm -rf", ""},
		"a property":      {"props: execution.timeout.seconds\t\"5\"\t\"0\"", `props: execution.timeout.seconds is "5"`, ""},
		"a value cut off": {"jobParameter\t\"aaa\"…\t\"b\"", "aaa", ""},
		"a line cut off":  {"cron\t\"a\"\t\"b\"\ndescrip", "descrip", ""},
		"more":            {"cron\t\"a\"\t\"b\"\nand 3 more", "and 3 more", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inGoodHealth(t, func(f *fixture) {
				f.says(1, func(d *jobtree.SessionDocument) { d.Differs = tt.differs })
				r := f.finds(doctor.ConfigDiffers)
				if found := r.Findings[0]; !strings.Contains(found.Cause, tt.cause) || found.Command != tt.command || found.Severity != doctor.Warning {
					t.Errorf("%v", found)
				}
			})
		})
	}
}
