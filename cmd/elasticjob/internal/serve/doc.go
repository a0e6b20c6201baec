// Package serve listens for a handler until it is told to end: over TLS, whose certificate may change
// meanwhile, or in the clear on loopback.
//
//	listen ──► serve ──► ctx ends: nobody is accepted any more; streams end at once;
//	                     requests have 10 s, and are cut off then ──► ended
package serve
