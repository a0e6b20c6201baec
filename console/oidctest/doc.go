// Package oidctest tests log-ins at a provider that a library makes. It is a module of its own, so that
// users of the console do not get what that requires.
package oidctest
