package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Each scene says what is in testdata, and ends by itself. In virtual time it says so each time.
func TestScenes(t *testing.T) {
	for _, sc := range scenes() {
		t.Run(sc.name, func(t *testing.T) {
			want, err := os.ReadFile("testdata/" + sc.name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				var out strings.Builder
				if err := run(ctx, &out, sc.name); err != nil {
					t.Errorf("%v", err)
				}
				if out.String() != string(want) {
					t.Errorf("it says\n%swant\n%s", &out, want)
				}
			})
		})
	}
}

// Ctrl-C ends any scene, with an error.
func TestScenesAreStopped(t *testing.T) {
	for _, name := range []string{"pause", "overlap"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer stop()
			var out strings.Builder
			if err := run(ctx, &out, name); err == nil {
				t.Errorf("%s has not been stopped:\n%s", name, &out)
			}
		})
	}
}

func TestUnknownScene(t *testing.T) {
	if err := run(t.Context(), &strings.Builder{}, "kill", "none"); err == nil || !strings.Contains(err.Error(), `"none"`) {
		t.Errorf("got %v", err)
	}
}
