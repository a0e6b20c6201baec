// Package slogzap joins the two loggers that programs use: what is written for the one
// goes to the other.
package slogzap

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Zap returns a logger whose lines go to the handler of to. nil means silence.
//
// The handler decides which levels are enabled. An error stays an error, under its
// key; a namespace becomes a group. A logger's name and a stack trace are the
// attributes "logger" and "stacktrace".
func Zap(to *slog.Logger) *zap.Logger {
	if to == nil {
		return zap.NewNop()
	}
	return zap.New(core{to.Handler()}, zap.AddCaller()) // slog, too, knows the caller of every line
}

// core implements [zapcore.Core] on a handler of slog.
type core struct{ to slog.Handler }

// Enabled implements [zapcore.Core].
func (c core) Enabled(l zapcore.Level) bool {
	return c.to.Enabled(context.Background(), level(l))
}

// Check implements [zapcore.Core].
func (c core) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !c.Enabled(entry.Level) {
		return checked
	}
	return checked.AddCore(entry, c)
}

// With implements [zapcore.Core].
func (c core) With(fields []zapcore.Field) zapcore.Core {
	before, group, after, grouped := cutNamespace(fields)
	with := c
	if given := attrs(before); len(given) > 0 {
		with.to = with.to.WithAttrs(given)
	}
	if !grouped {
		return with
	}
	with.to = with.to.WithGroup(group)
	return with.With(after)
}

// Write implements [zapcore.Core].
func (c core) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	var pc uintptr
	if entry.Caller.Defined {
		pc = entry.Caller.PC + 1 // slog expects the return address, which is behind the call
	}
	record := slog.NewRecord(entry.Time, level(entry.Level), entry.Message, pc)
	if entry.LoggerName != "" {
		record.AddAttrs(slog.String("logger", entry.LoggerName))
	}
	record.AddAttrs(attrs(fields)...)
	if entry.Stack != "" {
		record.AddAttrs(slog.String("stacktrace", entry.Stack))
	}
	return c.to.Handle(context.Background(), record)
}

// Sync implements [zapcore.Core]. A handler of slog has nothing that could be flushed.
func (c core) Sync() error { return nil }

// level returns the level of slog that has the same name: slog has four steps from one
// name to the next. Those above error have no name there, but keep their order.
func level(l zapcore.Level) slog.Level { return 4 * slog.Level(l) }

// cutNamespace divides fields at the first one that opens a namespace.
func cutNamespace(fields []zapcore.Field) (before []zapcore.Field, name string, after []zapcore.Field, found bool) {
	for i, f := range fields {
		if f.Type == zapcore.NamespaceType {
			return fields[:i], f.Key, fields[i+1:], true
		}
	}
	return fields, "", nil, false
}

// attrs returns the fields as attributes: those in a namespace as a group.
func attrs(fields []zapcore.Field) []slog.Attr {
	before, group, after, grouped := cutNamespace(fields)
	all := make([]slog.Attr, 0, len(before)+1)
	for _, f := range before {
		all = appendField(all, f)
	}
	if grouped {
		all = append(all, slog.GroupAttrs(group, attrs(after)...))
	}
	return all
}

// appendField appends one field. Only what zap alone can turn into a value goes through
// its encoder: objects, arrays, and what has a String method.
func appendField(all []slog.Attr, f zapcore.Field) []slog.Attr {
	switch f.Type {
	case zapcore.SkipType:
		return all
	case zapcore.StringType:
		return append(all, slog.String(f.Key, f.String))
	case zapcore.Int64Type:
		return append(all, slog.Int64(f.Key, f.Integer))
	case zapcore.ErrorType, zapcore.ReflectType:
		return append(all, slog.Any(f.Key, f.Interface))
	}
	encoder := zapcore.NewMapObjectEncoder()
	f.AddTo(encoder)
	return append(all, sorted(encoder.Fields)...)
}

// sorted returns a map as attributes in the order of their keys, so that lines of one
// kind look alike.
func sorted(fields map[string]any) []slog.Attr {
	all := make([]slog.Attr, 0, len(fields))
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if object, ok := fields[key].(map[string]any); ok {
			all = append(all, slog.GroupAttrs(key, sorted(object)...))
		} else {
			all = append(all, slog.Any(key, fields[key]))
		}
	}
	return all
}
