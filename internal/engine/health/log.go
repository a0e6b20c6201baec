package health

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// JobLogger returns a logger whose lines have the name of the job. A job logs seldom, and most encoders hold 1 KB
// from the moment at which they are given a field. So the field is given anew for each line, and not kept.
func JobLogger(l *zap.Logger, job string) *zap.Logger {
	field := zap.String("job", job)
	return l.WithOptions(zap.WrapCore(func(to zapcore.Core) zapcore.Core { return jobCore{to, field} }))
}

// jobCore adds a field to each line that its core writes.
type jobCore struct {
	zapcore.Core
	field zapcore.Field
}

// Check implements [zapcore.Core].
func (c jobCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !c.Enabled(entry.Level) {
		return checked
	}
	return c.With(nil).Check(entry, checked)
}

// With implements [zapcore.Core].
func (c jobCore) With(fields []zapcore.Field) zapcore.Core {
	return c.Core.With(append([]zapcore.Field{c.field}, fields...))
}
