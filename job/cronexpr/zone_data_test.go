package cronexpr_test

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"
)

// change is an instant from which a made-up zone has another offset.
type change struct {
	at     string // RFC 3339
	offset time.Duration
}

// newZone makes a zone that is ahead of UTC by offset until the first change.
// After the last one it follows rule, a POSIX TZ string, if that is not empty.
// The tests make their zones because those of the machine, and the laws behind
// them, may change.
func newZone(t testing.TB, name string, offset time.Duration, rule string, changes ...change) *time.Location {
	t.Helper()
	// RFC 8536, version 2: an empty block for version 1, a header with counts
	// (UT/local, standard/wall, leap seconds, changes, types, characters),
	// instants, type numbers, types, names, footer.
	var data bytes.Buffer
	header := func(counts ...uint32) {
		data.WriteString("TZif2")
		data.Write(make([]byte, 15))
		write(t, &data, counts)
	}
	header(0, 0, 0, 0, 0, 0)
	n := len(changes)
	header(0, 0, 0, uint32(n), uint32(n+1), 4)
	types := []time.Duration{offset}
	for _, c := range changes {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		write(t, &data, at.Unix())
		types = append(types, c.offset)
	}
	for i := range changes {
		data.WriteByte(byte(i + 1))
	}
	for _, offset := range types {
		write(t, &data, int32(offset/time.Second))
		data.Write([]byte{0, 0}) // not daylight saving, named by the characters from 0
	}
	data.WriteString("LMT\x00\n" + rule + "\n")

	loc, err := time.LoadLocationFromTZData(name, data.Bytes())
	if err != nil {
		t.Fatalf("zone %s: %v", name, err)
	}
	return loc
}

func write(t testing.TB, data *bytes.Buffer, value any) {
	t.Helper()
	if err := binary.Write(data, binary.BigEndian, value); err != nil {
		t.Fatal(err)
	}
}

// newYork has the rules that have been in force since 2007, and no daylight
// saving before.
func newYork(t testing.TB) *time.Location {
	return newZone(t, "America/New_York", -5*time.Hour, "EST5EDT,M3.2.0,M11.1.0",
		change{"2006-10-29T06:00:00Z", -5 * time.Hour})
}

// lordHowe has the rules that have been in force since 2008, half an hour of
// daylight saving, and none before.
func lordHowe(t testing.TB) *time.Location {
	return newZone(t, "Australia/Lord_Howe", 10*time.Hour+30*time.Minute, "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
		change{"2008-04-05T15:00:00Z", 10*time.Hour + 30*time.Minute})
}

func shanghai() *time.Location { return time.FixedZone("Asia/Shanghai", 8*60*60) }
func kolkata() *time.Location  { return time.FixedZone("Asia/Kolkata", 5*60*60+30*60) }
