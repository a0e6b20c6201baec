package strategy

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// Sort puts instances into the one order in which strategies are given them:
// ascending by IP address, then by id. Addresses compare as numbers, so
// 10.0.0.9 comes before 10.0.0.10; IPv4, also when written as an IPv4-mapped
// IPv6 address, comes before IPv6. What is not an address comes last, compared
// as text.
//
// ElasticJob hands instances in by descending text of their ids, whatever its
// documentation says. So ODEVITY and the like pick other instances here than
// there; what they do with the order they are given is the same. See
// [DescendingID] for their order.
func Sort(instances []Instance) {
	type keyed struct {
		Instance
		addr netip.Addr // the zero Addr if IP is not an address
	}
	byKey := make([]keyed, len(instances))
	for i, in := range instances {
		byKey[i].Instance = in
		if addr, err := netip.ParseAddr(in.IP); err == nil {
			byKey[i].addr = addr.Unmap()
		}
	}
	slices.SortFunc(byKey, func(a, b keyed) int {
		return cmp.Or(compareIP(a.addr, b.addr, a.IP, b.IP), strings.Compare(a.ID, b.ID))
	})
	for i := range byKey {
		instances[i] = byKey[i].Instance
	}
}

// compareIP compares two addresses, of which the zero one stands for its text.
func compareIP(a, b netip.Addr, aText, bText string) int {
	switch {
	case a.IsValid() && b.IsValid():
		return a.Compare(b)
	case a.IsValid():
		return -1
	case b.IsValid():
		return 1
	}
	return strings.Compare(aText, bText)
}
