package job_test

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// Several options as one do what each of them does, and fail as they do.
func TestOptionsAsOne(t *testing.T) {
	reg, err := memory.NewStore(memory.Options{}).Dial(t.Context(), memory.Config{Namespace: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reg.Close(t.Context()) }() // nothing was opened on it
	_, err = job.NewNode(reg, job.NodeConfig{Options: []job.Option{job.Options(job.WithWeight(0), job.Options(job.WithIP("a/b")), nil)}})
	for _, want := range []string{"weight 0", "a/b", "option 3 is nil"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := job.NewNode(reg, job.NodeConfig{Options: []job.Option{job.Options(), job.Options(job.WithWeight(3), job.WithLabels("gpu"))}}); err != nil {
		t.Error(err)
	}
}
