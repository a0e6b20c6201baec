package coord

import (
	"context"
	"fmt"
)

// Inspector is the optional part of a [Registry]: what operators and metrics read, and jobs do
// not need. Callers find it by a type assertion. The registries of packages etcd and zk have it.
type Inspector interface {
	// Facts asks the store about itself. It writes nothing.
	//
	// Errors: ErrClosed and the cause of ctx. What the store does not answer is unknown.
	Facts(ctx context.Context) (StoreFacts, error)

	// CommitGroups says how commits were sent since the registry was opened: requests[n] is the
	// number of requests with n commits, where a commit that is tried again counts again.
	// waiting is the number of commits that wait now. requests is nil if each commit is a
	// request of its own.
	CommitGroups() (requests []int64, waiting int)
}

// StoreFacts is what a store tells operators of itself. What it does not tell this user is
// unknown, which is no error.
type StoreFacts struct {
	// Product is "etcd" or "ZooKeeper".
	Product string `json:"product"`
	// Members are the servers that the registry knows, in the order in which it knows them.
	Members []MemberFacts `json:"members"`
	// Alarms are those that stand in the store, as it writes them. With one of NOSPACE etcd takes
	// no writes.
	Alarms []string `json:"alarms,omitempty"`
	// Compacts is whether the store drops old states of its nodes. ZooKeeper keeps none. An etcd
	// server does not tell how it is configured: it is Unknown for one that still has all of its
	// history while its database has less than 256 MiB in use, because it may just be young.
	Compacts Answer `json:"compacts"`
	// Reads and Writes are whether this user may read the namespace, and write in it. Single nodes
	// may have rights of their own.
	Reads  Answer `json:"reads"`
	Writes Answer `json:"writes"`
	// ElasticJob are names of jobs that ElasticJob's own registry for etcd (3.0.6-SNAPSHOT) keeps in the store, at
	// /{job} whatever its namespace is, as far as this user may read them; some of them, if there are many.
	ElasticJob []string `json:"elasticJob,omitempty"`
}

// MemberFacts is what one server of a store tells.
type MemberFacts struct {
	Address string `json:"address"`
	// Why says why the server has told nothing, or nothing of its version, or that it is not well;
	// empty if all is well.
	Why string `json:"why,omitempty"`
	// Silent is whether it could not be reached, or did not answer in time.
	Silent bool `json:"silent,omitempty"`
	// Version is that of the server; empty if it is unknown.
	Version string `json:"version,omitempty"`
	// Unsupported is whether the adapter does not work with this version. Mended is the first
	// version of its series, or of the next one, without defects that are known to break what
	// the adapter promises; empty if this version has none.
	Unsupported bool   `json:"unsupported,omitempty"`
	Mended      string `json:"mended,omitempty"`
	// Leads is whether the server leads the others, or is alone.
	Leads bool `json:"leads,omitempty"`
	// Size is how large its database is, in bytes, InUse how much of that has data, and Quota how
	// large it may become. 0 is unknown: ZooKeeper has none of them, and etcd tells its quota
	// since 3.6.
	Size  int64 `json:"size,omitempty"`
	InUse int64 `json:"inUse,omitempty"`
	Quota int64 `json:"quota,omitempty"`
}

// Answer is yes, no, or not known.
type Answer int

// The answers.
const (
	Unknown Answer = iota
	No
	Yes
)

func (a Answer) String() string {
	switch a {
	case No:
		return "no"
	case Yes:
		return "yes"
	}
	return "unknown"
}

// MarshalText writes the answer as String does.
func (a Answer) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (a *Answer) UnmarshalText(text []byte) error {
	for *a = Unknown; *a <= Yes; *a++ {
		if a.String() == string(text) {
			return nil
		}
	}
	return fmt.Errorf("answer %.20q: yes, no and unknown are allowed", text)
}
