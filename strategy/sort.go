package strategy

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// Sort puts instances into the order in which every strategy gets them: ascending by IP address, then by id.
// Addresses compare as numbers, so 10.0.0.9 comes before 10.0.0.10. IPv4 comes before IPv6; an IPv4-mapped IPv6
// address counts as IPv4. Texts that are no addresses come last, compared as text.
//
// ElasticJob's order is descending by id, compared as text, whatever its documentation
// says. So ODEVITY and the like choose other instances here, although they do the same
// with the order that they get. See [DescendingID] for ElasticJob's order.
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

// compareIP compares two addresses. One that is zero is no address; then its text counts.
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
