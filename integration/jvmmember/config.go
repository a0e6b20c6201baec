package jvmmember

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Config says which member to start.
type Config struct {
	// Registry is the connection and session of the member's process.
	Registry coord.Registry
	// Job is the name of the job.
	Job string
	// IP and PID make the member's id: {ip}@-@{pid}.
	IP  string
	PID int
	// Class is the implementation, as the job's node has it.
	Class string
	// Document is the configuration that the program brings, in ElasticJob's YAML. With overwrite: true
	// in it, it replaces the one in the registry.
	Document []byte
	// Release is the release of ElasticJob that it behaves as.
	Release Release
	// Work is called for each item of a fire, in a goroutine of its own if there are several. ctx ends when the
	// member crashes, or is interrupted. It has to return then. Its error is logged in ElasticJob, and the item
	// counts as ended; but see [V306].
	Work func(ctx context.Context, e Execution) error
	// Step is called before each request to the store, from any goroutine; it may wait, as a network does. It
	// may be nil. In a bubble it should wait at least a millisecond: two requests in no time are one change to
	// those who look on, and their listeners are told of removals in the order of the paths.
	Step func()
	// Lag is called for each change of the job's tree, and says how long after it the member's cache shows it; but
	// changes show in their order. Curator's is behind by milliseconds, and by seconds if the process is busy.
	// nil is a cache that is never behind.
	Lag func() time.Duration
	// Ahead is by how much the member's clock is ahead.
	Ahead time.Duration
	// Order is the order in which its listeners are told of each change; nil is the order in which
	// ElasticJob registers them. The cache of a JVM keeps them by their identity hash: so each
	// process has an order of its own, and [ShuffledOrder] makes one.
	Order []Listener
	// Told is called when the listeners have been told of a change of a node and are done with it, with the node's
	// path below the job's. It may be nil.
	Told func(path string)
}

// Release is a release of ElasticJob.
type Release string

// The releases that differ.
const (
	V304 Release = "3.0.4"
	V305 Release = "3.0.5"
	// V306 is ElasticJob's master, 3.0.6-SNAPSHOT, which keeps the records of items that have failed.
	V306 Release = "3.0.6-SNAPSHOT"
)

// Execution is one call of a job for one item.
type Execution struct {
	Member string
	Item   int
	Source Source
	// Tick is the time by cron for which the member has fired; zero for a trigger and a failover.
	Tick time.Time
}

// Source says why an item runs. ElasticJob itself tells NORMAL_TRIGGER and MISFIRE apart and no more.
type Source string

// The sources.
const (
	Normal   Source = "NORMAL_TRIGGER"
	Misfire  Source = "MISFIRE"
	Failover Source = "FAILOVER"
	Trigger  Source = "TRIGGER"
)
