package engine

import "github.com/elasticjob-go/elasticjob/jobtype"

// The data types of package jobtype, by their short names.
type (
	Config            = jobtype.Config
	ConfigError       = jobtype.ConfigError
	ErrorHandler      = jobtype.ErrorHandler
	ErrorHandlerType  = jobtype.ErrorHandlerType
	Event             = jobtype.Event
	Execution         = jobtype.Execution
	Expiry            = jobtype.Expiry
	Fault             = jobtype.Fault
	FaultKind         = jobtype.FaultKind
	FieldError        = jobtype.FieldError
	Handler           = jobtype.Handler
	HandlerFunc       = jobtype.HandlerFunc
	Listener          = jobtype.Listener
	ListenerError     = jobtype.ListenerError
	LogHandler        = jobtype.LogHandler
	MissingError      = jobtype.MissingError
	Observer          = jobtype.Observer
	OnceListenerFuncs = jobtype.OnceListenerFuncs
	OnceTimes         = jobtype.OnceTimes
	Outcome           = jobtype.Outcome
	PanicError        = jobtype.PanicError
	Pause             = jobtype.Pause
	Properties        = jobtype.Properties
	Requested         = jobtype.Requested
	Retry             = jobtype.Retry
	Scope             = jobtype.Scope
	ShardingContext   = jobtype.ShardingContext
	Source            = jobtype.Source
	Status            = jobtype.Status
	Streamer          = jobtype.Streamer
	SuccessHandler    = jobtype.SuccessHandler
	Tick              = jobtype.Tick
	TickResult        = jobtype.TickResult
	TriggerRequest    = jobtype.TriggerRequest
	Type              = jobtype.Type
	TypeFunc          = jobtype.TypeFunc
	Waiting           = jobtype.Waiting
	Precedence        = jobtype.Precedence
)

const (
	ErrorHandlerIgnore = jobtype.ErrorHandlerIgnore
	ErrorHandlerLog    = jobtype.ErrorHandlerLog
	ErrorHandlerThrow  = jobtype.ErrorHandlerThrow
	Off                = jobtype.Off
	On                 = jobtype.On
	OutcomeCut         = jobtype.OutcomeCut
	OutcomeKilled      = jobtype.OutcomeKilled
	OutcomeOK          = jobtype.OutcomeOK
	OverlapSkip        = jobtype.OverlapSkip
	OverlapWait        = jobtype.OverlapWait
	SourceBackfill     = jobtype.SourceBackfill
	SourceNormal       = jobtype.SourceNormal
	SourceRetry        = jobtype.SourceRetry
	WholeTick          = jobtype.WholeTick

	PrecedenceRegistry = jobtype.PrecedenceRegistry
	PrecedenceCode     = jobtype.PrecedenceCode
	PrecedenceNone     = jobtype.PrecedenceNone
)

var (
	ErrKilled                 = jobtype.ErrKilled
	ErrShutdown               = jobtype.ErrShutdown
	ErrItemLost               = jobtype.ErrItemLost
	ErrItemMoves              = jobtype.ErrItemMoves
	ErrDisabled               = jobtype.ErrDisabled
	ErrListenerTimeout        = jobtype.ErrListenerTimeout
	ErrTooManyTicks           = jobtype.ErrTooManyTicks
	ErrJobRemoved             = jobtype.ErrJobRemoved
	ErrInstanceRemoved        = jobtype.ErrInstanceRemoved
	ErrImplementationConflict = jobtype.ErrImplementationConflict
	ErrKindConflict           = jobtype.ErrKindConflict
)
