//go:build linux

package main

import (
	"testing"
	"time"
)

// A small attack goes through all of it. How fast the honest user is answered is for the large one to measure.
func TestFlood(t *testing.T) {
	r, err := attack(t.Context(), plan{streams: 20, connections: 20, bodies: 40, guesses: 2, junk: 3, crumbs: 1000, length: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	r.during.times = r.during.times[:1]
	r.during.times[0] = 0
	if err := r.broken(); err != nil || r.met.streams == 0 || r.met.bodies < 40 || r.met.guesses == 0 || r.met.changes == 0 || r.changed == 0 {
		t.Errorf("%v\n%v", err, r)
	}
}
