package job

import "github.com/elasticjob-go/elasticjob/jobtype"

// What a program gives to a scheduler, and what it is told. Package jobtype says what each type and its fields mean, and has
// the values that only those who look on tell apart, such as jobtype.EventFinished and jobtype.FaultClock.
type (
	Observer  = jobtype.Observer
	Event     = jobtype.Event
	Execution = jobtype.Execution
	Outcome   = jobtype.Outcome
	Source    = jobtype.Source
	Status    = jobtype.Status
	Pause     = jobtype.Pause
	Waiting   = jobtype.Waiting
	Fault     = jobtype.Fault
	FaultKind = jobtype.FaultKind

	Handler         = jobtype.Handler
	HandlerFunc     = jobtype.HandlerFunc
	ShardingContext = jobtype.ShardingContext
	Properties      = jobtype.Properties
	Type            = jobtype.Type
	TypeFunc        = jobtype.TypeFunc
	Streamer        = jobtype.Streamer
	PanicError      = jobtype.PanicError
	ExecutionError  = jobtype.ExecutionError

	Scope             = jobtype.Scope
	Listener          = jobtype.Listener
	ListenerFuncs     = jobtype.ListenerFuncs
	ListenerError     = jobtype.ListenerError
	OnceListener      = jobtype.OnceListener
	OnceListenerFuncs = jobtype.OnceListenerFuncs
	OnceTimes         = jobtype.OnceTimes
	Tick              = jobtype.Tick
	TickResult        = jobtype.TickResult
	MissingError      = jobtype.MissingError

	ErrorHandler         = jobtype.ErrorHandler
	ErrorHandlerFunc     = jobtype.ErrorHandlerFunc
	ErrorHandlerType     = jobtype.ErrorHandlerType
	ErrorHandlerTypeFunc = jobtype.ErrorHandlerTypeFunc
	SuccessHandler       = jobtype.SuccessHandler
	StateHandler         = jobtype.StateHandler
	JobState             = jobtype.JobState
	InstanceFault        = jobtype.InstanceFault
	Flusher              = jobtype.Flusher

	TriggerRequest = jobtype.TriggerRequest
	Requested      = jobtype.Requested
	ItemResult     = jobtype.ItemResult
)

// The outcomes of an execution.
const (
	OutcomeOK      = jobtype.OutcomeOK
	OutcomeFailed  = jobtype.OutcomeFailed
	OutcomePanic   = jobtype.OutcomePanic
	OutcomeTimeout = jobtype.OutcomeTimeout
	OutcomeCut     = jobtype.OutcomeCut
	OutcomeKilled  = jobtype.OutcomeKilled
	OutcomeSkipped = jobtype.OutcomeSkipped
)

// The sources of an execution.
const (
	SourceNormal   = jobtype.SourceNormal
	SourceMisfire  = jobtype.SourceMisfire
	SourceFailover = jobtype.SourceFailover
	SourceManual   = jobtype.SourceManual
	SourceRetry    = jobtype.SourceRetry
	SourceBackfill = jobtype.SourceBackfill
)

// WholeTick is the Item of a ShardingContext that is about a whole tick.
const WholeTick = jobtype.WholeTick

// NewProperties returns a copy of the map as Properties, for tests of handlers.
func NewProperties(props map[string]string) Properties { return jobtype.NewProperties(props) }

// NoRetry returns an error with which a handler says that another attempt would fail, too: see jobtype.NoRetry.
func NoRetry(err error) error { return jobtype.NoRetry(err) }
