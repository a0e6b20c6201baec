// Package guard stands around the table of routes. What is wrong with a request before it is known who
// has sent it is refused here, and what a handler does wrong does not get out.
//
//	request ─► id, headers ─► a free place? ─► its length ─► its host ─► its origin ─► body, time ─► table
//	               │              │ 429, 503       │ 413, 431    │ 421        │ 403                      │
//	               └──── log, metrics ◄── answer ◄─┴─────────────┴────────────┴───── panic: 500 ◄────────┘
//
// All refusals are told by the Fail of the route that was asked for, so in its own format.
//
// What is bounded: requests and streams at the same time, in all and by address (IPv6: by /64); apart from them
// requests with a body that need no log-in, because whoever sends one slowly keeps its place; path and query; headers;
// the body, in bytes and time; the time of the whole, and of each write of a stream. An answer that nobody reads ends
// by the deadline of its connection. A handler that ignores its context is not ended.
//
// What the log has of a request: method, path without query, route, status, time, bytes, user, address, id,
// and why the guard has refused it. No header, no query and no body.
package guard
