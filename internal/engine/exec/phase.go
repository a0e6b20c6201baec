package exec

// Phase is where a run stands.
//
//	queued ──a thread is free──► executing ──handler returns──► done ──record removed──► (gone)
//	   └──taken back (released, shutdown)──────────────────► done
type Phase int

const (
	Queued Phase = iota + 1
	Executing
	Done
)
