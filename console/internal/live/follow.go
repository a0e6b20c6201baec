package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/ops"
)

const (
	// lateOpening is when those who wait for a watch to open are told so, and lastOpening when it is tried anew.
	lateOpening = 5 * time.Second
	lastOpening = 2 * time.Minute
)

var errNoAnswer = fmt.Errorf("no answer in %v", lastOpening)

// isGone reports whether what is watched is not there.
func isGone(err error) bool {
	return errors.Is(err, ops.ErrNoJob) || errors.Is(err, connection.ErrNoNamespace)
}

// run follows the topic of a feed until nobody listens or the topic is gone.
func (l *Live) run(ctx context.Context, f *feed) {
	defer l.drop(f)
	for {
		err := l.follow(ctx, f)
		if ctx.Err() != nil {
			f.end(route.ErrClosed)
			return
		}
		if isGone(err) {
			f.end(err)
			return
		}
		pause, isTold, untold := l.ended(f.topic)
		if isTold {
			l.o.Log.WarnContext(ctx, "a watch has ended; it is opened again", "namespace", f.topic.namespace, "job", f.topic.job, "error", brief.Error(err),
				"again in", pause, "ends before, not told", untold)
		}
		f.doubt(brief.Error(err).Error())
		sleep.For(ctx, pause)
	}
}

// follow opens a watch, and follows it. It returns why that has ended.
func (l *Live) follow(ctx context.Context, f *feed) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f.opens()
	late := time.AfterFunc(lateOpening, func() { f.doubtOpening(fmt.Sprintf("the store has not answered for %v", lateOpening)) })
	defer late.Stop()
	last := time.AfterFunc(lastOpening, func() { cancel(errNoAnswer) })
	defer last.Stop()
	o, err := l.o.Ops(ctx, f.topic.namespace)
	if err != nil {
		return err
	}
	if f.topic.job != "" {
		for d, err := range o.Job(f.topic.job).Watch(ctx, l.o.Every) {
			if err != nil {
				return err
			}
			text, err := l.detail(d)
			if err != nil {
				return err
			}
			last.Stop()
			if err := f.takeDetail(text, fault{d.Doubt, d.DoubtSince}); err != nil {
				return err
			}
		}
		return nil
	}
	isFirst := true
	for u, err := range o.Watch(ctx, l.o.Every) {
		if err != nil {
			return err
		}
		last.Stop()
		f.take(u, isFirst, l.info)
		isFirst = false
	}
	return nil
}

// info writes a job. One that cannot be written, for times in it that no JSON has, is told with that.
func (l *Live) info(i *ops.JobInfo) []byte {
	text, err := l.o.Job(i)
	if err == nil {
		text, err = oneLine(text)
	}
	if err == nil {
		return text
	}
	text, err = json.Marshal(ops.JobInfo{Name: i.Name, Status: i.Status, ConfigError: "the job cannot be shown: " + brief.Error(err).Error()})
	if err != nil {
		return []byte("{}") // texts can always be written
	}
	return text
}

func (l *Live) detail(d *ops.JobDetail) ([]byte, error) {
	text, err := l.o.Detail(d)
	if err == nil {
		text, err = oneLine(text)
	}
	if err != nil {
		return nil, fmt.Errorf("job %s: write: %w", brief.Text(d.Info.Name), err)
	}
	return text, nil
}
