package health

import (
	"errors"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// KindOfView returns jobtype.FaultTree for nodes that this process may not read, and jobtype.FaultStore
// for a store that cannot be read.
func KindOfView(err error) jobtype.FaultKind {
	if errors.Is(err, coord.ErrDenied) {
		return jobtype.FaultTree
	}
	return jobtype.FaultStore
}

// Remedy returns what an operator can do about a fault.
func Remedy(k jobtype.FaultKind) string {
	switch k {
	case jobtype.FaultConfig:
		return "correct the configuration, or give this process what it names"
	case jobtype.FaultClock:
		return "set the clock of this host, or of the store's"
	case jobtype.FaultStore:
		return "look at the store, the network and this process's permissions; it heals by itself then"
	case jobtype.FaultTree:
		return "look at the path that is named, and at its permissions"
	case jobtype.FaultStarvation:
		return "look at the handlers that run, at the number of threads, and at the other faults of the job"
	case jobtype.FaultStrategy:
		return "correct the strategy, or choose another"
	case jobtype.FaultCalendar:
		return "write the calendar again, or take its name out of the configuration"
	}
	return ""
}

// Advice is what the log says of a fault: its kind, its cause, what to do, and the page about it.
func Advice(k jobtype.FaultKind, err error) []zap.Field {
	return []zap.Field{
		zap.Stringer("kind", k), zap.String("cause", brief.Cut(err.Error(), 2000)), zap.String("do", Remedy(k)),
		zap.String("see", "elasticjob docs faults#"+k.String()),
	}
}

// IsAway reports whether an error says that the store does not answer.
func IsAway(err error) bool {
	return errors.Is(err, coord.ErrUnavailable) || errors.Is(err, coord.ErrSessionLost)
}
