package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Severity says how much a finding matters.
type Severity string

// The severities, the worst first.
const (
	Refused Severity = "refused" // with this, nothing moves
	Differs Severity = "differs" // something will be otherwise at the target
	Noted   Severity = "noted"   // good to know
)

// Finding is what an operator should know before the move.
type Finding struct {
	Severity Severity `json:"severity"`
	Job      string   `json:"job,omitempty"` // empty if it is about all of them
	Cause    string   `json:"cause"`
}

// State says where a job is.
type State string

// The states of a job.
const (
	There    State = "there"    // it is a job of the source
	OnItsWay State = "onItsWay" // it has left the source, and has not arrived
	AtTarget State = "atTarget" // it has arrived; the source may have something left to clear away
)

// JobPlan is what is to become of one job.
type JobPlan struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Nodes is how many are to be written at the target, and Items how many items the job has.
	Nodes int `json:"nodes"`
	Items int `json:"items"`
	// Instances are those that run it at the source.
	Instances []string `json:"instances,omitempty"`
	// IsConverted is whether its configuration is that of elastic-job 2.1.
	IsConverted bool `json:"converted,omitempty"`
	// IsSame is whether the target has the very same job already.
	IsSame bool `json:"same,omitempty"`
}

// Plan is what [Move.Run] would do. To make it writes nothing.
type Plan struct {
	// ID is that of the migration that is half done, and would be gone on with; empty if there is none.
	ID   string    `json:"id,omitempty"`
	Jobs []JobPlan `json:"jobs"` // by name
	// Calendars are those that are to be written at the target. Removed and Audit say how many notes of
	// removed jobs, and entries of the audit, the source has.
	Calendars []string `json:"calendars,omitempty"`
	Removed   int      `json:"removed,omitempty"`
	Audit     int      `json:"audit,omitempty"`
	// Findings are the worst first, then by job.
	Findings []Finding `json:"findings,omitempty"`

	token     int64
	stale     []string // marks that the target should not have any more
	isRunning bool     // a job is refused because instances run it
	calendars []coord.Node
	removed   []coord.Node
}

// Refused returns why the move is refused; none if it is not.
func (p *Plan) Refused() []Finding {
	var list []Finding
	for _, f := range p.Findings {
		if f.Severity == Refused {
			list = append(list, f)
		}
	}
	return list
}

