package usage

import "testing"

func TestDidYouMean(t *testing.T) {
	if got := DidYouMean([]string{"a", "b", "c", "d"}); got != `; did you mean "a" or "b" or "c"?` {
		t.Errorf("got %s", got)
	}
}
