package httpjob

import (
	"crypto/tls"
	"errors"
	"maps"
	"net/http"
	"sync"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/allow"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// Name is the name of the type, as ElasticJob has it.
const Name = "HTTP"

// ErrClosed: an item was to run after [Type.Close].
var ErrClosed = errors.New("httpjob: the type is closed")

// Options are what a process has for its requests.
type Options struct {
	// TLS are the settings that http.tls may name: certificate authorities, certificates of
	// the client. A job that names none has those of the system. Do not change them later.
	TLS map[string]*tls.Config
	// Allow is what jobs may refer to, and where their requests may go. Default: everything.
	Allow *allow.List
	// Lookup returns what references in properties stand for, for all jobs. Default: what the
	// process has and Allow allows.
	Lookup property.Lookup
}

// Type is the type of jobs that send requests. It keeps connections between the executions of
// all jobs that it is given to. Make it by [New].
type Type struct {
	tls    map[string]*tls.Config
	allow  *allow.List
	lookup property.Lookup // nil: that of allow

	mu         sync.Mutex
	closed     bool
	transports map[link]*http.Transport
}

// New returns a Type.
func New(o Options) *Type {
	return &Type{tls: maps.Clone(o.TLS), allow: o.Allow, lookup: o.Lookup, transports: map[link]*http.Transport{}}
}

// Handler implements [job.Type]. It looks up references, to see that they are known, and sends
// nothing.
func (t *Type) Handler(c job.Config) (job.Handler, error) {
	w := t.worker(c.Name)
	s, err := w.read(c)
	if err != nil {
		return nil, err
	}
	return &handler{of: t, worker: w, settings: s}, nil
}

// worker is what the process has for the requests of a job.
type worker struct {
	tls    map[string]*tls.Config
	allow  *allow.List
	lookup property.Lookup
}

func (t *Type) worker(jobName string) worker {
	w := worker{t.tls, t.allow.For(jobName), t.lookup}
	if w.lookup == nil {
		w.lookup = w.allow.Lookup()
	}
	return w
}

// Close closes the connections that are idle. Call it when the schedulers have ended: what
// runs then fails with ErrClosed at its next request.
func (t *Type) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, transport := range t.transports {
		transport.CloseIdleConnections()
	}
	clear(t.transports)
}
