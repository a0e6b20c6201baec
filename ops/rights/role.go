package rights

import (
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Role is what somebody does in a namespace.
type Role int

// The roles, from the narrowest to the widest.
const (
	// Reader looks at everything, and changes nothing.
	Reader Role = iota
	// Worker runs jobs.
	Worker
	// Operator does all that package ops can do.
	Operator
)

// String is the role in lower case.
func (r Role) String() string {
	switch r {
	case Reader:
		return "reader"
	case Worker:
		return "worker"
	case Operator:
		return "operator"
	}
	return fmt.Sprintf("Role(%d)", int(r))
}

// Roles are all of them.
func Roles() []Role { return []Role{Reader, Worker, Operator} }

func checkNamespace(namespace string) error {
	if err := coord.ValidatePath(namespace); err != nil {
		return fmt.Errorf("rights: namespace: %w", err)
	}
	return nil
}
