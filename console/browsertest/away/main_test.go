package away

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
)

var chromium = browser.New()

func TestMain(m *testing.M) {
	code := m.Run()
	chromium.Close()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
