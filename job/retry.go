package job

import "errors"

// NoRetry returns an error with which a handler says that another attempt would fail, too:
// the execution fails at once, whatever Config.Retry allows. nil stays nil.
func NoRetry(err error) error {
	if err == nil {
		return nil
	}
	return noRetry{err}
}

type noRetry struct{ error }

func (e noRetry) Unwrap() error { return e.error }

// mayRetry reports whether an error does not come from NoRetry. The methods of an error are
// the user's: they may panic.
func mayRetry(err error) (ok bool) {
	ok = true
	defer func() { _ = recover() }() // then it says nothing of NoRetry
	_, isFinal := errors.AsType[noRetry](err)
	return !isFinal
}
