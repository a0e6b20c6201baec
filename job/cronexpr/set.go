package cronexpr

import "math/bits"

// set is a set of small numbers, one bit each. The largest number in use is 59.
type set uint64

func setOf(lo, hi int) set {
	return (set(1)<<(hi-lo+1) - 1) << lo
}

func (s *set) add(i int)     { *s |= 1 << i }
func (s set) has(i int) bool { return s>>i&1 != 0 }
func (s set) first() int     { return bits.TrailingZeros64(uint64(s)) }
func (s set) last() int      { return bits.Len64(uint64(s)) - 1 }

// next returns the smallest member that is at least i, or -1.
func (s set) next(i int) int {
	if s = s >> i << i; s == 0 {
		return -1
	}
	return s.first()
}

// prev returns the largest member that is at most i, or -1. i may be -1.
func (s set) prev(i int) int {
	return (s & (1<<(i+1) - 1)).last()
}

// The first and the last year of every schedule.
const (
	minYear = 1970
	maxYear = 2099
)

// yearSet holds years from minYear to maxYear.
type yearSet [(maxYear-minYear)/64 + 1]set

func (s *yearSet) add(year int) {
	i := year - minYear
	s[i/64].add(i % 64)
}

// next returns the first member that is not before year, or -1.
func (s *yearSet) next(year int) int {
	for i := max(year-minYear, 0); i/64 < len(s); i = (i/64 + 1) * 64 {
		if bit := s[i/64].next(i % 64); bit >= 0 {
			return minYear + i/64*64 + bit
		}
	}
	return -1
}

// prev returns the last member that is not after year, or -1.
func (s *yearSet) prev(year int) int {
	for i := min(year, maxYear) - minYear; i >= 0; i = i/64*64 - 1 {
		if bit := s[i/64].prev(i % 64); bit >= 0 {
			return minYear + i/64*64 + bit
		}
	}
	return -1
}
