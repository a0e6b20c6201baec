package history

// presence follows events, and knows which processes take part in a job and which faults
// they report.
type presence struct {
	job      string
	address  map[string]string // by process
	disabled map[string]bool   // by address
	joined   map[string]bool
	paused   map[string]bool
	broken   map[string]int             // how many faults a process has; "" is the store
	faults   map[string]map[string]bool // those that a scheduler reports, by process and kind
}

func newPresence(job string) *presence {
	return &presence{
		job: job, address: map[string]string{}, disabled: map[string]bool{}, joined: map[string]bool{},
		paused: map[string]bool{}, broken: map[string]int{}, faults: map[string]map[string]bool{},
	}
}

// see takes an event in, and reports whether it has anything to do with presence.
func (p *presence) see(e *Event) bool {
	mine := e.Job == "" || e.Job == p.job
	switch e.Kind {
	case Up:
		p.address[e.Process] = e.Address
	case Joined:
		if e.Job == p.job {
			p.joined[e.Process] = true
		}
	case Left, Leave, Down:
		if mine {
			delete(p.joined, e.Process)
		}
	case Kill:
		delete(p.joined, e.Process)
	case Remove:
		if mine {
			clear(p.joined)
		}
	case Pause, Resume:
		p.paused[e.Process] = e.Kind == Pause
	case Fault:
		p.broken[e.Process]++
	case Heal:
		p.broken[e.Process]--
	case Disable, Enable:
		if mine && e.Item < 0 {
			p.disabled[e.Address] = e.Kind == Disable
		}
	case Faulty, Sound:
		if e.Job != p.job {
			return false
		}
		if p.faults[e.Process] == nil {
			p.faults[e.Process] = map[string]bool{}
		}
		p.faults[e.Process][e.Name] = true
		if e.Kind == Sound {
			delete(p.faults[e.Process], e.Name)
		}
	default:
		return false
	}
	return true
}

// enabled reports whether a process takes part in the job, is not stopped, and may run items.
func (p *presence) enabled(process string) bool {
	return p.joined[process] && !p.paused[process] && !p.disabled[p.address[process]]
}

// somebody reports whether anybody is enabled.
func (p *presence) somebody() bool {
	for process := range p.joined {
		if p.enabled(process) {
			return true
		}
	}
	return false
}

// able reports whether a process is enabled that has no fault, while the store has none.
func (p *presence) able() bool {
	for process := range p.joined {
		if p.enabled(process) && p.broken[process] == 0 && p.broken[""] == 0 {
			return true
		}
	}
	return false
}

// told reports whether a scheduler reports a fault whose process is not stopped.
func (p *presence) told() bool {
	for process, kinds := range p.faults {
		if p.joined[process] && !p.paused[process] && len(kinds) > 0 {
			return true
		}
	}
	return false
}

// stretches lists when a condition held for a job.
func (t *timeline) stretches(job string, so func(*presence) bool) []span {
	p := newPresence(job)
	var list []span
	since := int64(never)
	if so(p) {
		since = t.begin
	}
	for i := range t.events {
		e := &t.events[i]
		if !p.see(e) {
			continue
		}
		switch now := so(p); {
		case now && since == never:
			since = e.Mono
		case !now && since != never:
			list = append(list, span{from: since, to: e.Mono, event: e})
			since = never
		}
	}
	if since != never {
		list = append(list, span{from: since, to: never})
	}
	return list
}

// alone lists the stretches in which no process was able to run anything of the job.
func (t *timeline) alone(job string) []span {
	return t.stretches(job, func(p *presence) bool { return !p.able() })
}

// explained lists the stretches in which no enabled process took part in the job, or one
// reported a fault. What was done to the processes does not count.
func (t *timeline) explained(job string) []span {
	return t.stretches(job, func(p *presence) bool { return !p.somebody() || p.told() })
}
