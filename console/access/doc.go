// Package access says who sends a request to a console, and what he may do.
//
// A [Control] knows people and scripts in five ways, of which the first that a request has counts, right or wrong:
//
//	Authorization: Bearer ej_…  an API token of a user ──────────► rights of both, user and token
//	Access-Token: …             a session ──────┐
//	Authorization: Basic        name, password ─┼─────────────────► rights of the user
//	cookie                      a session ──────┘
//	header of a trusted proxy   a name, and groups ──────────────► rights of the user, and of the groups
//
// Users and tokens are in a [File], which the command changes too. What it says now counts: rights are looked up at each
// request, and nothing else remembers them. Only somebody whom a provider of OpenID Connect knows keeps, as long as his
// session goes on, the rights that he had at the log-in.
//
// # A session
//
//	log-in ──► goes on ──► over: log-out; idle for 30 minutes; 12 hours old; ended by an admin; one too many of its user;
//	             ▲  │            its user removed or disabled, or his password changed
//	             └──┘ a request
//
// Its secret is 256 random bits. The server keeps their hash, also in a file beside that of the users: a session goes on when the
// console is started anew, and at other consoles that have the file in common. Who logs out of one is out of all a moment later.
//
// # A log-in by password
//
//	right a moment ago? ──► a slot is free ──► must he wait? ──► the hash fits ──► in
//	   │ in                     │ ErrBusy        │ ErrLimited      │ ErrRefused, and the next wait grows
//
// The waits grow by address (of IPv6, by /64) and by name. One address alone cannot make a name wait for others. Many can,
// for 30 seconds at most each time; an address from which that user has logged in before does not wait for their failures.
// A name that there is not takes as long as one that there is. One's own password is changed by the old one alone: a
// session that somebody else has got hold of must not become a way in that lasts.
//
// # What is not promised
//
// Limits are those of one process, and do not outlive it; sessions, too, where their file cannot be written. Who can write the users file, or read the memory
// of the process, is an admin. How many users there are, and which kinds of hashes they have, may show in how long
// log-ins take. There is no second factor, and no expiry of passwords: a provider has these.
package access
