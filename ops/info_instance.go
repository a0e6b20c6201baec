package ops

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// InstanceInfo is one process as a member of a job.
type InstanceInfo struct {
	ID  string `json:"id"`
	Job string `json:"job"`
	// Server is the address of its host, and Enabled whether that may have items of the job.
	Server  string `json:"server"`
	Enabled bool   `json:"enabled"`
	// Leader is whether it leads. Leaving is whether it only finishes what it runs, and has given up
	// all else.
	Leader  bool     `json:"leader,omitempty"`
	Leaving bool     `json:"leaving,omitempty"`
	Labels  []string `json:"labels,omitempty"` // the first 100
	Weight  int      `json:"weight,omitempty"`
	// Session is that of its process with the store, in hexadecimal digits: its end removes the instance. Instances of
	// one process have the same.
	Session string `json:"session,omitempty"`
	// JVM is whether it is a JVM member: then the tree does not have what follows, up to Process.
	JVM bool `json:"jvm,omitempty"`
	// Protocol is the version of the rules by which it shares the tree, and Old whether that knows no
	// kill, pause, request and pin.
	Protocol int  `json:"protocol,omitempty"`
	Old      bool `json:"old,omitempty"`
	// Revision is Config.Revision of what its program has brought.
	Revision int `json:"revision,omitempty"`
	// Refuses is whether it has refused the configuration that the job has now, and Behind whether it
	// works by an earlier one and has not refused this one.
	Refuses bool `json:"refuses,omitempty"`
	Behind  bool `json:"behind,omitempty"`
	// ClockOff is whether it runs nothing because its clock is farther from the store's than the job
	// allows, and ClockFar whether it gets no items because of its clock.
	ClockOff bool `json:"clockOff,omitempty"`
	ClockFar bool `json:"clockFar,omitempty"`
	// ClockAhead is by how many seconds its clock is ahead of the store's, certainly; negative if it is behind. It is
	// told again when it has changed by two at least.
	ClockAhead int `json:"clockAhead,omitempty"`
	// Version is that of this module in its program; empty if that does not know it.
	Version string `json:"version,omitempty"`
	// Process is the id of its process: see ProcessInfo.
	Process string `json:"process,omitempty"`

	// Items are those that it has, and Running those that it runs. Both are ascending.
	Items   []int `json:"items,omitempty"`
	Running []int `json:"running,omitempty"`
	// Faults are those that it shows.
	Faults []FaultInfo `json:"faults,omitempty"`
	// Error says what of it cannot be read.
	Error string `json:"error,omitempty"`
}

// FaultInfo is something that keeps a job from running as it should, as an instance sees it.
type FaultInfo struct {
	// Instance is the id of who sees it; or that of a process, if a Runner cannot join the job. It is empty if it is
	// the tree that shows it: nodes are too large to be read.
	Instance string `json:"instance"`
	// Kind is that of job.FaultKind.
	Kind  string    `json:"kind"`
	Cause string    `json:"cause"`
	Since time.Time `json:"since,omitzero"`
}

// Bounds of what is read of one node.
const (
	maxLabels = 100
	maxFaults = 20
)

// Instances lists the instances of the job, by id, and those that only finish what they run.
//
// Errors: ErrNoJob; those of a read.
func (j *Job) Instances(ctx context.Context) ([]InstanceInfo, error) {
	s, err := j.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("job %s: instances: %w", brief.Text(string(j.name)), err)
	}
	return instancesOf(j.name, s), nil
}

// Instances lists the instances of all jobs, by job and id. It reads all of the namespace.
//
// Errors: those of a read.
func (o *Ops) Instances(ctx context.Context) ([]InstanceInfo, error) {
	var list []InstanceInfo
	for found, err := range o.trees(ctx) {
		if err != nil {
			return nil, fmt.Errorf("instances: %w", err)
		}
		list = append(list, instancesOf(found.name, found.State)...)
	}
	slices.SortStableFunc(list, func(a, b InstanceInfo) int { return cmp.Compare(a.Job, b.Job) })
	return list, nil
}

