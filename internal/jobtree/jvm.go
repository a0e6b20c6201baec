package jobtree

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
)

// IsJVMName reports whether a job can have a name that has JVM members only: ElasticJob takes whatever a path
// can have, as in "my job", and our jobs have names by [IsName].
func IsJVMName(name string) bool {
	return !IsName(name) && name != ownNodes && !strings.Contains(name, "/") && coord.ValidatePath(Job(name).Config()) == nil
}

// ownNodes is the child of a namespace that is no job's.
const ownNodes = "~elasticjob"

// OfJVM returns the JVM members that own some of the items, which ascend, and the items that they
// run beside these if they are asked for them: a JVM member that is triggered runs all of its items.
// Both ascend.
func (s *State) OfJVM(items []int) (members []string, beside []int) {
	asked := map[string]bool{}
	for _, i := range items {
		if owner := s.Item(i).Owner; owner != nil && s.isJVM(owner.ID) {
			asked[owner.ID] = true
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	for i := range s.Items {
		if owner := s.Items[i].Owner; owner != nil && asked[owner.ID] {
			if _, isAsked := slices.BinarySearch(items, i); !isAsked {
				beside = append(beside, i)
			}
		}
	}
	return slices.Sorted(maps.Keys(asked)), beside
}

// isJVM reports whether an instance is there, and is a JVM member.
func (s *State) isJVM(id string) bool {
	in, isThere := s.Instances[id]
	return isThere && in.Owner != 0 && s.Sessions[id] == nil
}

// OldMembers returns the members of elastic-job 2.1 that are there, ascending. Their nodes have no document, and their
// servers are not ENABLED by that word: pre-releases of ElasticJob 3.0, which read its documents, write it. So a member
// is none of them once an operator has enabled its server.
func (s *State) OldMembers() []string {
	var old []string
	for id, in := range s.Instances {
		value := bytes.TrimSpace(in.Value)
		server, isThere := s.Servers[InstanceIP(id)]
		if s.isJVM(id) && (len(value) == 0 || string(value) == oldTrigger) && isThere && !bytes.EqualFold(bytes.TrimSpace(server.Value), []byte(Enabled)) {
			old = append(old, id)
		}
	}
	slices.Sort(old)
	return old
}

// oldTrigger is what a console of 2.1 writes into the node of an instance that is to run now.
const oldTrigger = "TRIGGER"

// OldServers returns the servers that elastic-job 2.1 has registered, ascending: nobody else leaves them without a
// value. They stay when its members have ended.
func (s *State) OldServers() []string {
	var old []string
	for ip, server := range s.Servers {
		if server.Created != 0 && len(bytes.TrimSpace(server.Value)) == 0 {
			old = append(old, ip)
		}
	}
	slices.Sort(old)
	return old
}
