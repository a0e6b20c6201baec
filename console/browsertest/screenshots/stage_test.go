package main

import (
	"slices"
	"testing"
)

// What fails ends the work, but not what was to be done at its end; all of it is told.
func TestStage(t *testing.T) {
	var did []string
	err := onStage(func(s *stage) {
		s.Cleanup(func() { did = append(did, "first") })
		s.Cleanup(func() {
			did = append(did, "second")
			s.Fatal("at the end")
		})
		s.Fatalf("in the %s", "middle")
		did = append(did, "after the middle")
	})
	if err == nil || err.Error() != "in the middle\nat the end" {
		t.Errorf("it tells %v", err)
	}
	if want := []string{"second", "first"}; !slices.Equal(did, want) {
		t.Errorf("it did %q, want %q", did, want)
	}
	if err := onStage(func(*stage) {}); err != nil {
		t.Errorf("nothing has failed, and it tells %v", err)
	}
}
