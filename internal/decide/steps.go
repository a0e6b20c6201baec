package decide

import "time"

// Role is how an instance stands during a pass. It says which steps are for it.
type Role int

const (
	// Unconfigured: the snapshot has no configuration. The view is late, or the job was removed.
	Unconfigured Role = 1 << iota
	// Candidate: the instance is not in the tree.
	Candidate
	// Follower: it is in the tree and does not lead.
	Follower
	// Leader: it is in the tree and leads.
	Leader
	// Leaving: it is on its way out.
	Leaving

	Member     = Follower | Leader
	Configured = Candidate | Member | Leaving
	Anyone     = Unconfigured | Configured
)

// Step is one thing that each pass over a job looks after.
type Step struct {
	Name    string
	Roles   Role
	Partial bool // the step is about items: partial passes have it, too
	// Decisions are the methods of World that the step asks, in the order of the table in the
	// package's comment, between commas.
	Decisions string
	// Decide is set if the step does nothing but to commit what it returns.
	Decide func(*World, *Work) Decision
}

// Decision is what a step wants done.
type Decision struct {
	Changes []Change
	Wait    time.Duration // the step is to be asked again then; 0 if it need not
	Err     error
	// Blocks: if a change has happened, the later steps of a leader wait for the next pass,
	// because it has changed what they decide on.
	Blocks bool
	// InParts: there may be much to do. Each pass does some of it, and the next one goes on by
	// a view that shows what is done.
	InParts bool
}

// Steps returns the steps of a pass, in their order.
func Steps() [38]Step {
	return [...]Step{
		{Name: "resync", Roles: Anyone},
		{Name: "look for removal", Roles: Anyone},
		{Name: "restore", Roles: Configured, Partial: true, Decisions: "Restore"},
		{Name: "kill", Roles: Member | Leaving},
		{Name: "finish", Roles: Configured, Partial: true, Decisions: "Finish"},
		{Name: "advance ticks", Roles: Member | Leaving, Partial: true, Decisions: "AdvanceTicks, EndCall"},
		{Name: "leave", Roles: Leaving, Decisions: "LeaveInOneCommit, Resign, ReleaseForFailover, Deregister"},
		{Name: "register", Roles: Candidate, Decisions: "Bootstrap, Register, FenceRegistration"},
		{Name: "announce", Roles: Member, Decisions: "Announce"},
		{Name: "remove stale self", Roles: Member, Decisions: "RemoveStaleSelf"},
		{Name: "unmark", Roles: Member, Decisions: "Unmark", Decide: func(w *World, k *Work) Decision {
			return Decision{Changes: w.Unmark(k)}
		}},
		{Name: "record JVM runs", Roles: Member, Decisions: "RecordJVMRuns", Decide: func(w *World, _ *Work) Decision {
			return Decision{Changes: w.RecordJVMRuns(), Wait: w.JVMRecordWait()}
		}},
		{Name: "fail over", Roles: Member, Decisions: "FailOver"},
		{Name: "take trigger", Roles: Member, Decisions: "TakeTrigger"},
		{Name: "claim requested", Roles: Member, Decisions: "ClaimRequested"},
		{Name: "fire", Roles: Member, Partial: true, Decisions: "OpenTick, Fire"},
		{Name: "claim backfill", Roles: Member},
		{Name: "mark misfire", Roles: Member, Partial: true, Decisions: "MarkMisfire", Decide: func(w *World, k *Work) Decision {
			return Decision{Changes: w.MarkMisfire(k)}
		}},
		{Name: "skip", Roles: Member, Partial: true, Decisions: "Skip", Decide: func(w *World, k *Work) Decision {
			return Decision{Changes: w.Skip(k)}
		}},
		{Name: "release", Roles: Member, Partial: true, Decisions: "ReleaseClaims"},
		{Name: "settle", Roles: Member, Partial: true, Decisions: "Settle"},
		{Name: "elect", Roles: Follower, Decisions: "Elect"},
		{Name: "abdicate", Roles: Leader, Decisions: "Abdicate"},
		{Name: "tidy", Roles: Leader, Decisions: "Tidy", Decide: func(w *World, _ *Work) Decision {
			return Decision{Changes: w.Tidy(), Blocks: true}
		}},
		{Name: "record schedule", Roles: Member, Decisions: "RecordSchedule", Decide: func(w *World, _ *Work) Decision {
			change, err := w.RecordSchedule()
			return Decision{Changes: listOf(change), Err: err, Blocks: true}
		}},
		{Name: "mark for failover", Roles: Member, Partial: true, Decisions: "MarkForFailover"},
		// The later steps do not depend on it, and an instance with a wrong clock may write such
		// ticks again and again: so it does not block them.
		{Name: "rewind", Roles: Leader, Partial: true, Decisions: "Rewind", Decide: func(w *World, _ *Work) Decision {
			return Decision{Changes: w.Rewind()}
		}},
		{Name: "clean", Roles: Leader, Partial: true, Decisions: "Clean", Decide: func(w *World, _ *Work) Decision {
			return Decision{Changes: w.Clean(), InParts: true}
		}},
		{Name: "adopt trigger", Roles: Leader, Decisions: "AdoptTrigger"},
		{Name: "end requests", Roles: Member, Decisions: "EndRequests"},
		{Name: "sweep", Roles: Leader, Decisions: "Sweep"},
		{Name: "expire", Roles: Leader, Decisions: "Expire"},
		{Name: "request reshard", Roles: Follower, Decisions: "RequestReshard"},
		{Name: "assign", Roles: Leader, Decisions: "Assign"},
		{Name: "ask to stop", Roles: Member | Leaving},
		{Name: "announce process", Roles: Member},
		{Name: "diagnose", Roles: Anyone},
		{Name: "report", Roles: Member | Leaving},
	}
}

func listOf(change *Change) []Change {
	if change == nil {
		return nil
	}
	return []Change{*change}
}
