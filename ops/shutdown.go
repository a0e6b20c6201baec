package ops

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// ShutdownRequest says which instances of a job are to leave: those that are named, those at the
// servers that are named, or all. At least one of the three is needed.
type ShutdownRequest struct {
	Instances []string // ids
	Servers   []string // addresses
	All       bool
	// Why is for people. It is cut after 255 bytes.
	Why string
}

// Shutdown tells instances to leave the job, and returns their ids, ascending. Each of them begins
// nothing any more, its idle items go to others at once, and its scheduler stops with
// jobtype.ErrInstanceRemoved when what runs there has ended, however long that takes. What waits to run
// again goes to others, too. The process goes on with its other jobs, and is not started again: a
// supervisor does not see this, and a job.Runner takes the job up again only in a new process, or when
// the job was created anew. Members of any kind obey it.
//
// Forty instances go in one commit. With an error the list has those that were told before it.
//
// Errors: ErrNoInstance and ErrNoServer for a name that is not there, and nobody is told then; those of
// a read and of a commit; one for a bad request.
func (j *Job) Shutdown(ctx context.Context, r ShutdownRequest) ([]string, error) {
	var told []string
	begun := false
	err := j.try(ctx, string(ActionShutdown), func(s *jobtree.State) error {
		if len(r.Instances)+len(r.Servers) == 0 && !r.All {
			return wrong("instances", "instances or servers are needed, or all")
		}
		ids, err := r.of(s, begun)
		if err != nil || len(ids) == 0 {
			return err
		}
		begun = true
		act, err := j.ops.act(j.name, ActionShutdown)
		if err != nil {
			return err
		}
		act.change.Why = r.Why
		groups := make([][]coord.Op, len(ids))
		for n, id := range ids {
			groups[n] = j.leave(id)
		}
		done, err := act.says("instances "+strings.Join(ids, ", "), "", "").commitAll(ctx, groups, coord.Exists(j.name.Config()))
		told = append(told, ids[:done]...)
		return err
	})
	slices.Sort(told)
	return told, err
}

// leave returns the operations that tell an instance to leave.
func (j *Job) leave(id string) []coord.Op {
	return []coord.Op{coord.Exists(j.name.Instance(id)), coord.DeleteTree(j.name.Instance(id))}
}

// of returns the ids of the instances that the request is about, ascending. again is whether some may
// have been told already: then a name that is not there is none of a mistake.
func (r ShutdownRequest) of(s *jobtree.State, again bool) ([]string, error) {
	for _, id := range r.Instances {
		if _, isThere := s.Instances[id]; !isThere && !again {
			return nil, fmt.Errorf("instance %s: %w", brief.Quote(id), ErrNoInstance)
		}
	}
	used := map[string]bool{}
	for _, in := range s.Instances {
		used[in.IP] = true
	}
	for _, address := range r.Servers {
		if s.Servers[address] == nil && !used[address] && !again {
			return nil, fmt.Errorf("server %s: %w", brief.Quote(address), ErrNoServer)
		}
	}
	var ids []string
	for id, in := range s.Instances {
		if r.All || slices.Contains(r.Instances, id) || slices.Contains(r.Servers, in.IP) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// RemoveServers shuts the instances at some addresses down, as Shutdown does, and removes what the
// registry has of these servers, with what an operator has said of them; none means all that are
// there. An instance that comes at such an address later makes a new server, which is enabled unless
// Config.Disabled is on. One that registers at the same moment may be without a server's node, and is
// enabled then.
//
// Errors: ErrNoServer; those of a read and of a commit.
func (j *Job) RemoveServers(ctx context.Context, addresses ...string) error {
	begun := false
	return j.try(ctx, string(ActionRemoveServers), func(s *jobtree.State) error {
		var groups [][]coord.Op
		var servers []string
		for _, address := range sortedOr(addresses, maps.Keys(s.Servers)) {
			server := s.Servers[address]
			if server == nil {
				if begun {
					continue
				}
				return fmt.Errorf("server %s: %w", brief.Quote(address), ErrNoServer)
			}
			servers = append(servers, address)
			ids, err := ShutdownRequest{Servers: []string{address}}.of(s, true)
			if err != nil {
				return err
			}
			for _, id := range ids {
				groups = append(groups, j.leave(id))
			}
			// After its instances, which may be in an earlier commit.
			groups = append(groups, []coord.Op{coord.AtVersion(j.name.Server(address), server.Version), coord.DeleteTree(j.name.Server(address))})
		}
		begun = true
		act, err := j.ops.act(j.name, ActionRemoveServers)
		if err != nil {
			return err
		}
		_, err = act.says("servers "+strings.Join(servers, ", "), "", "").commitAll(ctx, groups, coord.Exists(j.name.Config()))
		return err
	})
}
