package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Report is what an examination has found.
type Report struct {
	// At is when it began.
	At time.Time `json:"at"`
	// Jobs is how many jobs were examined, and Looks how often: 1, or 2 if something looked wrong.
	Jobs  int `json:"jobs"`
	Looks int `json:"looks"`
	// Findings are in order: the worst first, then by job, kind, instance and path. More is how many
	// more there may be, which had no room: MaxFindings are listed, and 1,000 of a kind.
	Findings []Finding `json:"findings"`
	More     int       `json:"more,omitempty"`
	// NoHistory says why the history has not told all; empty if it has, or if there is none.
	NoHistory string `json:"noHistory,omitempty"`
	// Store is what the store tells of itself; nil if it tells nothing.
	Store *coord.StoreFacts `json:"store,omitempty"`
}

// MaxFindings bounds the findings of a report.
const MaxFindings = 10_000

// Worst returns the highest severity of the findings; 0 if there are none.
func (r Report) Worst() Severity {
	var worst Severity
	for _, f := range r.Findings {
		worst = max(worst, f.Severity)
	}
	return worst
}

// Finding is a cause: something that is wrong, or worth knowing. What is wrong only because of it is no
// finding of its own, but an effect.
type Finding struct {
	Kind Kind `json:"kind"`
	// Severity is how bad it is, and the worst of its effects.
	Severity Severity `json:"severity"`
	// Job, Instance and Path are what it is about; empty if that is not one of them. The path is
	// within the namespace.
	Job      string `json:"job,omitempty"`
	Instance string `json:"instance,omitempty"`
	Path     string `json:"path,omitempty"`
	// Others are the instances and nodes where the same is wrong for the same cause, but for numbers,
	// times and ids: 100 at most. MoreOthers is how many more there are.
	Others     []Place `json:"others,omitempty"`
	MoreOthers int     `json:"moreOthers,omitempty"`
	// Items are the items that it is about, ascending: 100 at most. MoreItems is how many more
	// there are.
	Items     []int `json:"items,omitempty"`
	MoreItems int   `json:"moreItems,omitempty"`
	// Since is since when; zero if nothing in the store tells.
	Since time.Time `json:"since,omitzero"`
	// Cause says what is wrong, and Advice what to do. Both quote texts of others, which may have
	// control characters.
	Cause  string `json:"cause"`
	Advice string `json:"advice"`
	// Action is what a program can offer to do about it; empty if the advice is nothing of that.
	Action Action `json:"action,omitempty"`
	// Command is the command of elasticjob that does it; empty if there is none, or if it is not
	// certain that it is wanted.
	Command string `json:"command,omitempty"`
	// Effects are what follows from it, the worst first: one of each kind.
	Effects []Effect `json:"effects,omitempty"`
}

// Place is where something is wrong, as in a Finding.
type Place struct {
	Instance string `json:"instance,omitempty"`
	Path     string `json:"path,omitempty"`
}

// Effect is what follows from a finding, of one kind. The fields are as those of a Finding, but that
// Items and Since are of all that is of the kind, and the others of the first. More is how many there are beside it.
type Effect struct {
	Kind      Kind      `json:"kind"`
	Severity  Severity  `json:"severity"`
	Instance  string    `json:"instance,omitempty"`
	Items     []int     `json:"items,omitempty"`
	MoreItems int       `json:"moreItems,omitempty"`
	Since     time.Time `json:"since,omitzero"`
	Cause     string    `json:"cause"`
	More      int       `json:"more,omitempty"`
}

// String returns the finding in one line.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", f.Severity, f.Kind)
	for _, of := range []struct{ what, name string }{{"job", f.Job}, {"instance", f.Instance}, {"node", f.Path}} {
		if of.name != "" {
			fmt.Fprintf(&b, " %s %q", of.what, of.name)
		}
	}
	if n := len(f.Others) + f.MoreOthers; n > 0 {
		fmt.Fprintf(&b, " and %d more", n)
	}
	b.WriteString(itemsText(f.Items, f.MoreItems))
	if !f.Since.IsZero() {
		fmt.Fprintf(&b, " since %s", f.Since.Format(time.RFC3339))
	}
	fmt.Fprintf(&b, ": %q; %s", f.Cause, f.Advice)
	if f.Command != "" {
		fmt.Fprintf(&b, ": %s", f.Command)
	}
	for _, e := range f.Effects {
		fmt.Fprintf(&b, "; effect: %s", e)
	}
	return b.String()
}

// String returns the effect in one line.
func (e Effect) String() string {
	text := fmt.Sprintf("%s %s", e.Severity, e.Kind)
	if e.Instance != "" {
		text += fmt.Sprintf(" instance %q", e.Instance)
	}
	if e.More > 0 {
		text += fmt.Sprintf(" and %d more", e.More)
	}
	return text + itemsText(e.Items, e.MoreItems) + fmt.Sprintf(": %q", e.Cause)
}

// itemsText names items, if there are any.
func itemsText(items []int, more int) string {
	text := ""
	if len(items) > 0 {
		text = " items " + ranges(items)
	}
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Path, b.Path), slices.Compare(a.Items, b.Items), cmp.Compare(a.Cause, b.Cause),
	)
}
