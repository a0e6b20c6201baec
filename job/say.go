package job

// say calls a function that logs. A logger that panics must not keep the caller from going
// on, and there is nowhere to log its panic.
func say(log func()) {
	defer func() { _ = recover() }()
	log()
}
