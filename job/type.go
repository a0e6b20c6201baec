package job

import "github.com/elasticjob-go/elasticjob/internal/engine/setup"

// OfType returns the handler of a job whose work is done by a type ([Type]), such as script.New
// returns. The name, of up to 255 bytes, is that of the job's implementation, so
// [WithImplementation] is not needed; with another name it is refused.
func OfType(name string, t Type) Handler { return setup.OfType{Name: name, Type: t} }
