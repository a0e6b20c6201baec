package job

import (
	"maps"
	"slices"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// mixedTold is the configuration that was last looked at for what JVM members do otherwise; 0 while
// there are none. tellMixed changes it.
type mixedTold int64

// tellMixed tells in the log what JVM members of the job do otherwise: when they come, and when
// the configuration changes meanwhile.
func (c *controller) tellMixed(w *decide.World) {
	id := w.AnyJVM()
	if id == "" || w.Config == nil {
		c.mixedTold = 0
		return
	}
	if c.mixedTold == mixedTold(w.Config.Modified) {
		return
	}
	c.mixedTold = mixedTold(w.Config.Modified)
	issues, err := MixedIn(w.Config.Value)
	if err != nil {
		return // the fault of the configuration says so
	}
	for _, i := range append(issues, MixedServers(slices.Collect(maps.Keys(w.Servers)))...) {
		fields := []zap.Field{zap.String("member", id), zap.String("field", i.Field), zap.String("does", i.Does), zap.String("advice", i.Advice)}
		if i.Harm == "" {
			c.log.Info("JVM members do something otherwise", fields...)
			continue
		}
		c.log.Warn("JVM members do something otherwise, with harm", append(fields, zap.String("harm", i.Harm))...)
	}
}
