package dump

import (
	"errors"
	"time"
)

// What callers branch on, with errors.Is.
var (
	// ErrNoJob: neither the registry nor this process has such a job, or it is not to be shown.
	ErrNoJob = errors.New("no such job")
	// ErrDenied: the service wants a token, or another one.
	ErrDenied = errors.New("a token is needed, or another one")
	// ErrBusy: the service has as much to do as it may have at a time.
	ErrBusy = errors.New("busy; ask again later")
)

// Dump is what a process believes of a job, beside what the registry has.
type Dump struct {
	Job string `json:"job"`
	// Time is when the dump was begun, by the local clock.
	Time time.Time `json:"time"`
	// Host and Process are the name of the host and the id of the process that has made it.
	Host    string `json:"host"`
	Process int    `json:"process"`
	// Version is that of this module, Go that of Go, and Protocol that of the rules by which
	// instances share the tree.
	Version  string `json:"version"`
	Go       string `json:"go"`
	Protocol int    `json:"protocol"`
	// Status is how the job stands in this process, with its faults; nil if it does not run here.
	// Then nothing is compared.
	Status *Status `json:"status,omitempty"`
	// Config is the configuration in the registry, and ConfigError what is wrong with it.
	Config      string `json:"config,omitempty"`
	ConfigError string `json:"configError,omitempty"`
	// StoreError says why the registry could not be read. Then Nodes are those of the view alone.
	StoreError string `json:"storeError,omitempty"`
	// Differing counts the nodes that differ.
	Differing int `json:"differing"`
	// Cut says that the job has more than MaxNodes nodes, or MaxBytes bytes. Those with the largest
	// paths are left out.
	Cut bool `json:"cut,omitempty"`
	// Nodes are those of the job, the job's own first: parents before their children, and children
	// in descending bytewise order of their names, as in ElasticJob's dump.
	Nodes []Node `json:"nodes"`
}

// Node is a node of the job's tree.
type Node struct {
	// Path is relative to the namespace, without a leading slash.
	Path string `json:"path"`
	// Value is what the registry has; empty if only the view has the node, and for a parent
	// that nobody wrote. In JSON, bytes that are no UTF-8 are U+FFFD.
	Value string `json:"value"`
	// Modified is the store-wide number of the commit that wrote it last.
	Modified int64 `json:"modified,omitempty"`
	// Session is the session whose end removes the node, in hexadecimal digits; empty if it is
	// persistent.
	Session string `json:"session,omitempty"`
	// Difference is how the view differs from that for a second or longer: see the package comment.
	Difference Difference `json:"difference,omitempty"`
	// View is the value in the view, if they differ.
	View string `json:"view,omitempty"`
}

// Difference is how the view differs from the registry, in one node.
type Difference string

// The differences; "" is none.
const (
	OnlyInView  Difference = "only in the view"
	OnlyInStore Difference = "only in the store"
	// Other: both have the node, with other values or of other sessions.
	Other Difference = "other"
)

// Bounds of what is read of a job.
const (
	MaxNodes = 200_000
	MaxBytes = 64 << 20 // of paths and values
)
