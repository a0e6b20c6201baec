package show

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/veil"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Veil names the properties of jobs that are secrets in clear text, and puts *** in their place if they are to be
// hidden. References stay. The text is empty if there are none.
func Veil(jobs []jobfile.Declared, hide bool) string {
	var secrets brief.List
	for i := range jobs {
		props := maps.Clone(jobs[i].Config.Props)
		var names []string
		for _, name := range slices.Sorted(maps.Keys(props)) {
			if text := veil.Value(name, props[name]); text != props[name] {
				props[name], names = text, append(names, name)
			}
		}
		if names == nil {
			continue
		}
		secrets.Add(fmt.Sprintf("job %s: %s", jobs[i].Config.Name, strings.Join(names, ", ")))
		if hide {
			jobs[i].Config.Props = props
		}
	}
	return secrets.String()
}

// VeiledDifference returns a difference between two jobs with *** in the place of secrets.
func VeiledDifference(d jobfile.Difference) jobfile.Difference {
	if name, ok := strings.CutPrefix(d.Key, "props."); ok {
		hide := func(text *string) *string {
			if text == nil {
				return nil
			}
			shown := veil.Value(name, *text)
			return &shown
		}
		d.Before, d.After = hide(d.Before), hide(d.After)
	}
	return d
}

// VeiledChange returns a change with *** in the place of secrets in its documents.
func VeiledChange(c ops.Change) ops.Change {
	c.Before, c.After = veil.Document(c.Before), veil.Document(c.After)
	return c
}
