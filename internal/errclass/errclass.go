// Package errclass gives sentinel errors a class where they are defined. The HTTP statuses of the console and the exit
// codes of the command follow from it, by a table each.
//
//	var ErrNoJob = errclass.NotFound.New("no-job", "ops: no such job")
package errclass

// Class is what kind of failure an error is, mostly in the words of gRPC's status codes.
type Class string

const (
	InvalidArgument    Class = "InvalidArgument"    // what was asked for is never allowed
	OutOfRange         Class = "OutOfRange"         // it is larger than what takes it
	NotFound           Class = "NotFound"           // there is no such thing
	AlreadyExists      Class = "AlreadyExists"      // there is one already
	FailedPrecondition Class = "FailedPrecondition" // the state does not allow it
	Aborted            Class = "Aborted"            // somebody else has changed it since it was read
	Busy               Class = "Busy"               // a lock, or each of so many places, is taken at present
	Unauthenticated    Class = "Unauthenticated"    // nobody knows who asks
	PermissionDenied   Class = "PermissionDenied"   // the store does not allow it to this process
	ResourceExhausted  Class = "ResourceExhausted"  // who asks has done so too often
	Unavailable        Class = "Unavailable"        // the store, a database or the program itself does not answer now
	Unimplemented      Class = "Unimplemented"      // this version of the store cannot do it
)

// New returns a sentinel error of the class. code is what the console's API calls it; without one, clients of the API
// are not told the error.
func (c Class) New(code, text string) error { return &Error{c, code, text} }

// Error is a sentinel error with its class.
type Error struct {
	Class      Class
	Code, text string
}

func (e *Error) Error() string { return e.text }

// Coded returns the first error in a chain that has a code; nil if there is none.
func Coded(err error) *Error {
	switch e := err.(type) {
	case *Error:
		if e.Code != "" {
			return e
		}
	case interface{ Unwrap() error }:
		return Coded(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			if found := Coded(one); found != nil {
				return found
			}
		}
	}
	return nil
}
