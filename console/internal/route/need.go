// Package route finds the handler of a request, and lets nobody through who may not: a route cannot be
// added without saying who may use it.
//
//	request ─► which route? ─► who is it? ─► about which namespace and job? ─► may he? ─► handler
//	               │ 404, 405      │ 401              │ 400, 404                  │ 403
//
// Patterns are those of http.ServeMux; a slash at the end does not matter. Routes whose paths overlap as ServeMux does not
// take them come with a Router of their own.
package route

import (
	"fmt"

	"github.com/elasticjob-go/elasticjob/console/access"
)

// Scope says what a role has to be for.
type Scope int

const (
	// Open needs nobody to be logged in.
	Open Scope = iota + 1
	// SignedIn needs somebody, with whatever role.
	SignedIn
	// Everything needs the role for all jobs of all namespaces: connections, users.
	Everything
	// SomeJobs needs the role for some jobs of the namespace. The handler leaves all others out.
	SomeJobs
	// AllJobs needs the role for all jobs of the namespace.
	AllJobs
	// Job needs the role for the job.
	Job
)

var scopes = []string{Open: "open", SignedIn: "signed in", Everything: "everything", SomeJobs: "some jobs", AllJobs: "all jobs", Job: "job"}

func (s Scope) String() string {
	if s < Open || s > Job {
		return fmt.Sprintf("Scope(%d)", int(s))
	}
	return scopes[s]
}

// Need is what a route asks of who uses it. Role does not count for Open and SignedIn.
type Need struct {
	Scope Scope
	Role  access.Role
}

// Place is what a request is about.
type Place struct {
	// Namespace is the console's name for it.
	Namespace string
	Job       string
}

// allows reports whether a principal may.
func (n Need) allows(p *access.Principal, at Place) bool {
	switch n.Scope {
	case Open:
		return true
	case SignedIn:
		return p != nil
	case Everything:
		return p.MayEverywhere(n.Role)
	case SomeJobs:
		return p.MaySome(n.Role, at.Namespace)
	case AllJobs:
		return p.MayAll(n.Role, at.Namespace)
	case Job:
		return p.May(n.Role, at.Namespace, at.Job)
	default:
		return false
	}
}
