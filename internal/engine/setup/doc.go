// Package setup says what a configuration means in this process: which handler, strategy,
// listeners and error handlers its names stand for.
//
//	settings, err := options.Prepare(config, handler)
//
// [Options] are what a program sets for a process. [Settings] are a configuration with what it
// stands for; whoever has them only reads them. A configuration that a process cannot follow, because
// it does not know a name, say, is refused as a whole, with all that is wrong in one error.
//
// The package also says who wins if the program and the registry have different configurations
// ([Replaces], [Keep]).
package setup
