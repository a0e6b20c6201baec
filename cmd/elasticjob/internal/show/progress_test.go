package show_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
)

// A bar does not show each step, but the last one, and it leaves nothing behind.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		p := show.NewProgress(&out, "moving")
		for n := range 100 {
			p.At(n, 0) // of nobody knows how many
		}
		if got := out.String(); got != "\r\x1b[Kmoving: 0" {
			t.Errorf("%q", got)
		}
		out.Reset()
		time.Sleep(time.Second)
		p.At(1, 3)
		p.At(2, 3)
		p.At(3, 3)
		p.End()
		if got := out.String(); strings.Count(got, "moving [") != 2 || !strings.HasSuffix(got, "] 3 of 3\r\x1b[K") {
			t.Errorf("%q", got)
		}
		none := show.NewProgress(nil, "moving")
		none.At(1, 1)
		none.End()
	})
}
