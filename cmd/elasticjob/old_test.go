package main

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/coord"
)

// A document may have what no program takes, as ElasticJob writes it: failover without monitorExecution. A change that
// cures it is made, any other says what to set; an export warns of
// overwrite. Keys that only ElasticJob has can be removed.
func TestDocumentsOfElasticJob(t *testing.T) {
	t.Parallel()
	p := person{store: servers.store(t, "etcd") + "/documents"}
	reg := p.registry(t)
	const faulty = `{"jobName":"old","jobClass":"org.example.Old","jobType":"SIMPLE","cron":"0 0 3 * * ?","shardingTotalCount":2,"jobParameter":"kept","failover":true,"monitorExecution":false,"overwrite":true}`
	const base = "jobName: old\ncron: 0 0 3 * * ?\nshardingTotalCount: 2\n"
	const ours = base + "failover: true\nmonitorExecution: false\nfuture: 1\n"
	const pool = base + "jobExecutorServiceHandlerType: SINGLE_THREAD\n"
	for name, tc := range map[string]struct {
		document string
		args     []string
		want     exit.Code
		says     string // of the output, or of the error
	}{
		"monitorExecution":    {faulty, []string{"update", "old", "--set", "monitorExecution=true"}, exit.Done, "keep a copy of it for the way back"},
		"failover":            {faulty, []string{"update", "old", "--set", "failover=false"}, exit.Done, "cannot be read, and what is wrong in it goes"},
		"no cure":             {faulty, []string{"update", "old", "--set", "jobParameter=x"}, exit.Usage, "set monitorExecution to true, or failover to false"},
		"not all can be read": {strings.Replace(faulty, `"kept"`, `["kept"]`, 1), []string{"update", "old", "--set", "monitorExecution=true"}, exit.Usage, "jobParameter"},
	} {
		if _, err := reg.Commit(t.Context(), coord.Put("old", nil), coord.Put("old/config", []byte(tc.document))); err != nil {
			t.Fatal(err)
		}
		if got := p.run(t.Context(), tc.args...); got != tc.want || !strings.Contains(p.out.String()+p.err.String(), tc.says) {
			t.Errorf("%s: got %d: %s%s", name, got, &p.out, &p.err)
		}
		n, err := reg.Get(t.Context(), "old/config")
		if err != nil {
			t.Fatal(err)
		}
		if isNew := !strings.HasPrefix(string(n.Value), "{"); isNew != (tc.want == exit.Done) || isNew && !strings.Contains(string(n.Value), "jobParameter: kept\n") {
			t.Errorf("%s: the registry has %s", name, n.Value)
		}
	}
	if _, err := reg.Commit(t.Context(), coord.Put("old/config", []byte(strings.Replace(faulty, `"monitorExecution":false`, `"monitorExecution":true`, 1)))); err != nil {
		t.Fatal(err)
	}
	if got := p.run(t.Context(), "export"); got != exit.Done || !strings.Contains(p.err.String(), `overwrite: true of "old"`) || !strings.Contains(p.out.String(), "overwrite: true") {
		t.Errorf("export: got %d: %s%s", got, &p.out, &p.err)
	}
	// It is shown, and what is wrong in it is said.
	for _, tc := range []struct {
		name, document string
		args           []string
		want           exit.Code
		says, not      string
	}{
		{"get", ours, []string{"get", "old"}, exit.Done, "monitorExecution: false", ""},
		{"the reason", ours, []string{"get", "old"}, exit.Done, "warning: Go members refuse this configuration", ""},
		{"for a JVM", ours, []string{"get", "old", "--for-jvm"}, exit.Findings, "REFUSED  future", ""},
		{"the command", ours, []string{"get", "old", "--for-jvm"}, exit.Findings, "elasticjob update JOB --unset future", ""},
		{"not all can be read", "jobName: [old]\n", []string{"get", "old"}, exit.Usage, "jobName", "warning"},
		{"export", ours, []string{"export"}, exit.Findings, "not in the file: job old", "has no job"},
		{"unset", pool, []string{"update", "old", "--unset", "jobExecutorServiceHandlerType"}, exit.Done, "- jobExecutorServiceHandlerType: SINGLE_THREAD", "Nothing"},
		{"unset again", "", []string{"update", "old", "--unset", "jobExecutorServiceHandlerType"}, exit.Done, "Nothing to change", ""},
		{"one thread", "", []string{"get", "old"}, exit.Done, "threads: 1", ""},
	} {
		if tc.document != "" {
			if _, err := reg.Commit(t.Context(), coord.Put("old", []byte("org.example.Old")), coord.Put("old/config", []byte(tc.document))); err != nil {
				t.Fatal(err)
			}
		}
		got := p.run(t.Context(), tc.args...)
		if out := p.out.String() + p.err.String(); got != tc.want || !strings.Contains(out, tc.says) || tc.not != "" && strings.Contains(out, tc.not) {
			t.Errorf("%s: got %d: %s", tc.name, got, out)
		}
	}
}
