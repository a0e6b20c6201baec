package strategy

import "unicode/utf16"

// javaHash is Java's String.hashCode: h = 31·h + c over the UTF-16 code units, in 32 bits that wrap around.
func javaHash(s string) int32 {
	var h int32
	for _, r := range s {
		if r > 0xFFFF {
			high, low := utf16.EncodeRune(r)
			h = 31*(31*h+high) + low
			continue
		}
		h = 31*h + r
	}
	return h
}

// start returns where a job starts in a list of n > 0 instances: the absolute
// value of its name's hash code, modulo n.
func start(job string, n int) int {
	h := int64(javaHash(job)) // -2³¹ has an absolute value only in 64 bits
	return int(max(h, -h) % int64(n))
}
