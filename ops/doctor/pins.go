package doctor

import (
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// checkPins looks for pins that cannot hold.
func (w *world) checkPins(c *collector) {
	list := w.Eligible()
	for _, i := range sortedKeys(w.Pins) {
		pin := w.Pins[i]
		severity, cause := Severity(0), ""
		switch {
		case pin.Err != nil: // checkTree says so
		case i >= w.Rules.Total:
			severity, cause = Info, "the job has no such item"
		case w.Rules.Broadcast:
			severity, cause = Warning, "a broadcast job knows no pins"
		default:
			isThere := false
			for _, in := range list {
				isThere = isThere || pin.Matches(w.Instances[in.ID])
			}
			if isThere {
				continue
			}
			severity, cause = Warning, "no instance that may have it is one of those, so any other may have it"
			if pin.Strict {
				severity, cause = Critical, "no instance that may have it is one of those, so nobody has it"
			}
		}
		if cause == "" {
			continue
		}
		s := w.about(PinUnmatched, severity, fmt.Sprintf("it is pinned to %s, and %s", pinnedTo(pin.Instance, pin.Address, pin.Label), cause),
			"start such an instance, or unpin the item", Unpin)
		s.Command += fmt.Sprintf(" %d", i)
		s.Path = pin.Path
		c.addItem(i, pin.Modified, s)
	}
}

func pinnedTo(instance, address, label string) string {
	switch {
	case instance != "":
		return "instance " + brief.Quote(instance)
	case address != "":
		return "address " + brief.Quote(address)
	}
	return "label " + brief.Quote(label)
}