// instancesOf returns the instances of a job.
func instancesOf(name jobtree.Job, s *jobtree.State) []InstanceInfo {
	ids := slices.Collect(maps.Keys(s.Instances))
	for id := range s.Sessions {
		if _, isThere := s.Instances[id]; !isThere {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	list := make([]InstanceInfo, len(ids))
	at := make(map[string]*InstanceInfo, len(ids))
	for n, id := range ids {
		list[n] = instanceOf(name, s, id)
		at[id] = &list[n]
	}
	for i := range s.Items {
		if in := at[ownerOf(&s.Items[i])]; in != nil {
			in.Items = append(in.Items, i)
		}
		if running := s.Items[i].Running; running != nil && at[running.ID] != nil {
			at[running.ID].Running = append(at[running.ID].Running, i)
		}
	}
	return list
}

func instanceOf(name jobtree.Job, s *jobtree.State, id string) InstanceInfo {
	in, isThere := s.Instances[id]
	if !isThere {
		in = jobtree.Instance{ID: id, IP: jobtree.InstanceIP(id)}
	}
	session := s.Sessions[id]
	owner := in.Owner
	if !isThere && session != nil {
		owner = session.Owner
	}
	i := InstanceInfo{
		ID: id, Job: string(name), Server: in.IP, Enabled: s.ServerEnabled(in.IP), Leader: s.Leader.Is(id), Leaving: !isThere, JVM: session == nil,
		Weight: in.Weight(), Faults: faultsOf(s, id),
	}
	for _, label := range in.Labels[:min(len(in.Labels), maxLabels)] {
		i.Labels = append(i.Labels, brief.Cut(label, maxWord))
	}
	if owner != 0 {
		i.Session = strconv.FormatUint(uint64(owner), 16)
	}
	unread := in.Err
	if session != nil {
		i.Protocol, i.Old, i.Revision, i.Process = session.Protocol, s.IsOld(id), session.Revision, session.NodeID
		i.ClockAhead, i.Version = session.Ahead, brief.Cut(session.Release, maxWord)
		i.ClockOff, i.ClockFar = session.ClockOff, session.ClockFar
		i.Refuses = session.Refused == s.Config.Modified
		// Without a number it works by what the commit has written that wrote its node.
		i.Behind = !i.Refuses && session.Err == nil && cmp.Or(session.Accepted, session.Modified) < s.Config.Modified
		unread = cmp.Or(unread, session.Err)
	}
	if unread != nil {
		i.Error = brief.Error(unread).Error()
	}
	return i
}

// members counts the instances and servers of a job.
func (i *JobInfo) members(s *jobtree.State) {
	i.Instances = len(s.Instances)
	for id := range s.Instances {
		i.JVM += count(s.Sessions[id] == nil)
	}
	for id := range s.Sessions {
		if _, isThere := s.Instances[id]; !isThere {
			i.Leaving++
		}
	}
	if s.Leader != nil {
		i.Leader = brief.Cut(s.Leader.ID, 2*maxWord)
	}
	i.Servers = len(s.Servers)
	for _, server := range s.Servers {
		i.DisabledServers += count(!server.Enabled)
	}
}

// faults counts the faults of a job, and shows the oldest.
func (i *JobInfo) faults(s *jobtree.State) {
	if all := allFaults(s); len(all) > 0 {
		i.Faults, i.Fault = len(all), all[0].Kind+": "+all[0].Cause
	}
}

// allFaults returns the faults of a job, the oldest first, in an order that is always the same.
func allFaults(s *jobtree.State) []FaultInfo {
	list := sizeFault(s)
	for id := range s.Faults {
		list = append(list, faultsOf(s, id)...)
	}
	slices.SortStableFunc(list, func(a, b FaultInfo) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}

// sizeFault is a fault of the job's tree: nodes that are too large, or too many, to be read. No instance shows it.
func sizeFault(s *jobtree.State) []FaultInfo {
	if cause := s.Excess(); cause != "" {
		return []FaultInfo{{Kind: jobtype.FaultTree.String(), Cause: cause}}
	}
	return nil
}

// faultsOf returns the faults that an instance shows.
func faultsOf(s *jobtree.State, id string) []FaultInfo {
	n, isThere := s.Faults[id]
	if !isThere || s.TooLarge[n.Path] > 0 {
		return nil
	}
	records, err := readFaults(n)
	if err != nil {
		return []FaultInfo{{Instance: id, Kind: unreadFault, Cause: brief.Error(err).Error()}}
	}
	var list []FaultInfo
	for _, r := range records[:min(len(records), maxFaults)] {
		list = append(list, FaultInfo{Instance: id, Kind: brief.Cut(r.Kind, maxWord), Cause: brief.Cut(r.Cause, 2*maxWord), Since: r.Since.UTC()})
	}
	return list
}

// unreadFault is the kind of a fault's node that cannot be read.
const unreadFault = "unknown"

func readFaults(n coord.Node) ([]jobtree.FaultRecord, error) {
	if len(n.Value) > maxRead {
		return nil, fmt.Errorf("document of faults: %d bytes, at most %d are allowed", len(n.Value), maxRead)
	}
	return jobtree.DecodeFaults(n.Value)
}

// ProcessInfo is a process of the namespace that shows what it has: that of a job.Node or a job.Runner.
type ProcessInfo struct {
	ID string `json:"id"`
	// Server is the address of its host.
	Server string `json:"server,omitempty"`
	// Items is how many items of all jobs it has.
	Items int `json:"items"`
	// Offers are the types and implementations whose jobs a Runner serves, and Labels are its labels.
	// MoreOffers and MoreLabels are how many more there are.
	Offers     []string `json:"offers,omitempty"`
	MoreOffers int      `json:"moreOffers,omitempty"`
	Labels     []string `json:"labels,omitempty"`
	MoreLabels int      `json:"moreLabels,omitempty"`
	// Described are the properties of types that describe theirs; MoreDescribed is how many more there are.
	Described     []jobtype.PropertyInfo `json:"described,omitempty"`
	MoreDescribed int                    `json:"moreDescribed,omitempty"`
	// Error says why nothing of this can be read, except the id.
	Error string `json:"error,omitempty"`
}

// Processes lists the processes that show what they have, by id. InstanceInfo.Process has that id.
//
// Errors: those of a read.
func (o *Ops) Processes(ctx context.Context) ([]ProcessInfo, error) {
	nodes, err := o.list(ctx, jobtree.Nodes)
	if err != nil {
		return nil, fmt.Errorf("processes: %w", err)
	}
	list := make([]ProcessInfo, len(nodes))
	for i, n := range nodes {
		list[i] = processOf(n)
	}
	return list, nil
}

func processOf(n coord.Node) ProcessInfo {
	p := ProcessInfo{ID: coord.Base(n.Path)}
	d, err := jobtree.DecodeNode(n.Value)
	if err != nil {
		p.Error = brief.Error(err).Error()
		return p
	}
	p.Server, p.Items = cmp.Or(d.Address, jobtree.InstanceIP(p.ID)), d.Items
	p.Offers, p.MoreOffers, p.Labels, p.MoreLabels = d.Offers, d.MoreOffers, d.Labels, d.MoreLabels // bounded by their document
	for _, of := range d.Described {
		p.Described = append(p.Described, jobtype.PropertyInfo(of))
	}
	p.MoreDescribed = d.MoreDescribed
	return p
}
