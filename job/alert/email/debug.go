package email

import (
	"fmt"
	"log/slog"

	maillog "github.com/wneessen/go-mail/log"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// dialogueLog writes what is said with the mail server. The client leaves passwords out.
type dialogueLog struct{ log *slog.Logger }

func (l dialogueLog) line(m maillog.Log) {
	from := "server"
	if m.Direction == maillog.DirClientToServer {
		from = "client"
	}
	l.log.Debug("mail", slog.String("from", from), slog.String("line", brief.Cut(fmt.Sprintf(m.Format, m.Messages...), 1000)))
}

// All levels are debug: what fails is logged once the mail is given up.

func (l dialogueLog) Debugf(m maillog.Log) { l.line(m) }
func (l dialogueLog) Infof(m maillog.Log)  { l.line(m) }
func (l dialogueLog) Warnf(m maillog.Log)  { l.line(m) }
func (l dialogueLog) Errorf(m maillog.Log) { l.line(m) }
