package legacy

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
)

// Choices are each caller's own, and neither many nor old ones are kept.
func TestChoices(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := newChoices(func() time.Time { return now })
	caller := func(n int) *access.Principal { return &access.Principal{Key: fmt.Sprint(n)} }
	choose := func(n int) { c.set(caller(n), func(is *choice) { is.center = fmt.Sprint("center ", n) }) }

	choose(0)
	c.set(caller(0), func(is *choice) { is.source = "past" })
	if got := c.of(caller(0)); got != (choice{"center 0", "past"}) || c.of(caller(1)) != (choice{}) {
		t.Errorf("got %v", got)
	}
	for n := 1; n < maxChoices; n++ {
		now = now.Add(time.Second)
		choose(n)
	}
	now = now.Add(time.Second)
	c.of(caller(0)) // 1 was used longest ago now
	choose(maxChoices)
	if len(c.byKey) != maxChoices || c.of(caller(1)) != (choice{}) || c.of(caller(0)).center == "" || c.of(caller(maxChoices)).center == "" {
		t.Errorf("%d are kept", len(c.byKey))
	}
	now = now.Add(choiceLife + time.Second)
	if c.of(caller(0)) != (choice{}) {
		t.Error("an old choice is kept")
	}
	choose(-1)
	choose(-2)
	if len(c.byKey) != 2 {
		t.Errorf("%d are kept, want the two new ones", len(c.byKey))
	}
}
