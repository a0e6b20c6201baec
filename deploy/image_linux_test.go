package deploy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// repository is the build context.
const repository = ".."

// image is what a Dockerfile makes.
type image struct {
	root       string // its file system
	user       int
	entrypoint []string
}

// bases are the images that a stage may begin with, with what of their file system counts here.
var bases = map[string][]string{
	"golang:1.26.8":                    nil,
	"gcr.io/distroless/static:nonroot": {"tmp", "home/nonroot", "etc", "proc", "dev"},
}

// theImage makes the image of the Dockerfile once. It is in a folder that TestMain removes.
var theImage = sync.OnceValues(func() (*image, error) {
	return build(filepath.Join(repository, "Dockerfile"), repository, filepath.Join(scratch, "image"))
})

func anImage(t *testing.T) *image {
	t.Helper()
	_ = os.Getenv("TREE") // by which go test knows whether a result that it has cached is of this tree
	made, err := theImage()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// stage is one of a build.
type stage struct {
	image
	workdir string
	env     []string // of RUN
}

// path returns where a path of the stage is.
func (s *stage) path(name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.workdir, name)
	}
	return filepath.Join(s.root, name)
}

// build carries out a Dockerfile in folders below dir. Commands run on this host with its tools, in the folder that is
// the working directory of the stage, so they have to name what they write by relative paths.
func build(dockerfile, context, dir string) (*image, error) {
	instructions, err := readDockerfile(dockerfile)
	if err != nil {
		return nil, err
	}
	stages := map[string]*stage{}
	var s *stage
	for _, i := range instructions {
		if i.name == "FROM" {
			s = &stage{image: image{root: filepath.Join(dir, strconv.Itoa(i.line))}, workdir: "/"}
			words := i.list()
			if len(words) == 3 && strings.EqualFold(words[1], "AS") {
				stages[words[2]] = s
			}
			err = s.begin(words[0])
		} else if s == nil {
			err = errors.New("there is no FROM before it")
		} else {
			err = s.do(i, context, stages)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", dockerfile, i.line, i.name, err)
		}
	}
	return &s.image, nil
}

