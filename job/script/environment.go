package script

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// contextPrefix begins the names of the variables that tell a program its sharding context.
const contextPrefix = "ELASTICJOB_"

// environment returns the environment of a program: what it inherits, what ctx propagates, what
// its user brings, what its properties say, and its sharding context. The later counts.
func (s *settings) environment(ctx context.Context, sc job.ShardingContext, as *identity) ([]string, error) {
	var env []string
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); inherits(s.inherit, name) {
			env = append(env, variable)
		}
	}
	for name, value := range job.Propagated(ctx) {
		env = append(env, strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+"="+value)
	}
	if as != nil {
		env = append(env, "USER="+as.Name, "LOGNAME="+as.Name, "HOME="+as.Home)
	}
	for _, variable := range s.env {
		value, err := property.Expand(variable.Value, s.lookup)
		if err == nil {
			err = checkText(value) // a file may have anything
		}
		if err != nil {
			return nil, fmt.Errorf("script.env.%s: %w", variable.Name, err)
		}
		env = append(env, variable.Name+"="+value)
	}
	return lastOfEach(append(env, contextVariables(sc)...)), nil
}

// lastOfEach drops variables that are set again later: programs differ in which one they see.
func lastOfEach(env []string) []string {
	seen := map[string]bool{}
	var kept []string
	for _, variable := range slices.Backward(env) {
		name, _, _ := strings.Cut(variable, "=")
		if !seen[name] {
			seen[name] = true
			kept = append(kept, variable)
		}
	}
	slices.Reverse(kept)
	return kept
}

func contextVariables(sc job.ShardingContext) []string {
	return []string{
		contextPrefix + "JOB_NAME=" + sc.JobName,
		contextPrefix + "TASK_ID=" + sc.TaskID,
		contextPrefix + "INSTANCE_ID=" + sc.InstanceID,
		contextPrefix + "ITEM=" + strconv.Itoa(sc.Item),
		contextPrefix + "TOTAL=" + strconv.Itoa(sc.Total),
		contextPrefix + "ITEM_PARAMETER=" + sc.ItemParameter,
		contextPrefix + "JOB_PARAMETER=" + sc.JobParameter,
		contextPrefix + "SCHEDULED_TIME=" + sc.ScheduledTime.Format(time.RFC3339Nano),
		contextPrefix + "SOURCE=" + sc.Source.String(),
		contextPrefix + "ATTEMPT=" + strconv.Itoa(sc.Attempt),
		contextPrefix + "TOKEN=" + strconv.FormatInt(sc.Token, 10),
	}
}

// inherits reports whether a program gets a variable of this process. What tells this
// process its own sharding context is not passed on.
func inherits(list []string, name string) bool {
	return name != "" && !strings.HasPrefix(name, contextPrefix) && slices.ContainsFunc(list, func(allowed string) bool {
		family, isFamily := strings.CutSuffix(allowed, "*")
		return allowed != noVariables && (name == allowed || isFamily && strings.HasPrefix(name, family))
	})
}
