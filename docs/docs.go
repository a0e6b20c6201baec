// Package docs holds the pages of documentation: what the library does, how it is operated, and where to look
// when something is wrong. README.md of this folder is the index.
//
// # How pages are tested
//
// Tests run what the pages show, and README.md at the root. Each fenced block has a language:
//
//	go       a whole program, which is vetted; or declarations, or statements
//	console  commands and what they print, run against etcd; "…" stands for any text, [exit 2] for an exit code
//	yaml     a file, whose name is in the first line (# jobs.yaml); it is read by the package that reads such files
//	sh       what cannot run in a test: bash reads it, and lines that begin with elasticjob are checked against its flags
//	text     anything else; java and xml are for other programs
//
// Statements find ctx, reg (in memory), s (the job settle, which runs), node, cfg (of settle, under another name),
// handler, steer (ops.Ops), db (SQLite) and log (slog), the declarations of their page, and all packages without an import.
// They run for 5 s at most. An error that the next statement does not look at fails the test. Declarations that are tests
// run, too. The name of a file of the page stands for that file.
//
// This checks one page, or the pages of a folder; -drafts allows links to pages that are not written yet:
//
//	go test ./docs -page start/tutorial.md
//	go test ./docs -page start -drafts
//
// The walks, with the elasticjob command against a store, are tested beside the command, and so are its flags:
//
//	go test ./cmd/elasticjob -run TestWalks/docs/start/job-files.md
//	go test ./cmd/elasticjob/internal/command -run Pages
//
// # Translations
//
// The pages below zh are in Chinese. The last line of each names its original, with a hash of it. When the original has
// changed, a test fails until the page is translated again and its hash renewed:
//
//	go test ./docs -run TestTranslations -page zh/start/tutorial.md -renew
package docs

import "embed"

// Pages has all pages and their pictures, by their paths below this folder.
//
//go:embed *.md */*.md */*/*.md images/*.png
var Pages embed.FS
