// Package compress has answers and streams of events compressed by gzip, for clients that take it.
//
//	compress.Answer(w, r, func(w http.ResponseWriter) { … }) // if it is large
//	handler = compress.Stream(handler)                       // each event by itself, as soon as it is written
package compress
