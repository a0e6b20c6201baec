package browser

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// chromium is one for all tests.
var chromium = New()

func TestMain(m *testing.M) {
	code := m.Run()
	chromium.Close()
	if err := goleak.Find(); err != nil && code == 0 {
		println(err.Error())
		code = 1
	}
	os.Exit(code)
}