func (p *Plan) err() error {
	var list errorList
	for _, f := range p.Refused() {
		list.add(errors.New(strings.TrimPrefix(brief.Text(f.Job)+": "+f.Cause, ": ")))
	}
	switch err := list.err(); {
	case err == nil:
		return nil
	case p.isRunning:
		return fmt.Errorf("%w: %w: %w", ErrRefused, ErrRunning, err)
	default:
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
}

func (p *Plan) weight() int {
	n := 0
	for _, j := range p.Jobs {
		n += j.Nodes
	}
	return n
}

// names returns the jobs that go several at a time, and those that go one by one.
func (p *Plan) names() (small, wide []jobtree.Job) {
	for _, j := range p.Jobs {
		if j.Nodes > manyNodes {
			wide = append(wide, jobtree.Job(j.Name))
		} else {
			small = append(small, jobtree.Job(j.Name))
		}
	}
	return small, wide
}

func (p *Plan) find(severity Severity, format string, args ...any) {
	p.Findings = append(p.Findings, Finding{Severity: severity, Cause: fmt.Sprintf(format, args...)})
}

// Plan reads both sides, and says what Run would do, and what speaks against it. It reads up to eight
// jobs at a time into memory.
//
// Errors: ErrOther; those of a read.
func (m Move) Plan(ctx context.Context) (*Plan, error) {
	p := &Plan{}
	if err := m.plan(ctx, p); err != nil {
		return nil, fmt.Errorf("migrate: plan: %w", err)
	}
	order := []Severity{Refused, Differs, Noted}
	slices.SortStableFunc(p.Findings, func(a, b Finding) int {
		if a.Severity != b.Severity {
			return slices.Index(order, a.Severity) - slices.Index(order, b.Severity)
		}
		return strings.Compare(a.Job, b.Job)
	})
	return p, nil
}

func (m Move) plan(ctx context.Context, p *Plan) error {
	var err error
	if p.ID, p.stale, err = m.find(ctx); err != nil {
		return err
	}
	names, err := m.candidates(ctx, p.ID)
	if err != nil {
		return err
	}
	r := &run{Move: m, id: p.ID, settler: settler{m.clock()}}
	var mu sync.Mutex
	used := map[string]bool{}
	_, err = r.each(ctx, parallel, names, func(ctx context.Context, name jobtree.Job) (bool, error) {
		j, c, err := r.examine(ctx, name)
		if err != nil || j == nil {
			return false, err
		}
		mu.Lock()
		defer mu.Unlock()
		p.Jobs = append(p.Jobs, *j)
		if c != nil {
			p.add(&m, c)
			for _, calendar := range c.settings.Calendars {
				used[calendar] = true
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(p.Jobs, func(a, b JobPlan) int { return strings.Compare(a.Name, b.Name) })
	if err := r.planShared(ctx, p, used); err != nil {
		return err
	}
	p.compareStores(&m)
	return nil
}

// add takes in what was found about a job.
func (p *Plan) add(m *Move, c *cargo) {
	p.Findings = append(p.Findings, c.findings...)
	p.token = max(p.token, c.token)
	if c.isJVM {
		cause := "JVM programs have run it, which do not note the last tick that they have begun: the first Go program makes up nothing"
		if !m.To.ZooKeeper {
			cause += "; JVM programs cannot follow to this store"
		}
		p.Findings = append(p.Findings, Finding{Differs, string(c.job), cause})
	}
	if len(c.instances) == 0 {
		return
	}
	var list brief.List
	for _, id := range c.instances {
		list.Add(id)
	}
	f := Finding{Refused, string(c.job), fmt.Sprintf("instances run it at the source: %v", &list)}
	if m.StopInstances {
		f.Severity, f.Cause = Differs, f.Cause+". They are stopped, and what they run is cut short; a handler that does not watch its context may overlap with the next run of its item"
	} else {
		p.isRunning = true
	}
	p.Findings = append(p.Findings, f)
}

// compareStores finds what the two stores do not have in common.
func (p *Plan) compareStores(m *Move) {
	if p.token > 0 {
		p.find(Differs, "fencing tokens begin anew: the newest of the source is %d. If those of the target are smaller, systems that refuse smaller tokens have to be reset", p.token)
	}
	if m.From.ZooKeeper != m.To.ZooKeeper {
		p.find(Differs, "rights (ACLs, roles) do not go: the target has its own")
	}
	from, to := m.From.Registry.Clock(), m.To.Registry.Clock()
	if !from.Known() || !to.Known() {
		return
	}
	if off := to.Now().Sub(from.Now()).Round(time.Second); off.Abs() > decide.ClockTolerance {
		p.find(Differs, "the target's clock is off by %v from the source's: ticks that the source has begun may count as not begun, or as not come", off)
	}
}

// candidates returns the nodes of the source that may be jobs, and the jobs that have begun to move.
func (m Move) candidates(ctx context.Context, id string) ([]jobtree.Job, error) {
	var names []jobtree.Job
	if id != "" {
		r := &run{Move: m, id: id}
		begun, err := r.begun(ctx)
		if err != nil {
			return nil, err
		}
		names = begun
	}
	for _, name := range m.named() {
		names = append(names, jobtree.Job(name))
	}
	if len(m.Jobs) == 0 {
		nodes, err := m.From.Registry.List(ctx, "")
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			if isJob(n.Path) {
				names = append(names, jobtree.Job(n.Path))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// examine says what is to become of a job; nil if there is no such job, and its name was not given.
func (r *run) examine(ctx context.Context, name jobtree.Job) (*JobPlan, *cargo, error) {
	at, err := r.look(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	j := &JobPlan{Name: string(name), State: There}
	switch {
	case at.source.Step == jobtree.Left, at.source.Step == jobtree.Leaving && at.target.Step == jobtree.Arrived, at.config.Created == 0 && at.target.Step == jobtree.Arrived:
		j.State = AtTarget
		return j, nil, nil
	case at.source.Step == jobtree.Leaving:
		j.State = OnItsWay
	case at.config.Created == 0 && slices.Contains(r.Jobs, string(name)):
		return j, &cargo{job: name, findings: []Finding{{Refused, string(name), "the source has no such job"}}}, nil
	case at.config.Created == 0:
		return nil, nil, nil
	}
	c, err := r.pack(ctx, name, at)
	if err != nil {
		return nil, nil, err
	}
	if c.refused() == nil && at.target.Step == "" {
		var whyNot string
		if j.IsSame, whyNot, err = r.isFree(ctx, name, at); err != nil {
			return nil, nil, err
		}
		if whyNot != "" {
			c.refuse("%s", whyNot)
		}
	}
	j.Nodes, j.Items, j.Instances, j.IsConverted = c.weight(), c.items, c.instances, c.isConverted
	return j, c, nil
}
