// Package exec calls a handler: with its retries and its time-out, within the scopes, listeners and error handlers that the
// program has put around it, and with what a handler may ask of its context.
//
//	e := &exec.Execution{Handler: handler, Session: session, Context: sc, …} // all that its goroutine needs
//	e.Start(ctx, func(end exec.Ending) { … })
//
// From the outside in:
//
//	scopes ► listeners: Before ► attempts, with pauses ► error handlers ► listeners: After ► scopes
//
// Everything here is called by the goroutine of the execution. It shares only [Signals] with the scheduler. What the program
// has given may panic, may end the goroutine, and may not return: listeners are left behind then, a handler is waited for.
package exec
