package urgency_test

import (
	"context"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

func TestUrgency(t *testing.T) {
	type key struct{}
	if got := urgency.Of(t.Context()); got != urgency.Usual {
		t.Errorf("the default is %d", got)
	}
	for u, want := range map[urgency.Level]urgency.Level{
		urgency.Usual: urgency.Usual, urgency.Sooner: urgency.Sooner, urgency.Soonest: urgency.Soonest,
		-5: urgency.Usual, 100: urgency.Soonest,
	} {
		ctx := context.WithValue(urgency.With(t.Context(), u), key{}, 1)
		if got := urgency.Of(ctx); got != want {
			t.Errorf("%d becomes %d, want %d", u, got, want)
		}
		if got := urgency.Of(urgency.With(ctx, urgency.Sooner)); got != urgency.Sooner {
			t.Errorf("the inner urgency is %d", got)
		}
	}
}
