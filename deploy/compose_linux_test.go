package deploy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// project returns what compose.yaml says, in an environment without variables: nobody has to set one.
//
// Others come on top of it.
func project(t *testing.T, others ...types.ConfigFile) *types.Project {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(repository, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: filepath.Dir(path), ConfigFiles: append([]types.ConfigFile{{Filename: path}}, others...), Environment: types.Mapping{},
	}, func(o *loader.Options) { o.SetProjectName("elasticjob", false) })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// programs are those in images that are not built here.
var programs = map[string][]string{"quay.io/coreos/etcd": {"etcd", "etcdctl", "etcdutl"}}

func TestCompose(t *testing.T) {
	p := project(t)
	if got, want := p.ServiceNames(), []string{"console", "etcd", "worker"}; !slices.Equal(got, want) {
		t.Fatalf("the services are %s, want %s", got, want)
	}
	for name, s := range p.Services {
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %s is published on %q, want 127.0.0.1", name, port.Published, port.HostIP)
			}
		}
		for on, how := range s.DependsOn {
			if other := p.Services[on]; how.Condition == types.ServiceConditionHealthy && other.HealthCheck == nil {
				t.Errorf("%s waits until %s is healthy, which has no health check", name, on)
			}
		}
		has := []string{}
		if s.Build == nil {
			image, _, _ := strings.Cut(s.Image, ":")
			has = programs[image]
			if !slices.Contains(has, s.Command[0]) {
				t.Errorf("%s: image %s has no program %s", name, s.Image, s.Command[0])
			}
		} else {
			has = append(has, anImage(t).entrypoint[0])
			checkBuilt(t, p, s)
		}
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") || !slices.Equal(s.Tmpfs, []string{"/tmp"}) {
			t.Errorf("%s: read_only %t, cap_drop %q, security_opt %q, tmpfs %q", s.Name, s.ReadOnly, s.CapDrop, s.SecurityOpt, s.Tmpfs)
		}
		if s.HealthCheck != nil && (s.HealthCheck.Test[0] != "CMD" || !slices.Contains(has, s.HealthCheck.Test[1])) {
			t.Errorf("%s: health check %q; the image has no shell, and of programs %q", name, s.HealthCheck.Test, has)
		}
	}
	if worker := p.Services["worker"]; worker.GetScale() != 3 {
		t.Errorf("%d workers, want 3", worker.GetScale())
	}
	for _, path := range []string{"worker", "console"} {
		if grace := p.Services[path].StopGracePeriod; grace == nil || time.Duration(*grace) <= 10*time.Second {
			t.Errorf("%s: stop_grace_period is %v, and has to be longer than what ends within it", path, grace)
		}
	}
}

// The page's compose.override.yaml replaces what belongs to the command's worker, and keeps the rest.
func TestOverride(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository, "docs/operate/compose.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	worker := project(t, types.ConfigFile{Filename: "compose.override.yaml", Content: []byte(text)}).Services["worker"]
	if worker.Build == nil || filepath.Base(worker.Build.Context) != "shop" || len(worker.Command) > 0 || len(worker.Volumes) > 0 {
		t.Errorf("build %v, command %q, volumes %v", worker.Build, worker.Command, worker.Volumes)
	}
	if worker.GetScale() != 3 || !worker.ReadOnly || worker.StopGracePeriod == nil || worker.DependsOn["etcd"].Condition != types.ServiceConditionHealthy {
		t.Errorf("of compose.yaml, this is left: %+v", worker)
	}
}

// checkBuilt checks a service whose image is built here.
func checkBuilt(t *testing.T, p *types.Project, s types.ServiceConfig) {
	t.Helper()
	if build := s.Build; build.Context != p.WorkingDir || build.Dockerfile != "Dockerfile" {
		t.Errorf("%s: the build is of %s in %s", s.Name, build.Dockerfile, build.Context)
	}
	for _, v := range s.Volumes {
		switch v.Type {
		case types.VolumeTypeBind:
			if _, err := os.Stat(v.Source); err != nil || !v.ReadOnly {
				t.Errorf("%s: %s: read-only %t, %v", s.Name, v.Source, v.ReadOnly, err)
			}
		case types.VolumeTypeVolume:
			if _, ok := p.Volumes[v.Source]; !ok {
				t.Errorf("%s: there is no volume %s", s.Name, v.Source)
			}
			if _, err := os.Stat(filepath.Join(anImage(t).root, v.Target)); err != nil {
				t.Errorf("%s: volume %s would belong to root: %v", s.Name, v.Source, err)
			}
		default:
			t.Errorf("%s: %s is a volume of type %s", s.Name, v.Target, v.Type)
		}
	}
}

// The job file of the workers has no mistake, as the image's program says.
func TestJobFile(t *testing.T) {
	worker := project(t).Services["worker"]
	box := container{image: anImage(t), volumes: volumes(t, worker, newNamed())}
	out, err := box.command(t, append(slices.Clone([]string(worker.Command)), "--check")...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "2 jobs, no mistake") {
		t.Errorf("%s, %v", out, err)
	}
}

// named are the named volumes of a project, which services share.
type named struct {
	mu      sync.Mutex
	folders map[string]string
}

func newNamed() *named { return &named{folders: map[string]string{}} }

// volumes returns those of a service.
func volumes(t *testing.T, s types.ServiceConfig, shared *named) (all []volume) {
	t.Helper()
	for _, v := range s.Volumes {
		source := v.Source
		if v.Type == types.VolumeTypeVolume {
			shared.mu.Lock()
			if shared.folders[v.Source] == "" {
				shared.folders[v.Source] = volumeOf(t, anImage(t), v.Target)
			}
			source = shared.folders[v.Source]
			shared.mu.Unlock()
		}
		all = append(all, volume{Source: source, Target: v.Target, ReadOnly: v.ReadOnly})
	}
	return all
}
