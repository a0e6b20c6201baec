package health_test

import (
	"maps"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/internal/engine/health"
)

// Each line of a job has its name, once, and whatever else it was given; the program's core
// decides which lines there are.
func TestJobLogger(t *testing.T) {
	core, lines := observer.New(zapcore.InfoLevel)
	program := zap.New(core).With(zap.String("app", "shop"))
	log := health.JobLogger(program, "settle")
	program.Info("of the program")
	log.Debug("not enabled")
	log.Info("plain")
	log.Warn("with a field", zap.Int("items", 3))
	log.With(zap.Int("item", 1)).Error("with context", zap.Bool("last", true))
	want := []map[string]any{
		{"app": "shop"},
		{"app": "shop", "job": "settle"},
		{"app": "shop", "job": "settle", "items": int64(3)},
		{"app": "shop", "job": "settle", "item": int64(1), "last": true},
	}
	all := lines.All()
	if len(all) != len(want) {
		t.Fatalf("%d lines, want %d: %v", len(all), len(want), all)
	}
	for i, line := range all {
		if !maps.Equal(line.ContextMap(), want[i]) || len(line.Context) != len(want[i]) {
			t.Errorf("%s: got %v, want %v", line.Message, line.ContextMap(), want[i])
		}
	}
}
