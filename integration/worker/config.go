// Package worker is a process of the fault suite that takes part in jobs, as a user's
// would, and writes down what it sees: a line for each start and end of an item, each
// answer of the registry, each write to the fenced resource.
//
// It reads its [Config] and then [Command]s from its standard input, line by line. When the
// input ends it ends at once, because the process that should end it is gone.
package worker

import (
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// The stores that a worker can use.
const (
	Etcd      = "etcd"
	ZooKeeper = "zookeeper"
)

// Config is the first line of a worker's input.
type Config struct {
	// Name is that of the process in the history, Address what it registers under.
	Name    string `json:"name"`
	Address string `json:"address"`
	// Store is Etcd or ZooKeeper, Servers are its addresses.
	Store          string        `json:"store"`
	Servers        []string      `json:"servers"`
	Namespace      string        `json:"namespace"`
	SessionTimeout time.Duration `json:"sessionTimeout"`
	// User and Password log in to an etcd that asks for them.
	User     string `json:"user,omitempty"`
	Password string `json:"password,omitempty"`
	// ClockOffset is how wrong its clock is.
	ClockOffset time.Duration `json:"clockOffset,omitempty"`
	// Knows is the name of a strategy and of an error handler that its schedulers know
	// beside those that all know. Empty is none.
	Knows string `json:"knows,omitempty"`
	// Early is how long before their tick its schedulers claim items.
	Early time.Duration `json:"early,omitempty"`
	// Runner makes it serve the jobs of the type Kind that others create (job.Runner). It is told
	// neither to join nor to leave any.
	Runner bool `json:"runner,omitempty"`
	// Log is the file of its history, Fence the socket of the fenced resource.
	Log   string `json:"log"`
	Fence string `json:"fence"`
}

// Job is what a worker runs.
type Job struct {
	Config job.Config `json:"config"`
	// Work is how long items take; item i the entry i modulo its length. None is no time. Jobs of
	// the type Kind have it in their properties.
	Work []time.Duration `json:"work,omitempty"`
	// Stream makes the job a dataflow that streams: Work is how long a batch takes.
	Stream *Stream `json:"stream,omitempty"`
	// Script makes the job one of the type SCRIPT, whose properties are in Config.
	Script bool `json:"script,omitempty"`
	// Failing makes item 0 fail, unless it is a retry.
	Failing bool `json:"failing,omitempty"`
	// Tell is how long the calls of the once-listener [Teller] take. Jobs that name it have to say.
	Tell time.Duration `json:"tell,omitempty"`
	// Stubborn handlers ignore their context, and write to the fenced resource again and
	// again until it refuses a write.
	Stubborn bool `json:"stubborn,omitempty"`
}

// Stream is what a dataflow fetches: each item gets a row now and then, numbered from 1, and
// nobody takes a row away.
type Stream struct {
	// Begin is when row 0 would have come, and Every the time between two rows.
	Begin time.Time     `json:"begin"`
	Every time.Duration `json:"every"`
}

// Command is a further line of a worker's input.
type Command struct {
	// Join starts a scheduler of the job.
	Join *Job `json:"join,omitempty"`
	// Leave shuts the scheduler of the job down, Exit those of all jobs, closes the
	// registry and ends the process. Handlers get the time of Drain.
	Leave string        `json:"leave,omitempty"`
	Exit  bool          `json:"exit,omitempty"`
	Drain time.Duration `json:"drain,omitempty"`
	// Trigger triggers all items of the job.
	Trigger string `json:"trigger,omitempty"`
	// Clock makes its clock wrong by so much.
	Clock *time.Duration `json:"clock,omitempty"`
	// Hang, if it is true, keeps all handlers from returning, whatever their contexts say,
	// until a command says false, or Exit.
	Hang *bool `json:"hang,omitempty"`
}
