// Package selection says which jobs a command is about: those that are named, those whose names match a pattern, those
// with a label, or all. It does the same with each of them.
package selection

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/usage"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Selection is what a command line says of jobs.
type Selection struct {
	names  []string // and patterns: no job has one of *?[\ in its name
	label  string
	isAll  bool
	hasAll bool // the command has the flag
}

// Flags gives a command the flags that choose jobs. One whose --all means something else goes without it.
func (s *Selection) Flags(cmd *cobra.Command, hasAll bool) {
	cmd.Args, cmd.PreRunE = cobra.ArbitraryArgs, s.read
	cmd.Flags().StringVar(&s.label, "label", "", "all jobs with this label")
	if s.hasAll = hasAll; hasAll {
		cmd.Flags().BoolVar(&s.isAll, "all", false, "all jobs of the namespace")
	}
}

// read takes the arguments of the command. It returns an error unless jobs are chosen in one way.
func (s *Selection) read(cmd *cobra.Command, args []string) error {
	s.names = slices.Compact(slices.Sorted(slices.Values(args)))
	ways, flags := 0, "--label"
	for _, isGiven := range []bool{len(args) > 0, s.label != "", s.isAll} {
		if isGiven {
			ways++
		}
	}
	if s.hasAll {
		flags = "--label or --all"
	}
	switch {
	case ways == 0:
		return fmt.Errorf("JOB is missing: names or patterns such as 'pay-*', %s: %s", flags, cmd.UseLine())
	case ways > 1:
		return fmt.Errorf("jobs are chosen twice: allowed is one of names or patterns, %s: %s", flags, cmd.UseLine())
	}
	for _, name := range s.names {
		if _, err := path.Match(name, ""); err != nil {
			return fmt.Errorf("%s is no pattern: *, ? and [a-z] are allowed", brief.Quote(name))
		}
	}
	return nil
}

// One returns the job if just one is named: then nothing has to be listed.
func (s *Selection) One() (name string, isOne bool) {
	if len(s.names) == 1 && !isPattern(s.names[0]) {
		return s.names[0], true
	}
	return "", false
}

// IsNamed reports whether a job is chosen by its name.
func (s *Selection) IsNamed(job string) bool { return slices.Contains(s.names, job) }

func isPattern(name string) bool { return strings.ContainsAny(name, `*?[\`) }

// Of returns those of all jobs that are chosen. A name, a pattern or a label that none has is an error, which says what
// there is. Jobs that only JVM members can have are left out: no operation takes their names.
func (s *Selection) Of(all []ops.JobInfo) (chosen []ops.JobInfo, err error) {
	all = slices.DeleteFunc(slices.Clone(all), func(j ops.JobInfo) bool { return j.JVMOnly })
	isMet := map[string]bool{}
	var names, labels []string
	for _, j := range all {
		isChosen := s.isAll || s.label != "" && s.label == j.Label
		for _, name := range s.names {
			if isMatch, _ := path.Match(name, j.Name); isMatch { // read has looked for errors
				isChosen, isMet[name] = true, true
			}
		}
		if isChosen {
			chosen = append(chosen, j)
		}
		if names = append(names, j.Name); j.Label != "" {
			labels = append(labels, j.Label)
		}
	}
	var missing []error
	for _, name := range s.names {
		if !isMet[name] && len(missing) < brief.MaxList {
			missing = append(missing, none("name or pattern "+brief.Quote(name), "names", name, names))
		}
	}
	switch {
	case len(missing) > 0:
		return nil, errors.Join(missing...)
	case len(chosen) == 0 && s.label != "":
		return nil, none("label "+brief.Quote(s.label), "labels", s.label, slices.Compact(slices.Sorted(slices.Values(labels))))
	case len(chosen) == 0:
		return nil, fmt.Errorf("%w: the namespace has none", ops.ErrNoJob)
	}
	return chosen, nil
}

// none says that no job is as it was to be, and what there is.
func none(wanted, what, text string, there []string) error {
	if near := brief.Similar(text, there); len(near) > 0 {
		return fmt.Errorf("%s: %w%s", wanted, ops.ErrNoJob, usage.DidYouMean(near))
	}
	var list brief.List
	for _, name := range there {
		list.Add(name)
	}
	if list.Empty() {
		return fmt.Errorf("%s: %w, and there are no %s", wanted, ops.ErrNoJob, what)
	}
	return fmt.Errorf("%s: %w; the %s are %v", wanted, ops.ErrNoJob, what, &list)
}
