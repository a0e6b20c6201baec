// Package console is the server of a web console: an http.Handler over package ops, for one namespace
// or many, in which every request is authorised and every change audited.
package console
