package jobtype

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/strategy"
)

// defaultConfig is the only table of defaults: for code, for operators, and for documents
// in the registry. (ElasticJob has several: monitorExecution, misfire and reconciliation are
// on by default in code, and off if a document leaves them out.) The default of any other
// field is its zero value.
func defaultConfig() Config {
	return Config{
		MonitorExecution:  On,
		Misfire:           On,
		MisfireTolerance:  time.Second,
		ReconcileInterval: 10 * time.Minute,
		Strategy:          strategy.AvgAllocation,
		ErrorHandler:      ErrorHandlerLog,
		Overlap:           OverlapWait,
		Retry:             Retry{InitialBackoff: time.Second, MaxBackoff: time.Minute},
	}
}

// switchedOff stands for every negative duration after WithDefaults, in fields whose
// default is not off.
const switchedOff time.Duration = -1

// WithDefaults returns the configuration that is in force: fields that were left out have
// their defaults, toggles are On or Off, and a duration of which negative is off has one
// negative value. It shares no memory with c.
func (c Config) WithDefaults() Config {
	d := defaultConfig()
	c.MonitorExecution = cmp.Or(c.MonitorExecution, d.MonitorExecution)
	c.Misfire = cmp.Or(c.Misfire, d.Misfire)
	c.MisfireTolerance = cmp.Or(c.MisfireTolerance, d.MisfireTolerance)
	c.Expiry.At = c.Expiry.At.Round(0).UTC() // equal moments are equal values
	c.MaxTimeDiff = max(c.MaxTimeDiff, 0)
	c.ReconcileInterval = max(cmp.Or(c.ReconcileInterval, d.ReconcileInterval), switchedOff)
	c.Strategy = cmp.Or(c.Strategy, d.Strategy)
	c.ErrorHandler = cmp.Or(c.ErrorHandler, d.ErrorHandler)
	c.Overlap = cmp.Or(c.Overlap, d.Overlap)
	if c.Broadcast {
		c.ShardingTotalCount = cmp.Or(c.ShardingTotalCount, DefaultBroadcastCount)
	}
	c.Retry.InitialBackoff = max(cmp.Or(c.Retry.InitialBackoff, d.Retry.InitialBackoff), switchedOff)
	c.Retry.MaxBackoff = cmp.Or(c.Retry.MaxBackoff, max(c.Retry.InitialBackoff, d.Retry.MaxBackoff))

	// nil and empty mean the same.
	if c.MoreCrons = slices.Clone(c.MoreCrons); len(c.MoreCrons) == 0 {
		c.MoreCrons = nil
	}
	if c.Calendars = slices.Clone(c.Calendars); len(c.Calendars) == 0 {
		c.Calendars = nil
	}
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
