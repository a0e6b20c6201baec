package dump

import (
	"net/netip"
	"strconv"
	"strings"
)

// Masked returns the dump with each IPv4 and IPv6 address replaced by ip1, ip2, … in the order in
// which they appear first: in the nodes, in the order of the text, and then in the rest. The same
// address has the same name everywhere, however it is written; another one has another name.
//
// Addresses are whole: 10.0.0.1 is none in 10.0.0.10 or in 1.10.0.0.1, and one of IPv6 is no part of
// a longer word. A port behind it, a zone, a prefix length and punctuation stay. So does what is
// no such address: names of hosts, and "::", which says nothing. Secrets are for [Dump.WithoutSecrets].
func (d Dump) Masked() Dump {
	m := masker{}
	nodes := make([]Node, len(d.Nodes))
	for i, n := range d.Nodes {
		n.Path, n.Value, n.View = m.mask(n.Path), m.mask(n.Value), m.mask(n.View)
		nodes[i] = n
	}
	d.Nodes = nodes
	d.Job, d.Host, d.Config = m.mask(d.Job), m.mask(d.Host), m.mask(d.Config)
	d.ConfigError, d.StoreError = m.mask(d.ConfigError), m.mask(d.StoreError)
	if d.Status != nil {
		s := m.status(*d.Status)
		d.Status = &s
	}
	return d
}

func (m masker) status(s Status) Status {
	s.Job, s.InstanceID, s.Stopped, s.LastError = m.mask(s.Job), m.mask(s.InstanceID), m.mask(s.Stopped), m.mask(s.LastError)
	if s.Paused != nil {
		p := *s.Paused
		p.By, p.Why = m.mask(p.By), m.mask(p.Why)
		s.Paused = &p
	}
	s.Waiting = append([]Waiting(nil), s.Waiting...)
	for i, w := range s.Waiting {
		s.Waiting[i].Why = m.mask(w.Why)
	}
	s.Faults = append([]Fault(nil), s.Faults...)
	for i, f := range s.Faults {
		s.Faults[i].Error = m.mask(f.Error)
	}
	return s
}

// masker has the names of the addresses that have come so far.
type masker map[netip.Addr]string

func (m masker) name(a netip.Addr) string {
	a = a.Unmap() // ::ffff:10.0.0.1 is the host 10.0.0.1
	name, ok := m[a]
	if !ok {
		name = "ip" + strconv.Itoa(len(m)+1)
		m[a] = name
	}
	return name
}

// mask replaces the addresses in a text. Once some are replaced, there may be more: what stood in
// one word with them.
func (m masker) mask(text string) string {
	for {
		masked := m.maskOnce(text)
		if len(masked) == len(text) && masked == text {
			return text
		}
		text = masked
	}
}

func (m masker) maskOnce(text string) string {
	var b strings.Builder
	done := 0 // so much of the text is in b
	for i := 0; i < len(text); {
		if !isPart(text[i]) {
			i++
			continue
		}
		end := i
		for end < len(text) && isPart(text[end]) {
			end++
		}
		wordBefore, wordAfter := i > 0 && isLetter(text[i-1]), end < len(text) && isLetter(text[end])
		for _, a := range addresses(text[i:end], wordBefore, wordAfter) {
			b.WriteString(text[done : i+a.begin])
			b.WriteString(m.name(a.Addr))
			done = i + a.end
		}
		i = end
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// isPart reports whether a byte may be a part of an address.
func isPart(c byte) bool {
	return c == '.' || c == ':' || '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// found is an address in a text, and where.
type found struct {
	netip.Addr
	begin, end int
}

// addresses finds the addresses in a run of bytes that may be parts of one. A letter before or
// after it is of the same word.
func addresses(run string, wordBefore, wordAfter bool) []found {
	if strings.Count(run, ":") >= 2 {
		if a, ok := v6(run, wordBefore, wordAfter); ok {
			return []found{a}
		}
	}
	if strings.Count(run, ".") < 3 {
		return nil
	}
	var list []found
	for begin := 0; begin < len(run); {
		n := numbers(run[begin:])
		if n == 0 {
			begin++
			continue
		}
		end := begin + n
		number := strings.TrimRight(run[begin:end], ".")
		if a, err := netip.ParseAddr(number); err == nil && a.Is4() {
			list = append(list, found{a, begin, begin + len(number)})
		}
		begin = end
	}
	return list
}

// numbers returns how many bytes are digits and dots, from a digit on.
func numbers(text string) int {
	if text[0] < '0' || text[0] > '9' {
		return 0
	}
	n := 1
	for n < len(text) && (text[n] == '.' || '0' <= text[n] && text[n] <= '9') {
		n++
	}
	return n
}

// v6 finds the address of IPv6 that a run is, with punctuation around it, or with a port.
func v6(run string, wordBefore, wordAfter bool) (found, bool) {
	begin, end := 0, len(run)
	for begin < end && (run[begin] == '.' || run[begin] == ':' && !strings.HasPrefix(run[begin:end], "::")) {
		begin++
	}
	for end > begin && (run[end-1] == '.' || run[end-1] == ':' && !strings.HasSuffix(run[begin:end], "::")) {
		end--
	}
	if wordBefore && begin == 0 || wordAfter && end == len(run) {
		return found{}, false
	}
	a, err := netip.ParseAddr(run[begin:end])
	if colon := strings.LastIndexByte(run[begin:end], ':'); err != nil && colon >= 0 {
		end = begin + colon // behind all eight numbers there may be a port: Java writes that
		a, err = netip.ParseAddr(run[begin:end])
	}
	return found{a, begin, end}, err == nil && a.Is6() && a != netip.IPv6Unspecified()
}
