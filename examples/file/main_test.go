//go:build unix

package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/job/script"
)

func TestMain(m *testing.M) {
	script.Supervise()
	goleak.VerifyTestMain(m)
}

// The jobs of the file run, and the example ends.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer // run has ended when it is read
	if err := run(ctx, script.Supervise(), &out, "elasticjob.yaml", 1); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"settle, item 0: OK, settled Beijing\n", "settle, item 2: OK, settled Guangzhou\n", "announce, item 1: OK, PUT /announce/Shanghai\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, &out)
		}
	}
}
