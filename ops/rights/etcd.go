package rights

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Etcd says which roles a namespace of an etcd store is to have.
type Etcd struct {
	// Namespace is etcd.Config.Namespace.
	Namespace string
	// Name begins the names of the roles: shop-reader, shop-worker, shop-operator. Default the
	// namespace.
	Name string
	// Jobs, if there are any, are the only ones that the worker may run, and it may not change
	// their configurations. An operator creates and removes them. Names of jobs, not patterns.
	Jobs []string
	// Users are who gets which role.
	Users map[Role][]string
}

// EtcdRole is one role of etcd, and who has it.
type EtcdRole struct {
	Name   string
	Grants []EtcdGrant
	Users  []string
}

// EtcdGrant allows something on the keys from From up to, but without, To.
type EtcdGrant struct {
	Access   Access
	From, To string
}

// Access is what etcd calls the type of a permission.
type Access int

// There is no access that only writes, because each commit reads what it depends on.
const (
	Read Access = iota
	ReadWrite
)

// String is the access as etcdctl names it.
func (a Access) String() string {
	if a == ReadWrite {
		return "readwrite"
	}
	return "read"
}

// Roles are the least roles for a worker, an operator and a reader: see the package comment.
//
// Errors: coord.ErrInvalidPath for a bad namespace; others for a bad name of a role, job or user.
func (e Etcd) Roles() ([]EtcdRole, error) {
	if err := checkNamespace(e.Namespace); err != nil {
		return nil, err
	}
	for _, job := range e.Jobs {
		if !jobtree.IsName(job) {
			return nil, fmt.Errorf("rights: no job can have the name %.40q", job)
		}
	}
	var roles []EtcdRole
	for _, role := range Roles() {
		r := EtcdRole{Name: cmp.Or(e.Name, e.Namespace) + "-" + role.String(), Grants: e.grants(role), Users: e.Users[role]}
		for _, name := range append([]string{r.Name}, r.Users...) {
			if err := checkName(name); err != nil {
				return nil, fmt.Errorf("rights: %s: %w", role, err)
			}
		}
		roles = append(roles, r)
	}
	return roles, nil
}

// maxName bounds the name of a role or a user, in bytes.
const maxName = 255

// checkName refuses what etcdctl takes for something else: a dash begins a flag, and behind a
// colon is a password.
func checkName(name string) error {
	if name == "" || len(name) > maxName || name[0] == '-' || strings.ContainsFunc(name, func(r rune) bool { return r == ':' || r < ' ' || r == 0x7f }) {
		name, _, _ = strings.Cut(name, ":") // behind it may be a password
		return fmt.Errorf("the name %.40q: 1 to %d bytes without colons and control characters, which begin with no dash, are allowed", name, maxName)
	}
	return nil
}

func (e Etcd) grants(role Role) []EtcdGrant {
	all := e.below(Read, "")
	switch role {
	case Operator:
		return []EtcdGrant{e.below(ReadWrite, "")}
	case Worker:
		return append([]EtcdGrant{all}, e.work()...)
	}
	return []EtcdGrant{all}
}

// work is what a worker writes.
func (e Etcd) work() []EtcdGrant {
	nodes := e.below(ReadWrite, jobtree.Nodes)
	if len(e.Jobs) == 0 {
		// Names of jobs have no character that sorts behind the tilde of what belongs to no job.
		jobs := EtcdGrant{ReadWrite, e.key(""), e.key("~")}
		return []EtcdGrant{jobs, nodes, e.below(ReadWrite, jobtree.Removals)}
	}
	grants := []EtcdGrant{e.below(ReadWrite, sessions), nodes}
	for _, name := range e.Jobs {
		job := e.below(ReadWrite, name)
		config := e.key(jobtree.Job(name).Config())
		grants = append(grants, EtcdGrant{ReadWrite, job.From, config}, EtcdGrant{ReadWrite, config + afterSlash, job.To})
	}
	return grants
}

const (
	// sessions is where the adapter keeps a key for each session: see package etcd.
	sessions = "/sessions"
	// afterSlash is the character after the slash: a range up to "a0" ends behind all "a/…".
	afterSlash = "0"
)

func (e Etcd) key(path string) string { return "/" + e.Namespace + "/" + path }

// below is the range of everything below a node; "" is the namespace.
func (e Etcd) below(access Access, path string) EtcdGrant {
	node := strings.TrimSuffix(e.key(path), "/")
	return EtcdGrant{access, node + "/", node + afterSlash}
}
