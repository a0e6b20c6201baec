package jobfile

import "github.com/elasticjob-go/elasticjob/job"

// only returns an observer that is told of some jobs only.
func only(is func(job string) bool, o job.Observer) job.Observer {
	return job.Observer{
		Joined:       when(is, o.Joined, func(e job.JoinedEvent) job.Event { return e.Event }),
		Left:         when(is, o.Left, func(e job.LeftEvent) job.Event { return e.Event }),
		Session:      when(is, o.Session, func(e job.SessionEvent) job.Event { return e.Event }),
		Leads:        when(is, o.Leads, func(e job.LeadsEvent) job.Event { return e.Event }),
		ItemsChanged: when(is, o.ItemsChanged, func(e job.ItemsChangedEvent) job.Event { return e.Event }),
		Configured:   when(is, o.Configured, func(e job.ConfiguredEvent) job.Event { return e.Event }),
		Paused:       when(is, o.Paused, func(e job.PausedEvent) job.Event { return e.Event }),
		Commanded:    when(is, o.Commanded, func(e job.CommandedEvent) job.Event { return e.Event }),
		Due:          when(is, o.Due, func(e job.DueEvent) job.Event { return e.Event }),
		Claimed:      when(is, o.Claimed, func(e job.ClaimedEvent) job.Event { return e.Event }),
		HandedBack:   when(is, o.HandedBack, func(e job.HandedBackEvent) job.Event { return e.Event }),
		Started:      when(is, o.Started, func(e job.StartedEvent) job.Event { return e.Event }),
		Retried:      when(is, o.Retried, func(e job.RetriedEvent) job.Event { return e.Event }),
		Finished:     when(is, o.Finished, func(e job.FinishedEvent) job.Event { return e.Event }),
		MadeUp:       when(is, o.MadeUp, func(e job.MadeUpEvent) job.Event { return e.Event }),
		PassedOver:   when(is, o.PassedOver, func(e job.PassedOverEvent) job.Event { return e.Event }),
		Recovered:    when(is, o.Recovered, func(e job.RecoveredEvent) job.Event { return e.Event }),
		Fault:        when(is, o.Fault, func(e job.FaultEvent) job.Event { return e.Event }),
		Missed:       when(is, o.Missed, func(e job.MissedEvent) job.Event { return e.Event }),
	}
}

// when is a function of an observer, for events of some jobs. It is nil if the function is.
func when[E any](is func(job string) bool, tell func(E), event func(E) job.Event) func(E) {
	if tell == nil {
		return nil
	}
	return func(e E) {
		if is(event(e).JobName) {
			tell(e)
		}
	}
}
