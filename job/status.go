package job

import "slices"

// sameStatus reports whether two statuses are the same, but for what is added when somebody asks:
// the session, the ticks and the runs.
func sameStatus(s, o *Status) bool {
	sameFault := func(a, b Fault) bool {
		return a.Kind == b.Kind && a.Since.Equal(b.Since) && a.Err.Error() == b.Err.Error()
	}
	return s.InstanceID == o.InstanceID && s.Registered == o.Registered && s.Enabled == o.Enabled && s.Leader == o.Leader && s.Paused == o.Paused && s.Expired == o.Expired &&
		s.Leaving == o.Leaving && s.LastErrorTime.Equal(o.LastErrorTime) &&
		slices.Equal(s.Items, o.Items) && slices.Equal(s.Waiting, o.Waiting) && slices.EqualFunc(s.Faults, o.Faults, sameFault)
}

func cloneStatus(s Status) Status {
	s.Items, s.Running = slices.Clone(s.Items), slices.Clone(s.Running)
	s.Waiting, s.Faults = slices.Clone(s.Waiting), slices.Clone(s.Faults)
	return s
}

// addFault adds a fault to a status, unless there is one of its kind already.
func addFault(s *Status, f Fault) {
	at, there := slices.BinarySearchFunc(s.Faults, f, func(a, b Fault) int { return int(a.Kind) - int(b.Kind) })
	if !there {
		s.Faults = slices.Insert(s.Faults, at, f)
	}
}
