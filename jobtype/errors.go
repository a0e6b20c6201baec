package jobtype

import (
	"errors"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Errors that programs and tools may want to tell apart.
var (
	// ErrJobRemoved: the job was removed from the registry. A start fails with it, too, unless the
	// program's Config.Revision is higher than that of the configuration that was removed.
	ErrJobRemoved = errors.New("job: job removed from the registry")
	// ErrInstanceRemoved: an operator has removed this instance, so its scheduler has
	// stopped. A new one may be started in the same process; a Runner starts none until the job is
	// created anew.
	ErrInstanceRemoved = errors.New("job: instance removed by an operator")
	// ErrImplementationConflict: another program runs this job, by the name of its implementation.
	ErrImplementationConflict = errors.New("job: implementation conflict")
	// ErrKindConflict: the program gives a cron expression and the registry has none, or the
	// other way round. A job does not change its kind.
	ErrKindConflict = errors.New("job: scheduled and one-off jobs do not turn into each other")
	// ErrNoItem: the job has no item of that number.
	ErrNoItem = errors.New("job: no such item")
	// ErrNoInstance: there is no enabled instance that could take a trigger.
	ErrNoInstance = errors.New("job: no instance available")
	// ErrNoRequest: there is no such request, or not any more.
	ErrNoRequest = errors.New("job: no such request")
	// ErrQueueFull: so many requests wait that there is no room for another one.
	ErrQueueFull = jobtree.ErrQueueFull
	// ErrKeyUsed: a request with this key stands there that asks for something else.
	ErrKeyUsed = jobtree.ErrKeyUsed
)