func (s *stage) begin(base string) error {
	folders, ok := bases[base]
	if !ok {
		return fmt.Errorf("image %s is not known here", base)
	}
	for _, folder := range append(slices.Clone(folders), ".") {
		if err := os.MkdirAll(filepath.Join(s.root, folder), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) do(i instruction, context string, stages map[string]*stage) (err error) {
	switch i.name {
	case "ARG": // TARGETOS and TARGETARCH are given by the engine
		known := map[string]string{"TARGETOS": "linux", "TARGETARCH": runtime.GOARCH}
		for _, name := range i.list() {
			if known[name] == "" {
				return fmt.Errorf("%s has no value", name)
			}
			s.env = append(s.env, name+"="+known[name])
		}
	case "WORKDIR":
		s.workdir = i.args
		err = os.MkdirAll(s.path("."), 0o755)
	case "COPY":
		err = s.copy(i, context, stages)
	case "RUN":
		cmd := exec.Command("sh", "-c", i.args)
		cmd.Dir = s.path(".")
		// As in the image: the go command stamps the version if there is a repository.
		cmd.Env = append(append(os.Environ(), "GOFLAGS=-buildvcs=auto", "GOWORK="), s.env...)
		var out []byte
		if out, err = cmd.CombinedOutput(); err != nil {
			err = fmt.Errorf("%s: %w: %s", i.args, err, out)
		}
	case "USER":
		user, group, _ := strings.Cut(i.args, ":")
		if s.user, err = strconv.Atoi(user); err == nil && group != user {
			err = fmt.Errorf("group %s; allowed is that of the user, %s", group, user)
		}
	case "ENTRYPOINT":
		if s.entrypoint = i.list(); !strings.HasPrefix(i.args, "[") {
			err = errors.New("not a JSON list: a shell would run it, and get the signals")
		}
	default:
		err = errors.New("this instruction is not known here")
	}
	return err
}

// copy copies files: of the context those that .dockerignore leaves.
func (s *stage) copy(i instruction, context string, stages map[string]*stage) error {
	words := i.list()
	sources, to := words[:len(words)-1], words[len(words)-1]
	keep := func(string) (bool, error) { return true, nil }
	var from = &stage{image: image{root: context}, workdir: "/"}
	if name, ok := i.flags["from"]; ok {
		if from = stages[name]; from == nil {
			return fmt.Errorf("no stage %s", name)
		}
	} else {
		ignored, err := dockerignore(context)
		if err != nil {
			return err
		}
		keep = func(path string) (bool, error) {
			match, err := ignored.MatchesOrParentMatches(path)
			return !match, err
		}
	}
	owner := -1
	if chown, ok := i.flags["chown"]; ok {
		user, _, _ := strings.Cut(chown, ":")
		var err error
		if owner, err = strconv.Atoi(user); err != nil {
			return fmt.Errorf("--chown=%s: the names of users are not known here", chown)
		}
	}
	for _, source := range sources {
		source := from.path(source)
		info, err := os.Stat(source)
		if err != nil {
			return err
		}
		target := s.path(to)
		if !info.IsDir() && strings.HasSuffix(to, "/") {
			target = filepath.Join(target, filepath.Base(source))
		}
		if err := copyTree(source, target, owner, keep); err != nil {
			return err
		}
	}
	return nil
}

func dockerignore(context string) (*patternmatcher.PatternMatcher, error) {
	file, err := os.Open(filepath.Join(context, ".dockerignore"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	patterns, err := ignorefile.ReadAll(file)
	if err != nil {
		return nil, err
	}
	return patternmatcher.New(patterns)
}

// copyTree copies a file or a folder. The owner changes only if root copies.
func copyTree(source, target string, owner int, keep func(path string) (bool, error)) error {
	return filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		if name != "." {
			if kept, err := keep(name); err != nil {
				return err
			} else if !kept && entry.IsDir() {
				return fs.SkipDir // no pattern here brings something within it back
			} else if !kept {
				return nil
			}
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		to := filepath.Join(target, name)
		switch {
		case entry.IsDir():
			err = os.MkdirAll(to, 0o755)
		case info.Mode().IsRegular():
			var content []byte
			if content, err = os.ReadFile(path); err == nil {
				err = os.WriteFile(to, content, info.Mode().Perm())
			}
		case info.Mode()&fs.ModeSymlink != 0:
			var link string
			if link, err = os.Readlink(path); err == nil {
				err = os.Symlink(link, to)
			}
		}
		if err == nil && owner >= 0 && os.Getuid() == 0 {
			err = os.Lchown(to, owner, owner)
		}
		return err
	})
}

func TestImage(t *testing.T) {
	made := anImage(t)
	if made.user == 0 {
		t.Error("the user of the image is root")
	}
	for _, name := range append([]string{"/LICENSES"}, made.entrypoint[0]) {
		if info, err := os.Stat(filepath.Join(made.root, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	box := container{image: made}
	out, err := box.command(t, "version", "-o", "name").Output()
	if err != nil || !strings.HasPrefix(string(out), "v") {
		t.Errorf("version: %q, %v", out, describe(err))
	}
	if out, err := box.command(t, "context", "set", "dev", "--store", "etcd://etcd/shop").CombinedOutput(); err == nil {
		t.Errorf("it could write to the root file system: %s", out)
	}
	box.volumes = []volume{{Target: "/data", Source: volumeOf(t, made, "/data")}}
	add := box.command(t, "console", "user", "add", "anna", "--no-password", "--users", "/data/users.yaml")
	if out, err := add.CombinedOutput(); err != nil {
		t.Errorf("it could not write to a volume: %s, %v", out, err)
	}
}

// describe adds what a program has written to the error that it ended with.
func describe(err error) error {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%w: %s", err, ended.Stderr)
	}
	return err
}

// volumeOf returns a new named volume: with what the image has at its path.
func volumeOf(t *testing.T, of *image, target string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "volume")
	keep := func(string) (bool, error) { return true, nil }
	if err := copyTree(filepath.Join(of.root, target), dir, of.user, keep); err != nil {
		t.Fatal(err)
	}
	return dir
}
