package slogzap_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/elasticjob-go/elasticjob/internal/slogzap"
)

// toSlog and toZap return loggers of the two libraries that write alike: from the level
// info on, as JSON, under the keys of slog.
func toSlog(out *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{AddSource: true}))
}

func toZap(out *bytes.Buffer) *zap.Logger {
	return zap.New(zapcore.NewCore(
		zapcore.NewJSONEncoder(zapcore.EncoderConfig{
			TimeKey: "time", LevelKey: "level", MessageKey: "msg", NameKey: "logger", CallerKey: "source", StacktraceKey: "stacktrace",
			EncodeTime: zapcore.RFC3339NanoTimeEncoder, EncodeLevel: zapcore.CapitalLevelEncoder, EncodeCaller: zapcore.ShortCallerEncoder,
		}), zapcore.AddSync(out), zapcore.InfoLevel))
}

// lines returns what was written, and forgets it.
func lines(t *testing.T, out *bytes.Buffer) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(out.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, fields)
	}
	out.Reset()
	return all
}

// A logger of slog stays one: over zap, and over zap that is over slog again.
func TestHandlers(t *testing.T) {
	var out bytes.Buffer
	for name, log := range map[string]func() *slog.Logger{
		"over zap":       func() *slog.Logger { return slogzap.Slog(toZap(&out)) },
		"there and back": func() *slog.Logger { return slogzap.Slog(slogzap.Zap(toSlog(&out))) },
	} {
		t.Run(name, func(t *testing.T) {
			slogtest.Run(t, func(*testing.T) slog.Handler {
				out.Reset()
				return log().Handler()
			}, func(t *testing.T) map[string]any { return lines(t, &out)[0] })
		})
	}
}

type money struct{ cents int }

func (m money) String() string { return fmt.Sprintf("%d.%02d", m.cents/100, m.cents%100) }

func (m money) MarshalLogObject(to zapcore.ObjectEncoder) error {
	to.AddInt("euros", m.cents/100)
	to.AddInt("cents", m.cents%100)
	return nil
}

func TestFieldsOfZap(t *testing.T) {
	at := time.Date(2024, 2, 29, 12, 0, 0, 5, time.UTC)
	var none *money
	for _, tc := range []struct {
		name  string
		field zap.Field
		want  any // under the key "k"; nil means no field at all
	}{
		{"string", zap.String("k", "v"), "v"},
		{"integer", zap.Int64("k", -7), -7.0},
		{"small integer", zap.Uint8("k", 7), 7.0},
		{"float", zap.Float64("k", 0.5), 0.5},
		{"boolean", zap.Bool("k", true), true},
		{"duration", zap.Duration("k", time.Second), 1e9},
		{"time", zap.Time("k", at), "2024-02-29T12:00:00.000000005Z"},
		{"error", zap.NamedError("k", fmt.Errorf("get a: %w", errors.New("denied"))), "get a: denied"},
		{"no error", zap.NamedError("k", nil), nil},
		{"skipped", zap.Skip(), nil},
		{"stringer", zap.Stringer("k", money{205}), "2.05"},
		{"stringer that is nil", zap.Stringer("k", none), "<nil>"},
		{"strings", zap.Strings("k", []string{"a", "b"}), []any{"a", "b"}},
		{"object", zap.Object("k", money{205}), map[string]any{"euros": 2.0, "cents": 5.0}},
		{"objects", zap.Objects("k", []money{{205}}), []any{map[string]any{"euros": 2.0, "cents": 5.0}}},
		{"dictionary", zap.Dict("k", zap.Dict("in", zap.Int("a", 1))), map[string]any{"in": map[string]any{"a": 1.0}}},
		{"anything", zap.Reflect("k", struct{ A int }{1}), map[string]any{"A": 1.0}},
		{"bytes", zap.Binary("k", []byte{1}), "AQ=="},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			log := slogzap.Zap(toSlog(&out))
			log.Info("given with the line", tc.field)
			log.With(tc.field).Info("given before")
			for _, line := range lines(t, &out) {
				got, ok := line["k"]
				if ok != (tc.want != nil) || !reflect.DeepEqual(got, tc.want) {
					t.Errorf("%s: got %#v (%v), want %#v", line["msg"], got, ok, tc.want)
				}
			}
		})
	}
}

// errorOf keeps the attribute "error" of what it handles.
type errorOf struct {
	slog.Handler
	err error
}

func (e *errorOf) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		e.err, _ = a.Value.Any().(error)
		return true
	})
	return nil
}

