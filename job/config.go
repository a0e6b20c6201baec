package job

import "github.com/elasticjob-go/elasticjob/jobtype"

// What a program configures a job with: package jobtype says what each field means.
type (
	Config      = jobtype.Config
	Expiry      = jobtype.Expiry
	Retry       = jobtype.Retry
	Toggle      = jobtype.Toggle
	ConfigError = jobtype.ConfigError
	FieldError  = jobtype.FieldError
)

// The values of fields of a [Config].
const (
	On  = jobtype.On
	Off = jobtype.Off

	OverlapWait = jobtype.OverlapWait
	OverlapSkip = jobtype.OverlapSkip

	ErrorHandlerLog    = jobtype.ErrorHandlerLog
	ErrorHandlerIgnore = jobtype.ErrorHandlerIgnore
	ErrorHandlerThrow  = jobtype.ErrorHandlerThrow
)

// ErrInvalidConfig is in the chain of every *ConfigError.
var ErrInvalidConfig = jobtype.ErrInvalidConfig
