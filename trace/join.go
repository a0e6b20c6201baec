package trace

import "github.com/elasticjob-go/elasticjob/job"

// Join returns an observer that tells several, one after the other. The last one is told even
// if the first one panics. Given to a job one by one ([job.WithObserver]) they have a queue and
// a pace of their own each; joined, they share one.
func Join(list ...job.Observer) job.Observer {
	return job.Observer{
		Joined:       all(list, func(o job.Observer) func(job.JoinedEvent) { return o.Joined }),
		Left:         all(list, func(o job.Observer) func(job.LeftEvent) { return o.Left }),
		Session:      all(list, func(o job.Observer) func(job.SessionEvent) { return o.Session }),
		Leads:        all(list, func(o job.Observer) func(job.LeadsEvent) { return o.Leads }),
		ItemsChanged: all(list, func(o job.Observer) func(job.ItemsChangedEvent) { return o.ItemsChanged }),
		Configured:   all(list, func(o job.Observer) func(job.ConfiguredEvent) { return o.Configured }),
		Paused:       all(list, func(o job.Observer) func(job.PausedEvent) { return o.Paused }),
		Commanded:    all(list, func(o job.Observer) func(job.CommandedEvent) { return o.Commanded }),
		Due:          all(list, func(o job.Observer) func(job.DueEvent) { return o.Due }),
		Claimed:      all(list, func(o job.Observer) func(job.ClaimedEvent) { return o.Claimed }),
		HandedBack:   all(list, func(o job.Observer) func(job.HandedBackEvent) { return o.HandedBack }),
		Started:      all(list, func(o job.Observer) func(job.StartedEvent) { return o.Started }),
		Retried:      all(list, func(o job.Observer) func(job.RetriedEvent) { return o.Retried }),
		Finished:     all(list, func(o job.Observer) func(job.FinishedEvent) { return o.Finished }),
		MadeUp:       all(list, func(o job.Observer) func(job.MadeUpEvent) { return o.MadeUp }),
		PassedOver:   all(list, func(o job.Observer) func(job.PassedOverEvent) { return o.PassedOver }),
		Recovered:    all(list, func(o job.Observer) func(job.RecoveredEvent) { return o.Recovered }),
		Fault:        all(list, func(o job.Observer) func(job.FaultEvent) { return o.Fault }),
		Missed:       all(list, func(o job.Observer) func(job.MissedEvent) { return o.Missed }),
	}
}

// all is one function of several observers. It is nil if none of them has it.
func all[E any](list []job.Observer, of func(job.Observer) func(E)) func(E) {
	var tell func(E)
	for i := len(list) - 1; i >= 0; i-- {
		tell = both(of(list[i]), tell)
	}
	return tell
}

// both calls two functions that may be nil.
func both[E any](first, second func(E)) func(E) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(e E) {
		defer second(e) // also if the first one panics
		first(e)
	}
}
