package trace

func (k Kind) String() string {
	switch k {
	case KindClaimed:
		return "claimed"
	case KindHandedBack:
		return "handed back"
	case KindStarted:
		return "started"
	case KindRetried:
		return "retried"
	case KindFinished:
		return "finished"
	case KindMadeUp:
		return "made up"
	case KindPassedOver:
		return "passed over"
	case KindRecovered:
		return "recovered"
	case KindJoined:
		return "joined"
	case KindLeft:
		return "left"
	case KindSession:
		return "session"
	case KindLeads:
		return "leads"
	case KindItems:
		return "items"
	case KindConfigured:
		return "configured"
	case KindPaused:
		return "paused"
	case KindCommanded:
		return "commanded"
	case KindDue:
		return "due"
	case KindFault:
		return "fault"
	case KindMissed:
		return "missed"
	case KindOperated:
		return "operated"
	}
	return "unknown"
}
