package etcdserver

import "google.golang.org/grpc"

// WithInterceptor returns the configuration of a server whose requests pass through i.
func (c Config) WithInterceptor(i grpc.UnaryServerInterceptor) Config {
	c.interceptor = i
	return c
}
