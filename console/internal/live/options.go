package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Options say what is watched, for whom, and with which limits.
type Options struct {
	// Ops returns the operations on a namespace, as connection.Book does.
	Ops func(ctx context.Context, namespace string) (*ops.Ops, error)
	// Who returns who has sent a request. It is asked at each heartbeat, so it should not count that as use of a
	// session.
	Who func(*http.Request) (*access.Principal, error)
	// Changed returns a channel that is closed when what Who says may have changed: all listeners are looked up then.
	// nil: they are at heartbeats alone.
	Changed func() <-chan struct{}
	// Fail answers a request to which nothing is streamed, with an error of this package, of package
	// connection or of ops.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
	// Job and Detail write what is told of a job. Default json.Marshal.
	Job    func(*ops.JobInfo) ([]byte, error)
	Detail func(*ops.JobDetail) ([]byte, error)

	// Every is the least time between two updates. Default ops.DefaultEvery.
	Every time.Duration
	// Heartbeat is how often something is sent when nothing changes, and rights are looked up. Default 5 s.
	Heartbeat time.Duration
	// Linger is how long a watch goes on after its last listener has left: who comes back until then is told
	// what has changed. Default 1 min.
	Linger time.Duration
	// WriteTimeout is how long a listener may take nothing. Default 10 s.
	WriteTimeout time.Duration

	// Listeners bounds all streams, and PerPrincipal those of one name. Default 2,000 and 20.
	Listeners, PerPrincipal int
	// Watches bounds the namespaces and jobs that are watched. Default 200.
	Watches int
	// Log gets what goes wrong. nil is silence.
	Log *slog.Logger
}

// complete returns the options with their defaults.
func (o Options) complete() (Options, error) {
	if o.Ops == nil || o.Who == nil || o.Fail == nil {
		return o, errors.New("live: Ops, Who and Fail are needed")
	}
	if o.Changed == nil {
		o.Changed = func() <-chan struct{} { return nil }
	}
	if o.Job == nil {
		o.Job = func(i *ops.JobInfo) ([]byte, error) { return json.Marshal(i) }
	}
	if o.Detail == nil {
		o.Detail = func(d *ops.JobDetail) ([]byte, error) { return json.Marshal(d) }
	}
	o.Every = cmp.Or(o.Every, ops.DefaultEvery)
	o.Heartbeat = cmp.Or(o.Heartbeat, 5*time.Second)
	o.Linger = cmp.Or(o.Linger, time.Minute)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 10*time.Second)
	o.Listeners = cmp.Or(o.Listeners, 2000)
	o.PerPrincipal = cmp.Or(o.PerPrincipal, 20)
	o.Watches = cmp.Or(o.Watches, 200)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return o, nil
}
