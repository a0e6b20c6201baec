package declare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/errclass"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// DefaultSet is the name of a set that has none.
const DefaultSet = "default"

// Request says what is to be planned.
type Request struct {
	// Set is the name of the set, with characters as in the name of a job. Default DefaultSet.
	Set string
	// Files is what the files say.
	Files *jobfile.Declarations
	// Prune removes the jobs that the set has applied, and that the files do not have any more.
	Prune bool
	// Adopt takes jobs that belong to no set, or to another one, and lets another implementation take the place of one
	// that instances run.
	Adopt bool
	// Progress, if it is set, is told how many jobs were read; total is 0 if that is not known. Calls do
	// not overlap.
	Progress func(done, total int)
}

// Action is what is to be done.
type Action string

// The actions; see the comment of this package.
const (
	Create    Action = "create"
	Update    Action = "update"
	Adopt     Action = "adopt"
	Unchanged Action = "unchanged"
	Refuse    Action = "refuse"
	Prune     Action = "prune"
	Keep      Action = "keep"
	Forget    Action = "forget"
)

// Writes reports whether something is written.
func (a Action) Writes() bool {
	return a == Create || a == Update || a == Adopt || a == Prune || a == Forget
}

// Kind is what a step is about.
type Kind string

// The kinds.
const (
	Job      Kind = "job"
	Calendar Kind = "calendar"
)

// Plan is what is to be done.
type Plan struct {
	Set string `json:"set"`
	// Steps are in the order in which they are done: calendars, what the files have of jobs, by name,
	// and then what they have not.
	Steps []Step `json:"steps"`
}

// Step is what is to be done about one job or calendar.
type Step struct {
	Kind   Kind   `json:"kind"`
	Name   string `json:"name"`
	Action Action `json:"action"`
	// Place is where it stands: file:line:column.
	Place string `json:"place,omitempty"`
	// Differences are the keys that change; of a job that is created, those without their default.
	Differences []jobfile.Difference `json:"differences,omitempty"`
	// Before and After are the next ticks, if the schedule changes. A job that is triggered has none.
	Before []time.Time `json:"before,omitempty"`
	After  []time.Time `json:"after,omitempty"`
	// Warnings say what an operator should know.
	Warnings []string `json:"warnings,omitempty"`
	// Err says why it is refused.
	Err error `json:"-"`
	// Why is Err as text.
	Why string `json:"why,omitempty"`

	request  ops.ApplyRequest       // of a job that is written
	calendar ops.PutCalendarRequest // of a calendar that is written
	version  int64                  // of a job that is pruned
	taken    error                  // why a job that is there has to be adopted; nil if this set has applied it
	other    error                  // why it has to be adopted while it runs: its implementation changes
	isOld    bool                   // its document is one of elastic-job 2.1
}

// Changes reports whether the plan has something to do.
func (p *Plan) Changes() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Action.Writes() })
}

// Count returns how many steps have an action.
func (p *Plan) Count(a Action) int {
	n := 0
	for _, s := range p.Steps {
		if s.Action == a {
			n++
		}
	}
	return n
}

// Refused returns an error for each step that is refused, with its place; nil if none is.
func (p *Plan) Refused() error {
	var errs []error
	for _, s := range p.Steps {
		if s.Action == Refuse {
			errs = append(errs, fmt.Errorf("%s: %s %s: %w", s.Place, s.Kind, s.Name, s.Err))
		}
	}
	return errors.Join(errs...)
}

// NewPlan reads what the namespace has, and decides what is to be done. It changes nothing.
//
// Errors: ErrEmpty; a name that no set can have; those of a read.
func NewPlan(ctx context.Context, o *ops.Ops, r Request) (*Plan, error) {
	r.Set = cmp.Or(r.Set, DefaultSet)
	if !jobtree.IsName(r.Set) {
		return nil, fmt.Errorf("declare: set %q: 1 to %d ASCII letters, digits, '.', '_', '-' and ':' are allowed", r.Set, jobtree.MaxNameLength)
	}
	if r.Prune && len(r.Files.Jobs) == 0 {
		return nil, ErrEmpty
	}
	p := &Plan{Set: r.Set}
	steps, written, err := planCalendars(ctx, o, r.Files.Calendars)
	if err != nil {
		return nil, fmt.Errorf("declare: %w", err)
	}

	marks, err := o.Applied(ctx)
	if err != nil {
		return nil, fmt.Errorf("declare: %w", err)
	}
	byName := make(map[string]*ops.Applied, len(marks))
	for i := range marks {
		byName[marks[i].Job] = &marks[i]
	}
	names, left := r.names(marks)
	there, err := readAll(ctx, o, append(names, left...), r.Progress)
	if err != nil {
		return nil, fmt.Errorf("declare: %w", err)
	}
	var jobs []Step
	for i, want := range r.Files.Jobs {
		jobs = append(jobs, decide(r, want, there[i], byName[want.Config.Name]))
	}
	for i, name := range left {
		jobs = append(jobs, decideLeft(r, name, there[len(names)+i], byName[name]))
	}
	for _, err := range each(ctx, jobs, nil, func(ctx context.Context, i int, s Step) error { return jobs[i].look(ctx, o, r.Adopt, written) }) {
		if err != nil {
			return nil, fmt.Errorf("declare: %w", err)
		}
	}
	p.Steps = append(steps, jobs...)
	return p, p.noteRemoved(ctx, o)
}

// names returns the names of the jobs that the files have, and those of the set that they have not.
func (r Request) names(marks []ops.Applied) (names, left []string) {
	for _, j := range r.Files.Jobs {
		names = append(names, j.Config.Name)
	}
	for _, m := range marks {
		if _, is := slices.BinarySearch(names, m.Job); !is && m.Err == nil && m.Set == r.Set {
			left = append(left, m.Job)
		}
	}
	return names, left
}