func TestErrorStaysAnError(t *testing.T) {
	cause := errors.New("denied")
	seen := &errorOf{Handler: slog.NewTextHandler(io.Discard, nil)}
	slogzap.Zap(slog.New(seen)).Info("x", zap.Error(fmt.Errorf("get a: %w", cause)))
	if !errors.Is(seen.err, cause) {
		t.Errorf("the handler got the error %v", seen.err)
	}
}

func TestNamespacesBecomeGroups(t *testing.T) {
	a, b, c, d := zap.Int("a", 1), zap.Int("b", 2), zap.Int("c", 3), zap.Int("d", 4)
	for _, tc := range []struct {
		name string
		log  func(*zap.Logger)
		want string
	}{
		{"of the line", func(l *zap.Logger) { l.Info("m", a, zap.Namespace("n"), b, zap.Namespace("o"), c) }, `{"a":1,"n":{"b":2,"o":{"c":3}}}`},
		{"of the logger", func(l *zap.Logger) { l.With(a, zap.Namespace("n"), b).With(c).Info("m", d) }, `{"a":1,"n":{"b":2,"c":3,"d":4}}`},
		{"one in another", func(l *zap.Logger) { l.With(zap.Namespace("n")).With(a, zap.Namespace("o")).Info("m", b) }, `{"n":{"a":1,"o":{"b":2}}}`},
		{"with nothing in it", func(l *zap.Logger) { l.With(a, zap.Namespace("n")).Info("m") }, `{"a":1}`},
		{"not of the logger before", func(l *zap.Logger) { l.With(zap.Namespace("n")); l.Info("m", a) }, `{"a":1}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			tc.log(slogzap.Zap(toSlog(&out)))
			got := lines(t, &out)[0]
			for _, key := range []string{"time", "level", "msg", "source"} {
				delete(got, key)
			}
			var want map[string]any
			if err := json.Unmarshal([]byte(tc.want), &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestLevels(t *testing.T) {
	for _, tc := range []struct {
		zap  zapcore.Level
		slog slog.Level
	}{
		{zap.DebugLevel - 1, slog.LevelDebug - 4}, {zap.DebugLevel, slog.LevelDebug}, {zap.InfoLevel, slog.LevelInfo},
		{zap.WarnLevel, slog.LevelWarn}, {zap.ErrorLevel, slog.LevelError}, {zap.DPanicLevel, slog.LevelError + 4},
	} {
		t.Run(tc.zap.String(), func(t *testing.T) {
			var out bytes.Buffer
			least := new(slog.LevelVar)
			log := slogzap.Zap(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: least})))
			for enabled, from := range map[bool]slog.Level{true: tc.slog, false: tc.slog + 1} {
				least.Set(from)
				if got := log.Core().Enabled(tc.zap); got != enabled {
					t.Errorf("enabled from %v on: %v", from, got)
				}
				log.Log(tc.zap, "m")
				if got := lines(t, &out); (len(got) == 1) != enabled || enabled && got[0]["level"] != tc.slog.String() {
					t.Errorf("enabled from %v on: %v", from, got)
				}
			}
		})
	}
}

func TestNameCallerAndStack(t *testing.T) {
	var out bytes.Buffer
	slogzap.Zap(toSlog(&out)).Named("a").Named("b").Error("m")
	got := lines(t, &out)[0]
	if source, ok := got["source"].(map[string]any); !ok || !strings.HasSuffix(fmt.Sprint(source["function"]), t.Name()) {
		t.Errorf("to slog: the source is %v", got["source"])
	}
	if got["logger"] != "a.b" || got["stacktrace"] != nil {
		t.Errorf("to slog: %v", got)
	}
	slogzap.Zap(toSlog(&out)).WithOptions(zap.AddStacktrace(zap.ErrorLevel)).Error("m")
	if got := lines(t, &out)[0]; !strings.Contains(fmt.Sprint(got["stacktrace"]), t.Name()) {
		t.Errorf("to slog: the stack is %v", got["stacktrace"])
	}

	slogzap.Slog(toZap(&out).Named("a").With(zap.String("k", "v"))).Error("m")
	got = lines(t, &out)[0]
	if !strings.HasPrefix(fmt.Sprint(got["source"]), "slogzap/slogzap_test.go:") {
		t.Errorf("to zap: the source is %v", got["source"])
	}
	if got["logger"] != "a" || got["k"] != "v" || got["stacktrace"] != nil {
		t.Errorf("to zap: %v", got)
	}
}

func TestNilIsSilence(t *testing.T) {
	slogzap.Zap(nil).Error("m")
	slogzap.Slog(nil).Error("m")
	if slogzap.Zap(nil).Core().Enabled(zap.ErrorLevel) || slogzap.Slog(nil).Enabled(t.Context(), slog.LevelError) {
		t.Error("a logger that writes nowhere takes lines")
	}
}
