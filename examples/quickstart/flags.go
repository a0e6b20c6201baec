package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// settings are what the command line says, and the pace of the show.
type settings struct {
	store store // without servers, etcd within this process
	dir   string
	items int

	every    time.Duration // the job fires
	atLeast  time.Duration // an item takes
	scene    int           // ticks for each part of the show
	patience time.Duration // how long the show waits for something that has to happen
}

// watchable is the pace of the show, slow enough for people to watch.
func watchable() settings {
	return settings{every: 2 * time.Second, atLeast: time.Second, scene: 3, patience: 30 * time.Second}
}

// Bounds of what is a demonstration rather than work.
const (
	maxItems = 32
	maxFiles = 20_000
	maxBytes = 1 << 30
)

const usage = `Usage: go run ./examples/quickstart [flags]

Runs a sharded cron job for about 20 seconds, in processes of their own that are killed,
leave and join meanwhile, and checks afterwards that everything ran once.
Nothing has to be installed: unless told otherwise, it brings its own etcd.

Flags:
`

// parse reads the command line. What it says to people goes to out.
func parse(args []string, out io.Writer) (settings, error) {
	s := watchable()
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are returned
	flags.StringVar(&s.dir, "dir", ".", "count the files below this `folder`, without .git; nobody should write there meanwhile")
	flags.IntVar(&s.items, "items", 8, fmt.Sprintf("split the work into so many sharding items, 1 to %d", maxItems))
	flags.StringVar(&s.store.Kind, "store", etcdStore, "keep the registry in `etcd or zookeeper`")
	servers := flags.String("servers", "", "`host:port,…` of a store that is running; without it, etcd is started within this program")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(out, usage)
		flags.SetOutput(out)
		flags.PrintDefaults()
		return s, err
	}
	if err != nil {
		return s, fmt.Errorf("%w; -h lists what is allowed", err)
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("argument %q: flags only are allowed; -h lists them", flags.Arg(0))
	}
	if s.store.Servers, err = parseServers(*servers); err != nil {
		return s, err
	}
	switch {
	case s.store.Kind != etcdStore && s.store.Kind != zookeeperStore:
		return s, fmt.Errorf("-store %q: %s or %s is allowed", s.store.Kind, etcdStore, zookeeperStore)
	case s.store.Kind == zookeeperStore && len(s.store.Servers) == 0:
		return s, fmt.Errorf("-store %s needs -servers host:port,… of a ZooKeeper that is running", zookeeperStore)
	case s.items < 1 || s.items > maxItems:
		return s, fmt.Errorf("-items %d: 1 to %d are allowed", s.items, maxItems)
	}
	if s.dir, err = parseDir(s.dir); err != nil {
		return s, err
	}
	return s, nil
}

func parseServers(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	servers := strings.Split(text, ",")
	for i, server := range servers {
		servers[i] = strings.TrimSpace(server)
		host, port, err := net.SplitHostPort(servers[i])
		number, numberErr := strconv.Atoi(port)
		if err != nil || numberErr != nil || host == "" || number < 1 || number > 65535 {
			return nil, fmt.Errorf("-servers %q: host:port is allowed, several with commas between them", server)
		}
	}
	return servers, nil
}

// parseDir checks that the folder is one that can be counted again and again.
func parseDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("-dir: %w", err)
	}
	files, err := list(dir)
	if err != nil {
		return "", fmt.Errorf("-dir: %w", err)
	}
	if len(files) == 0 || len(files) > maxFiles {
		return "", fmt.Errorf("-dir %s: has %d files, 1 to %d are allowed", dir, len(files), maxFiles)
	}
	var size int64
	for _, file := range files {
		info, err := os.Stat(filepath.Join(dir, file))
		if err != nil {
			return "", fmt.Errorf("-dir: %w", err)
		}
		size += info.Size()
	}
	if size > maxBytes {
		return "", fmt.Errorf("-dir %s: has %d MiB, up to %d are allowed", dir, size>>20, maxBytes>>20)
	}
	return dir, nil
}
