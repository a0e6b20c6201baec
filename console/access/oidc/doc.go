// Package oidc lets users of an OpenID Connect provider log in to a console: authorization code with PKCE.
//
// A log-in goes through two requests, and the browser carries what lies between them in a sealed cookie:
//
//	browser            console                              provider
//	GET login?return=/x
//	   ─────────────────▶ state, nonce, verifier → cookie
//	   ◀──── 303 to the provider: state, nonce, SHA-256 of the verifier
//	   ──────────────────────────────────────────────────────▶ who is it?
//	   ◀───────────────────────────── 303 to callback: code, state
//	GET callback
//	   ─────────────────▶ cookie and state belong together?
//	                      code, verifier, client secret ─────▶
//	                      ◀───────────────────────── ID token
//	                      signature, iss, aud, azp, exp, nonce, at_hash
//	                      claims → name and grants → session
//	   ◀──── 303 to /x
//
// Whatever does not fit ends the log-in with a plain text, and nothing is kept: a log-in starts from the
// beginning, never from its middle. What the provider is like is asked when the first user comes, so a
// provider that is away does not hinder the start of a console; while it stays away it is asked again
// after 1 s, then 2 s, up to 1 min, and users are told so meanwhile.
//
// A name begins with "oidc:", and so is never that of a user whom the console knows itself: names of users
// own tokens.
//
// What is not promised: Grants are those at the time of the log-in; who leaves a group at the provider
// keeps them until the session ends. A second log-in of the same browser ends the first that is under
// way. Log-ins that are under way do not outlive the process, nor may another process finish them: the
// key of the cookie is random.
package oidc
