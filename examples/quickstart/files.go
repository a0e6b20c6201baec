package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"time"
)

// result is what a share of the files comes to.
type result struct {
	Files int
	Bytes int64
	Sum   string // SHA-256 over the paths and contents
}

// count hashes the files of one item and counts their bytes. It takes at least the time given, in even steps, so that
// there is something to interrupt, and ends early when ctx does.
func count(ctx context.Context, dir string, item, total int, atLeast time.Duration) (result, error) {
	begun := time.Now()
	root := os.DirFS(dir)
	files, err := share(root, item, total)
	if err != nil {
		return result{}, fmt.Errorf("list %s: %w", dir, err)
	}
	r := result{Files: len(files)}
	sum := sha256.New()
	for i, file := range files {
		if err := sleepUntil(ctx, begun.Add(atLeast*time.Duration(i)/time.Duration(len(files)))); err != nil {
			return result{}, err
		}
		fmt.Fprintf(sum, "%s\x00", file)
		n, err := read(root, file, sum)
		if err != nil {
			return result{}, fmt.Errorf("count in %s: %w", dir, err)
		}
		r.Bytes += n
	}
	r.Sum = fmt.Sprintf("%x", sum.Sum(nil))
	return r, sleepUntil(ctx, begun.Add(atLeast))
}

// share returns the files of one item in lexical order, without .git and what is not a regular file. The item of a file
// depends only on the file's path, so instances need not agree on anything.
func share(root fs.FS, item, total int) (files []string, err error) {
	err = fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".git" {
			return fs.SkipDir
		}
		h := fnv.New32a()
		_, _ = io.WriteString(h, path) // never fails
		if err == nil && entry.Type().IsRegular() && int(h.Sum32()%uint32(total)) == item {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

func read(root fs.FS, file string, to io.Writer) (int64, error) {
	f, err := root.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close() // it was only read
	return io.Copy(to, f)
}

func sleepUntil(ctx context.Context, t time.Time) error {
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(t)):
	}
	return context.Cause(ctx)
}
