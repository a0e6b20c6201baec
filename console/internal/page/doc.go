// Package page serves the pages of the console: documents with the frame of each page, and the modules,
// styles and words that fill it. Everything that a page shows comes from /api/v1, in the name of who looks.
//
//	GET /namespaces/orders/jobs ─► may he? ─► frame.html: title, navigation, facts, words of this page
//	                                 │ 401: the log-in, at the same address
//	    assets/HASH/pages/jobs.js ◄──┘ the browser has it already, or keeps it for a year
//
// # To add a page
//
// It is a row of [sites], a module app/pages/NAME.js, and texts in words/en/NAME.json and words/zh/NAME.json.
// Nothing is built: modules are plain JavaScript with types in comments, which "make types" checks.
//
//   - app/dom.js draws: a view is a function of the state; app/api.js asks the API; app/live.js listens to it, and
//     app/poll.js asks again for what no stream tells; app/actions.js changes things.
//   - A text of a page is a key, FILE.NAME, of words/LANGUAGE/FILE.json. A document has the words of those files
//     alone that the modules of its page name, so a key is written as a literal: w("jobs.title"), term("status", s).
//   - style/*.css are one file, in the order of their names. NAME.css counts on the pages that have a module NAME.js or
//     NAME-….js; one without such a module counts everywhere.
//
// Below /docs/ are the pages of the documentation, which package docsite makes; [Docs] has them as files. app/facts.js
// links faults, findings and fields of a configuration to them.
//
// # What is promised
//
//   - A page loads nothing from elsewhere, has no script and no style inside, and no data of a job but its name and that of
//     its namespace, as they stand in the address.
//   - All links are relative, so that a proxy may show the console below any path.
//   - Assets are addressed by their content: a new version of the console is never mixed with an old one's.
package page
