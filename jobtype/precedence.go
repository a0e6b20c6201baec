package jobtype

import "fmt"

// Precedence says which configuration is in force if the program's differs from the
// registry's when a scheduler starts. See job.WithPrecedence.
type Precedence int

// The values of a Precedence.
const (
	// PrecedenceRegistry: the registry's configuration is in force. A warning in the log
	// lists the fields that differ. This is the default.
	PrecedenceRegistry Precedence = iota

	// PrecedenceCode: the program's configuration replaces the registry's if its
	// Config.Revision is larger; that happens once for each revision. Otherwise the
	// registry's stays in force, with a warning if they differ. So the newest one wins, even
	// if old and new processes start at the same time, and an operator's change stays until
	// the next revision. A configuration in the registry that has faults is replaced, too,
	// unless its revision cannot be read: it may be the newer one. Needs a Config.Revision.
	PrecedenceCode

	// PrecedenceNone: the start is refused with ErrConfigDiffers.
	PrecedenceNone
)

func (p Precedence) String() string {
	switch p {
	case PrecedenceRegistry:
		return "PrecedenceRegistry"
	case PrecedenceCode:
		return "PrecedenceCode"
	case PrecedenceNone:
		return "PrecedenceNone"
	}
	return fmt.Sprintf("Precedence(%d)", int(p))
}
