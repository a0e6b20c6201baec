package command

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A description has the beginning of a long list, and says how long the list is.
func TestDescriptionIsBounded(t *testing.T) {
	d := &ops.JobDetail{Info: ops.JobInfo{Name: "wide", ShardingTotalCount: 100_000}, Items: make([]ops.ItemInfo, 100_000), Servers: make([]ops.JobServer, 3)}
	var out strings.Builder
	if err := (show.Printer{Out: &out, Format: show.TableFormat}).Print(detail(d)); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); len(text) > 200<<10 || !strings.Contains(text, "Items, the first 1000 of 100000:") || !strings.Contains(text, "Servers:") {
		t.Errorf("%d bytes: %.600s", len(text), text)
	}
}
