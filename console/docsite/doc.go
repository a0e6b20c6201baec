// Package docsite reads the pages of docs/ and makes a site of them: HTML that needs no server, with a search, each
// page's plain Markdown beside it, and llms.txt, the index for language models (llmstxt.org).
//
// The console serves the same files at /docs/. All links are relative and name files, so the site works from file://,
// too. Nothing in it violates the console's content security policy: no inline script and no inline style.
package docsite
