package job

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/strategy"
)

// defaultConfig is the one table of defaults, for code, files, operators and what is
// read from the registry. (ElasticJob's differ: what is left out of a file or of the
// registry switches monitorExecution, misfire and reconciliation off there, and on in
// code.) What is not here has its zero value for default.
func defaultConfig() Config {
	return Config{
		MonitorExecution:  On,
		Misfire:           On,
		MisfireTolerance:  time.Second,
		ReconcileInterval: 10 * time.Minute,
		Strategy:          strategy.AvgAllocation,
		ErrorHandler:      ErrorHandlerLog,
		Retry:             Retry{InitialBackoff: time.Second, MaxBackoff: time.Minute},
	}
}

// switchedOff is the one negative duration that WithDefaults leaves, where off is not
// the default.
const switchedOff time.Duration = -1

// WithDefaults returns the configuration that is in force: every field that was left
// out has its default, toggles are On or Off, and a duration is on exactly if it is
// positive. It shares no memory with c.
func (c Config) WithDefaults() Config {
	d := defaultConfig()
	c.MonitorExecution = cmp.Or(c.MonitorExecution, d.MonitorExecution)
	c.Misfire = cmp.Or(c.Misfire, d.Misfire)
	c.MisfireTolerance = cmp.Or(c.MisfireTolerance, d.MisfireTolerance)
	c.MisfireWindow = max(c.MisfireWindow, 0)
	c.MaxTimeDiff = max(c.MaxTimeDiff, 0)
	c.ReconcileInterval = max(cmp.Or(c.ReconcileInterval, d.ReconcileInterval), switchedOff)
	c.Strategy = cmp.Or(c.Strategy, d.Strategy)
	c.ErrorHandler = cmp.Or(c.ErrorHandler, d.ErrorHandler)
	c.Timeout = max(c.Timeout, 0)
	c.Retry.InitialBackoff = max(cmp.Or(c.Retry.InitialBackoff, d.Retry.InitialBackoff), switchedOff)
	c.Retry.MaxBackoff = cmp.Or(c.Retry.MaxBackoff, max(c.Retry.InitialBackoff, d.Retry.MaxBackoff))

	// None and empty are the same.
	c.Listeners = slices.Clone(c.Listeners)
	if len(c.Listeners) == 0 {
		c.Listeners = nil
	}
	c.Props = maps.Clone(c.Props)
	if len(c.Props) == 0 {
		c.Props = nil
	}
	return c
}
