package usage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The annotations by which cobra knows groups of flags. Each is a list of groups, with the names of their flags.
const (
	oneRequired = "cobra_annotation_one_required"
	exclusive   = "cobra_annotation_mutually_exclusive"
	together    = "cobra_annotation_required_if_others_set"
)

// checkFlags says which flags are missing or exclude each other, in the words of the command. cobra would say it next,
// in its own.
func checkFlags(cmd *cobra.Command) error {
	var required, wrong []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(f.Annotations[cobra.BashCompOneRequiredFlag], "true") && !f.Changed {
			required = append(required, f.Name)
		}
		if f.Changed && isEmpty(f.Value) {
			wrong = append(wrong, fmt.Sprintf("--%s has an empty value; allowed is one that is not, or no --%s", f.Name, f.Name))
		}
		groups := func(of string, check func(all, given []string)) {
			for _, group := range f.Annotations[of] {
				all := strings.Fields(group)
				if all[0] != f.Name {
					continue // each group is looked at once
				}
				check(all, slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !cmd.Flags().Changed(name) }))
			}
		}
		groups(oneRequired, func(all, given []string) {
			if len(given) == 0 {
				wrong = append(wrong, fmt.Sprintf("one of %s is missing", list(all)))
			}
		})
		groups(exclusive, func(_, given []string) {
			if len(given) > 1 {
				wrong = append(wrong, fmt.Sprintf("%s: allowed is one of them", list(given)))
			}
		})
		groups(together, func(all, given []string) {
			if len(given) > 0 && len(given) < len(all) {
				wrong = append(wrong, fmt.Sprintf("%s: all of them are needed, or none", list(all)))
			}
		})
	})
	switch len(required) {
	case 0:
	case 1:
		wrong = slices.Insert(wrong, 0, list(required)+" is missing")
	default:
		wrong = slices.Insert(wrong, 0, list(required)+" are missing")
	}
	if len(wrong) == 0 {
		return nil
	}
	example, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	if example == "" {
		example = cmd.UseLine()
	}
	return fmt.Errorf("%s, as in: %s", strings.Join(wrong, "; "), example)
}

// isEmpty reports whether a text, or one of a list, is empty, as in a script whose variable is not set. No flag means that:
// without it a command takes another target, or all.
func isEmpty(v pflag.Value) bool {
	if texts, ok := v.(pflag.SliceValue); ok {
		return len(texts.GetSlice()) == 0 || slices.Contains(texts.GetSlice(), "")
	}
	return v.Type() == "string" && v.String() == ""
}

// list names flags in a sentence.
func list(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return "--" + names[0]
	}
	return "--" + strings.Join(names[:last], ", --") + " and --" + names[last]
}
