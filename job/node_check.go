package job

// Check says whether a job of this node would take a configuration: an error is the one that
// [Node.Schedule] would return for it. It asks the types, error handlers,
// listeners and strategies of this process, and nobody else. So a program may look at a
// configuration before it comes into the registry, where all instances would refuse it.
func (n *Node) Check(c Config, h Handler, opts ...Option) error {
	o, err := n.optionsWith(opts)
	if err != nil {
		return err
	}
	_, err = o.Prepare(c, h)
	return err
}