// seen is what the registry has of a job.
type seen struct {
	isThere  bool
	settings ops.Settings
	unread   error // why its configuration cannot be read
}

// isOf reports whether a note is about the job that is there, and not about an earlier one.
func (s seen) isOf(m *ops.Applied) bool { return m != nil && m.Written >= s.settings.Created }

// decide decides what is to be done about a job of the files.
func decide(r Request, want jobfile.Declared, there seen, mark *ops.Applied) Step {
	c := want.Config
	s := Step{
		Kind: Job, Name: c.Name, Place: want.Place(),
		request: ops.ApplyRequest{
			Set: r.Set, Config: c, Implementation: want.Work(), Version: there.settings.Version, Was: there.settings.Implementation, Adopt: r.Adopt,
		},
	}
	if !there.isThere {
		s.Action = Create
		s.Differences = jobfile.Declared{}.Differences(want)
		return s
	}
	has := there.settings.Config
	switch {
	case !there.isOf(mark):
		s.taken = ErrNoSet
	case mark.Err != nil || mark.Set != r.Set:
		s.taken = fmt.Errorf("%w, %s", ops.ErrOtherSet, cmp.Or(mark.Set, "which cannot be read"))
	}
	s.isOld = jobconf.OldWork(there.settings.Document) != ""
	if was := there.settings.Implementation; was != "" && was != want.Work() {
		s.other = fmt.Errorf("%w: %s, not %s", ErrRuns, brief.Quote(was), brief.Quote(want.Work()))
	}
	switch {
	case s.taken != nil && !r.Adopt:
		return s.refuse(s.taken)
	case there.unread != nil: // the plan of ops warns of it
	case (has.Cron == "") != (c.Cron == ""):
		return s.refuse(fmt.Errorf("%w: give the job another name, or remove it first", jobtype.ErrKindConflict))
	case c.Revision > 0 && c.Revision < has.Revision && !c.Overwrite:
		return s.refuse(fmt.Errorf("%w, %d: raise the revision, leave it out, or set overwrite", ErrOldRevision, has.Revision))
	}
	// What has no revision keeps the one that is there: see the comment of this package.
	c.Revision = max(c.Revision, has.Revision)
	s.request.Config, want.Config = c, c
	s.Differences = jobfile.InRegistry(has, there.settings.Implementation).Differences(want)
	switch {
	case there.unread != nil, len(s.Differences) > 0:
		s.Action = Update
	case s.taken == nil:
		s.Action = Unchanged
	default:
		s.Action = Adopt
	}
	if s.taken != nil && there.isOf(mark) {
		s.warn("it is taken from the set %s", cmp.Or(mark.Set, "that cannot be read"))
	}
	return s
}

// Errors that a program may want to tell apart.
var (
	// ErrEmpty: the files have no job at all, so that a prune would remove all jobs of the set.
	ErrEmpty = errclass.InvalidArgument.New("empty", "declare: the files have no job, so nothing is pruned; remove the jobs by name")
	// ErrSkipped: something before has failed, so the job is not pruned.
	ErrSkipped = errclass.FailedPrecondition.New("", "declare: not pruned, because not all else has succeeded")
	// ErrNoSuchKey: a configuration in the registry has keys that files do not have.
	ErrNoSuchKey = errclass.FailedPrecondition.New("", "files have no such key")

	// Why a step is refused, beside the errors of ops:

	// ErrOldRevision: the registry has a larger revision than the file.
	ErrOldRevision = errclass.FailedPrecondition.New("old-revision", "the registry has a larger revision")
	// ErrNoSet: programs, or operators, have made the job, and no set has applied it.
	ErrNoSet = errclass.FailedPrecondition.New("", "the job belongs to no set")
	// ErrOldMembers: members of elastic-job 2.1 run the job, and run nothing once its document is one of 3.0.
	ErrOldMembers = jobtype.ErrOldMembers
	// ErrRuns: instances run the job, and would not be its program any more.
	ErrRuns = errclass.FailedPrecondition.New("", "the job runs under another implementation")
)

// decideLeft decides what is to be done about a job that the set has applied, and the files have
// not.
func decideLeft(r Request, name string, there seen, mark *ops.Applied) Step {
	s := Step{Kind: Job, Name: name, Action: Keep, version: there.settings.Version}
	switch {
	case !there.isThere, !there.isOf(mark):
		s.Action = Forget
	case r.Prune:
		s.Action = Prune
	}
	return s
}

func (s Step) refuse(err error) Step {
	s.Action, s.Err, s.Why = Refuse, err, err.Error()
	return s
}

func (s *Step) warn(format string, args ...any) {
	s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
}

// noteRemoved warns of jobs that are to be created and were removed before. Those that a migration has moved would run
// twice, so they are refused.
func (p *Plan) noteRemoved(ctx context.Context, o *ops.Ops) error {
	if p.Count(Create) == 0 {
		return nil
	}
	removed, err := o.Removed(ctx)
	if err != nil {
		return fmt.Errorf("declare: %w", err)
	}
	byName := make(map[string]ops.Removed, len(removed))
	for _, r := range removed {
		byName[r.Name] = r
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		r, was := byName[s.Name]
		switch {
		case !was || s.Kind != Job || s.Action != Create:
		case r.MovedTo != "":
			*s = s.refuse(fmt.Errorf("%w: it is in %s; take it out of the files, or, if it does not run there any more, readmit it first (elasticjob readmit %s --moved)", ops.ErrMoved, r.MovedTo, s.Name))
		default:
			s.warn("it was removed by %s at %s: %q", cmp.Or(r.By, "an operator"), r.At.Format(time.RFC3339), r.Why)
		}
	}
	return nil
}
