package show_test

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops"
)

func TestSecretsAreVeiled(t *testing.T) {
	props := map[string]string{"email.password": "CLEAR", "email.host": "mx", "dingtalk.secret": "${env:SECRET}", "slack.webhook": "https://x/CLEAR"}
	jobs := []jobfile.Declared{{Config: job.Config{Name: "plain"}}, {Config: job.Config{Name: "token", JobParameter: "5", Props: props}}}
	if got := show.Veil(jobs, false); got != `"job token: email.password, slack.webhook"` || jobs[1].Config.Props["email.password"] != "CLEAR" {
		t.Errorf("got %s, %v", got, jobs[1].Config)
	}
	show.Veil(jobs, true)
	got := jobs[1].Config
	if got.Props["email.password"] != "***" || got.Props["email.host"] != "mx" || got.Props["dingtalk.secret"] != "${env:SECRET}" || got.JobParameter != "5" || props["email.password"] != "CLEAR" {
		t.Errorf("got %v, and the properties are %v", got, props)
	}
	if show.Veil(jobs[:1], true) != "" {
		t.Error("a job without secrets has some")
	}

	was := "CLEAR"
	if d := show.VeiledDifference(jobfile.Difference{Key: "props.email.password", Before: &was}); d.String() != "props.email.password: *** → none" || was != "CLEAR" {
		t.Error(d)
	}
	made := show.VeiledChange(ops.Change{Before: "jobName: a\nprops:\n  email.password: CLEAR\n", After: "jobName: a\nprops:\n  email.password: ${env:P}\n"})
	if strings.Contains(made.Before, "CLEAR") || !strings.Contains(made.After, "${env:P}") {
		t.Error(made)
	}
}
