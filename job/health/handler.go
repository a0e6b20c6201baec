package health

import (
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
)

// Node is what [Handler] asks. A [job.Node] is one, and so is a [job.Runner].
type Node interface {
	Live() error
	Ready() error
	Faults() iter.Seq2[string, error]
}

// Handler serves /live, /ready and /faults of a node. See the package comment.
func Handler(n Node) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /live", func(w http.ResponseWriter, _ *http.Request) { answer(w, verdict(n.Live())) })
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) { answer(w, verdict(n.Ready())) })
	mux.HandleFunc("GET /faults", func(w http.ResponseWriter, _ *http.Request) { answer(w, report(n.Faults())) })
	return mux
}

// Report is the body of each answer. Those of /live and /ready have no faults.
type Report struct {
	// Status is OK or Failing.
	Status Status `json:"status"`
	// Error says why the node is not live, or not ready. It has about 500 bytes at most.
	Error string `json:"error,omitempty"`
	// Faults are the first ones, by job.
	Faults []Fault `json:"faults,omitempty"`
	// More is how many there are beside Faults.
	More int `json:"more,omitempty"`
}

// Status sums a report up.
type Status string

// The status of an answer 200, and that of an answer 503.
const (
	OK      Status = "ok"
	Failing Status = "failing"
)

// Fault is something that is wrong with a job.
type Fault struct {
	Job string `json:"job"`
	// Kind is that of a [job.Fault], such as "store", or "stopped" for a scheduler that has
	// stopped by itself.
	Kind  string `json:"kind"`
	Error string `json:"error"`
	// Since is when the fault was noticed. It is not known of a scheduler that has stopped.
	Since time.Time `json:"since,omitzero"`
}

const maxFaults = 100

func verdict(err error) Report {
	if err == nil {
		return Report{Status: OK}
	}
	return Report{Status: Failing, Error: brief.Error(err).Error()}
}

// report lists the first faults, and counts the others.
func report(faults iter.Seq2[string, error]) Report {
	r := Report{Status: OK}
	for name, err := range faults {
		r.Status = Failing
		if len(r.Faults) == maxFaults {
			r.More++
			continue
		}
		r.Faults = append(r.Faults, describe(name, err))
	}
	return r
}

func describe(name string, err error) Fault {
	f := Fault{Job: name, Kind: "stopped"}
	if fault, ok := errors.AsType[job.Fault](err); ok {
		f.Kind, f.Since, err = fault.Kind.String(), fault.Since.UTC(), fault.Err
	}
	f.Error = brief.Error(err).Error()
	return f
}

func answer(w http.ResponseWriter, r Report) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if r.Status != OK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(r) // it fails only if the client has gone
}
