package job

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// An instance whose clock is far off has no items, and does not lead, as long as somebody's
// clock is right; where nobody's is, all go on.
func TestClockFarOff(t *testing.T) {
	const far = "clockFar: true\n"
	tests := []struct {
		name     string
		own      bool              // the clock of A is far off
		others   map[string]string // documents of sessions
		stops    bool
		eligible []string
	}{
		{"all are right", false, map[string]string{"B": ""}, false, []string{"A", "B"}},
		{"own is off", true, map[string]string{"B": ""}, true, []string{"B"}},
		{"another's is off", false, map[string]string{"B": far}, false, []string{"A"}},
		{"the store's is off", true, map[string]string{"B": far}, false, []string{"A", "B"}},
		{"it is alone", true, nil, false, []string{"A"}},
		{"whose clock is right refuses the configuration", true, map[string]string{"B": "refused: 1001\n"}, false, []string{"A"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := given(t).members("A")
			for id, document := range tt.others {
				f.members(id).put("sessions/"+id, document)
			}
			w := f.world("A")
			w.clockFar = tt.own
			if id := "B"; w.Sessions[id].Refused != 0 {
				w.Config.Modified = w.Sessions[id].Refused
			}
			if w.clockStops() != tt.stops || w.mayLead() == tt.stops {
				t.Errorf("stops %v, may lead %v", w.clockStops(), w.mayLead())
			}
			var got []string
			for _, in := range w.available() {
				got = append(got, in.ID)
			}
			if len(got) != len(tt.eligible) || got[0] != tt.eligible[0] {
				t.Errorf("%v may have items, want %v", got, tt.eligible)
			}
		})
	}
}

func TestCompareClocks(t *testing.T) {
	tests := []struct {
		ahead, allowed time.Duration
		off, far       bool
	}{
		{ahead: 4 * time.Second},
		{ahead: 4 * time.Second, allowed: 2 * time.Second, off: true},
		{ahead: -4 * time.Second, allowed: 2 * time.Second, off: true},
		{ahead: 11 * time.Second, far: true},
		{ahead: -11 * time.Second, allowed: time.Minute, far: true},
	}
	for _, tt := range tests {
		local := time.Now()
		w := &world{now: local, clock: coord.NewClock(local, local.Add(-tt.ahead), 0)}
		if off, far := w.compareClocks(tt.allowed); off != tt.off || far != tt.far {
			t.Errorf("%v ahead, %v allowed: off %v, far %v", tt.ahead, tt.allowed, off, far)
		}
	}
}

// Only a leader whose clock agrees with the store's may say what is from the future.
func TestRewind(t *testing.T) {
	const year = 365 * 24 * time.Hour
	tests := []struct {
		name          string
		fired         time.Duration // from now
		local         time.Duration // of the local clock, from the store's
		known, rewind bool
	}{
		{"a year ahead", year, 0, true, true},
		{"as early as a clock that is ahead begins it", farTolerance, 0, true, false},
		{"the store's clock is not known", year, 0, false, false},
		{"the local clock is far off", year, -year, true, false},
		{"both are behind the record, and do not agree", time.Minute, -time.Minute, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := given(t).members("A").leader("A").deal("A", "A", "A")
			store := time.Now()
			f.put("sharding/1/fired", store.Add(tt.fired).UTC().Format(time.RFC3339))
			f.now = store.Add(tt.local)
			w := f.world("A")
			if tt.known {
				w.clock = coord.NewClock(store, store, 0)
			}
			_, w.clockFar = w.compareClocks(0)
			if got := len(w.rewind()) > 0; got != tt.rewind {
				t.Errorf("rewinds: %v", got)
			}
		})
	}
}
