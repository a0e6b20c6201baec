package command

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// version is what the binary is.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"` // of the revision
	Modified bool   `json:"modified,omitempty"`
	// Protocol is the version of the rules of the node tree.
	Protocol int    `json:"protocol"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func versionCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Say which version this is", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := built()
			return c.print(show.Result{Value: v, Names: func() []string { return []string{v.Version} }, Table: func() *show.Table {
				t := show.NewTable()
				t.Field("Version", v.Version)
				t.Field("Revision", v.Revision)
				t.Field("Protocol", v.Protocol)
				t.Field("Go", v.Go+" "+v.Platform)
				return t
			}})
		},
	}
}

// built returns what this binary is.
func built() version {
	info, _ := debug.ReadBuildInfo() // nil if the binary has none
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) version {
	v := version{Version: "unknown", Protocol: jobtree.Protocol, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return v
	}
	v.Version = cmp.Or(info.Main.Version, v.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
