package coord_test

import (
	"context"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
)

func TestUrgency(t *testing.T) {
	type key struct{}
	if got := coord.UrgencyOf(t.Context()); got != coord.Usual {
		t.Errorf("the default is %d", got)
	}
	for u, want := range map[coord.Urgency]coord.Urgency{
		coord.Usual: coord.Usual, coord.Sooner: coord.Sooner, coord.Soonest: coord.Soonest,
		-5: coord.Usual, 100: coord.Soonest,
	} {
		ctx := context.WithValue(coord.WithUrgency(t.Context(), u), key{}, 1)
		if got := coord.UrgencyOf(ctx); got != want {
			t.Errorf("%d becomes %d, want %d", u, got, want)
		}
		if got := coord.UrgencyOf(coord.WithUrgency(ctx, coord.Sooner)); got != coord.Sooner {
			t.Errorf("the inner urgency is %d", got)
		}
	}
}
