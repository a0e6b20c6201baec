package etcdmember

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/internal/embedetcd"
)

// Run serves a member until ctx ends. out is told when it serves, and log what etcd warns of.
func Run(ctx context.Context, o Options, out, log io.Writer) error {
	c, err := o.config()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	lock, err := Lock(o.Data)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // the end of the process does it, too
	level := zap.NewAtomicLevelAt(zap.WarnLevel)
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger(log, level))
	server, err := embedetcd.Run(ctx, c)
	if err != nil {
		return err
	}
	defer server.Stop()
	if _, err := fmt.Fprintf(out, "Member %s serves clients at %s. Its data is in %s.\n", c.Name, &c.AdvertiseClientUrls[0], o.Data); err != nil {
		return err
	}
	err = server.Wait(ctx)
	level.SetLevel(zap.FatalLevel) // listeners that are closed are errors to etcd
	return err
}

// logger writes what etcd logs, from a level on, as lines.
func logger(log io.Writer, from zap.AtomicLevel) *zap.Logger {
	form := zap.NewProductionEncoderConfig()
	form.EncodeTime = zapcore.ISO8601TimeEncoder
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(form), zapcore.Lock(zapcore.AddSync(log)), from))
}

// Lock makes a folder for data if it is not there, and keeps other processes from it until the lock is closed: a second
// etcd would wait for the first one.
func Lock(folder string) (*flock.Flock, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(folder, "lock"))
	switch isMine, err := lock.TryLock(); {
	case err != nil:
		return nil, err
	case !isMine:
		return nil, exit.Errorf(exit.Conflict, "folder %s: another process uses it", folder)
	}
	return lock, nil
}
