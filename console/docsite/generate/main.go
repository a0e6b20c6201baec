// Generate writes the site of the documentation into a folder: see make docs.
package main

import (
	"flag"
	"log"
	"os"
	"path/filepath"

	"github.com/elasticjob-go/elasticjob/console/internal/page"
)

func main() {
	out := flag.String("out", "site", "folder to write to")
	flag.Parse()
	files, err := page.Docs()
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range files {
		file := filepath.Join(*out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
	log.Printf("%d files; open %s", len(files), filepath.Join(*out, "index.html"))
}
