package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// result is what a share of the files comes to.
type result struct {
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
	Lines int64  `json:"lines"`
	Sum   string `json:"sum"` // SHA-256 over the paths and the SHA-256 of each file
}

// list returns the files below dir in lexical order, by their slash-separated paths
// relative to it. It leaves out .git and whatever is not a regular file.
func list(dir string) ([]string, error) {
	var files []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == ".git" && path != ".":
			if entry.IsDir() {
				return fs.SkipDir
			}
		case entry.Type().IsRegular():
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	return files, nil
}

// share returns the files of one item. The item of a file depends only on the file's path, so
// instances need not agree on anything.
func share(files []string, item, total int) []string {
	var mine []string
	for _, file := range files {
		h := fnv.New32a()
		h.Write([]byte(file)) // never fails
		if int(h.Sum32()%uint32(total)) == item {
			mine = append(mine, file)
		}
	}
	return mine
}

// count hashes the files of one item and counts their bytes and lines. It takes at least
// the time given, in even steps, so that there is something to see and to interrupt, and
// ends early when ctx does. Before each file it tells how many are done.
func count(ctx context.Context, dir string, item, total int, atLeast time.Duration, progress func(done, files int)) (result, error) {
	begun := time.Now()
	files, err := list(dir)
	if err != nil {
		return result{}, err
	}
	files = share(files, item, total)
	r := result{Files: len(files)}
	sums := sha256.New()
	for i, file := range files {
		progress(i, len(files))
		if err := pause(ctx, time.Until(begun.Add(atLeast*time.Duration(i)/time.Duration(len(files))))); err != nil {
			return result{}, err
		}
		sum, err := r.add(ctx, filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil {
			return result{}, fmt.Errorf("count: %w", err)
		}
		fmt.Fprintf(sums, "%x %s\n", sum, file)
	}
	r.Sum = fmt.Sprintf("%x", sums.Sum(nil))
	return r, pause(ctx, time.Until(begun.Add(atLeast)))
}

// add counts one file in, and returns its hash.
func (r *result) add(ctx context.Context, path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	sum := sha256.New()
	for buffer := make([]byte, 64<<10); ; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		n, err := f.Read(buffer)
		sum.Write(buffer[:n])
		r.Bytes += int64(n)
		r.Lines += int64(bytes.Count(buffer[:n], []byte("\n")))
		if errors.Is(err, io.EOF) {
			return sum.Sum(nil), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
