package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Changes says in words what changes from a configuration to the next one.
func Changes(before, after jobtype.Config) []string {
	return inWords(before.Differences(after), before, after, "%s: %s → %s")
}

// Differing returns the text of jobtree.SessionDocument.Differs: how the configuration that a program gives differs
// from the registry's. It is "" if the program gives none: the zero value.
func Differing(given, registry jobtype.Config) string {
	if given.Name == "" {
		return ""
	}
	return strings.Join(departures(given, registry, "%s\t%s\t%s"), "\n")
}

// departures says in words how the configuration that a program gives differs from the one in
// the registry. It ignores Overwrite and Revision: they are about how a configuration gets into the registry,
// not about the job. The sharding total comes first: another one is a sign of another program.
func departures(given, registry jobtype.Config, format string) []string {
	registry.Overwrite, registry.Revision = given.Overwrite, given.Revision
	list := given.Differences(registry)
	if i := slices.IndexFunc(list, func(d jobtype.Difference) bool { return d.Field == jobconf.KeyTotal }); i > 0 {
		list = slices.Insert(slices.Delete(slices.Clone(list), i, i+1), 0, list[i])
	}
	return inWords(list, given, registry, format)
}

// These stand for the value of a property in logs, where others read it: it may be secret.
const (
	propAbsent  = "none"
	propPresent = "a value"
	propOther   = "another value"
)

// inWords puts the first 20 differences of two configurations into words, and counts the others.
func inWords(list []jobtype.Difference, before, after jobtype.Config, format string) []string {
	const most = 20
	var words []string
	for _, d := range list[:min(len(list), most)] {
		field, was, is := d.Field, brief.Quote(d.Before), brief.Quote(d.After)
		if name, isProp := strings.CutPrefix(field, jobconf.PropsPrefix); isProp && !d.GoOnly {
			field, was, is = jobconf.PropsPrefix+brief.Quote(name), propPresent, propOther
			if _, had := before.Props[name]; !had {
				was, is = propAbsent, propPresent
			} else if _, has := after.Props[name]; !has {
				is = propAbsent
			}
		}
		words = append(words, fmt.Sprintf(format, field, was, is))
	}
	if more := len(list) - most; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return words
}
