package ops

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// ServerInfo is a host of the namespace, over all jobs.
type ServerInfo struct {
	Server string `json:"server"`
	// Instances is how many ids of instances it has, Jobs in how many jobs it is known, and
	// DisabledJobs in how many of them an operator has disabled it.
	Instances    int `json:"instances"`
	Jobs         int `json:"jobs"`
	DisabledJobs int `json:"disabledJobs,omitempty"`
	// Items is how many items its instances have, and Running how many they run.
	Items   int `json:"items"`
	Running int `json:"running"`
}

// Servers lists the hosts of all jobs, by address. It reads all of the namespace.
//
// Errors: those of a read.
func (o *Ops) Servers(ctx context.Context) ([]ServerInfo, error) {
	servers := map[string]*server{}
	for found, err := range o.trees(ctx) {
		if err != nil {
			return nil, fmt.Errorf("servers: %w", err)
		}
		tally(servers, found.State)
	}
	list := make([]ServerInfo, 0, len(servers))
	for _, address := range slices.Sorted(maps.Keys(servers)) {
		s := servers[address]
		s.Server, s.Instances = address, len(s.ids)
		list = append(list, s.ServerInfo)
	}
	return list, nil
}

// server is what is counted of a host. JVM members have the same id in all jobs.
type server struct {
	ServerInfo
	ids map[string]bool
}

// tally counts what the hosts have of a job.
func tally(servers map[string]*server, s *jobtree.State) {
	at := func(address string) *server {
		if servers[address] == nil {
			servers[address] = &server{ids: map[string]bool{}}
		}
		return servers[address]
	}
	for address, in := range s.Servers {
		at(address).Jobs++
		at(address).DisabledJobs += count(!in.Enabled)
	}
	for id, in := range s.Instances {
		at(in.IP).ids[id] = true
	}
	for i := range s.Items {
		if in, isThere := s.Instances[ownerOf(&s.Items[i])]; isThere {
			at(in.IP).Items++
		}
		if running := s.Items[i].Running; running != nil {
			if in, isThere := s.Instances[running.ID]; isThere {
				at(in.IP).Running++
			} else if s.Sessions[running.ID] != nil { // it leaves when its runs have ended
				at(jobtree.InstanceIP(running.ID)).Running++
			}
		}
	}
}

// JobServer is a host of a job.
type JobServer struct {
	Job     string `json:"job"`
	Server  string `json:"server"`
	Enabled bool   `json:"enabled"`
	// Instances are the ids of the instances that are there, ascending.
	Instances []string `json:"instances,omitempty"`
	// Unrecorded is whether nobody knows what of the job runs there (MonitorExecution is off). Only [Ops.JobsOn] tells it.
	Unrecorded bool `json:"unrecorded,omitempty"`
}

// Servers lists the servers that the job knows, by address, whether they have instances or not.
//
// Errors: ErrNoJob; those of a read.
func (j *Job) Servers(ctx context.Context) ([]JobServer, error) {
	s, err := j.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("job %s: servers: %w", brief.Text(string(j.name)), err)
	}
	return serversOf(j.name, s), nil
}

// JobsOn lists the jobs that know a server, by name, and the instances that they have there. It
// reads all of the namespace. (ElasticJob, JobStatisticsAPI.getJobsBriefInfo(ip))
//
// Errors: those of a read.
func (o *Ops) JobsOn(ctx context.Context, address string) ([]JobServer, error) {
	var list []JobServer
	for found, err := range o.trees(ctx) {
		if err != nil {
			return nil, fmt.Errorf("jobs on server %s: %w", brief.Text(address), err)
		}
		if s := found.Servers[address]; s != nil {
			config, err := jobtype.DecodeConfig(found.Config.Value)
			on := serverOf(found.name, found.State, s)
			on.Unrecorded = err != nil || config.MonitorExecution == jobtype.Off
			list = append(list, on)
		}
	}
	slices.SortFunc(list, func(a, b JobServer) int { return cmp.Compare(a.Job, b.Job) })
	return list, nil
}

// JobServers lists the servers of all jobs, by job and address, whether they have instances or not: for
// those who add up hosts over some jobs only. It reads all of the namespace.
//
// Errors: those of a read.
func (o *Ops) JobServers(ctx context.Context) ([]JobServer, error) {
	var list []JobServer
	for found, err := range o.trees(ctx) {
		if err != nil {
			return nil, fmt.Errorf("servers of jobs: %w", err)
		}
		list = append(list, serversOf(found.name, found.State)...)
	}
	slices.SortStableFunc(list, func(a, b JobServer) int { return cmp.Compare(a.Job, b.Job) })
	return list, nil
}

func serversOf(name jobtree.Job, s *jobtree.State) []JobServer {
	list := make([]JobServer, 0, len(s.Servers))
	for _, address := range slices.Sorted(maps.Keys(s.Servers)) {
		list = append(list, serverOf(name, s, s.Servers[address]))
	}
	return list
}

func serverOf(name jobtree.Job, s *jobtree.State, of *jobtree.Server) JobServer {
	on := JobServer{Job: string(name), Server: of.IP, Enabled: of.Enabled}
	for id, in := range s.Instances {
		if in.IP == of.IP {
			on.Instances = append(on.Instances, id)
		}
	}
	slices.Sort(on.Instances)
	return on
}
