package jobfile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
)

// A program's own test may read its files, and look at what comes of them.
func ExampleRead() {
	settle := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "elasticjob.yaml")
	read := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			panic(err)
		}
		f, err := jobfile.Read(jobfile.Options{Handlers: map[string]job.Handler{"settle": settle}, Profiles: []string{}}, path)
		if invalid, ok := err.(*jobfile.Error); ok {
			for _, m := range invalid.Mistakes {
				fmt.Printf("line %d, column %d: %s: %v\n", m.Line, m.Column, m.Path, m.Err)
			}
			return
		}
		for _, c := range f.Jobs() {
			fmt.Println(c.Name, c.Cron, c.Timeout, c.Retry.Attempts)
		}
	}
	read(`
registry: {memory: {namespace: test}}
jobs:
  settle: {implementation: setle, shardingTotalCont: 3}
  report: {implementation: settle, timeout: 30}
`)
	read(`
registry: {memory: {namespace: test}}
defaults: {shardingTotalCount: 3, retry: {attempts: 2}}
jobs:
  settle: {implementation: settle, cron: '0 0/5 * * * ?', timeout: 30s}
`)
	// Output:
	// line 4, column 35: jobs.settle.shardingTotalCont: unknown key; did you mean shardingTotalCount?
	// line 5, column 45: jobs.report.timeout: "30": a time such as 1m30s or 500ms is allowed
	// settle 0 0/5 * * * ? 30s 2
}
