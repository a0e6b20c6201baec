package trees_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/ops"
)

// said is what package ops says of a namespace, as the console's API does: values of encoding/json.
type said map[string]any

// describe asks for all that there is.
func describe(t *testing.T, c *jobtest.Cluster) said {
	t.Helper()
	o, ctx := c.Ops(), t.Context()
	list, err := o.Jobs(ctx, ops.JobsQuery{})
	require(t, "jobs", err)
	details := map[string]*ops.JobDetail{}
	for _, info := range list.Jobs {
		details[info.Name], err = o.Job(info.Name).Describe(ctx)
		require(t, "describe "+info.Name, err)
	}
	all := map[string]any{"jobs": details}
	all["calendars"], err = o.Calendars(ctx)
	require(t, "calendars", err)
	all["removed"], err = o.Removed(ctx)
	require(t, "removed jobs", err)
	all["applied"], err = o.Applied(ctx)
	require(t, "applied jobs", err)
	all["audit"], err = o.Audit(ctx, ops.AuditQuery{})
	require(t, "audit", err)
	all["processes"], err = o.Processes(ctx)
	require(t, "processes", err)
	text, err := json.Marshal(all)
	require(t, "what is said", err)
	var out said
	require(t, "what is said", json.Unmarshal(text, &out))
	return out
}

// text is that of a file.
func (s said) text(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	in := json.NewEncoder(&out)
	in.SetEscapeHTML(false)
	in.SetIndent("", " ")
	require(t, "what is said", in.Encode(s))
	return out.Bytes()
}

// differing lists where now does not say what was said before. What is said besides does not count, and sessions have other
// ids in another store.
func differing(path string, before, now any) (lines []string) {
	switch before := before.(type) {
	case map[string]any:
		now, ok := now.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %v, and was an object", path, now)}
		}
		for key, value := range before {
			if key != "session" {
				lines = append(lines, differing(path+"."+key, value, now[key])...)
			}
		}
		slices.Sort(lines)
		return lines
	case []any:
		now, ok := now.([]any)
		if !ok || len(now) != len(before) {
			return []string{fmt.Sprintf("%s: %v, and was %v", path, now, before)}
		}
		for i, value := range before {
			lines = append(lines, differing(fmt.Sprintf("%s[%d]", path, i), value, now[i])...)
		}
		return lines
	}
	if before != now {
		lines = []string{fmt.Sprintf("%s: %v, and was %v", path, now, before)}
	}
	return lines
}
