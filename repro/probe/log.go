package probe

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"example.com/wedge/harness"
	"example.com/wedge/harness/sim"
)

// logBytesMax is how much of a router's log is read: its end.
const logBytesMax = 256 << 20

// logView is what the router's log says at one instant.
type logView struct {
	view harness.RouterView // instants on the probe's clock
	cut  bool               // its start was left out
}

// readLog reads the router's log; nil without one. Instants are put on the probe's clock: by the
// machine's clock, or by the log's last line where that is not of the same time zone or calendar.
func (p *prober) readLog() (*logView, error) {
	if p.o.RouterLog == "" {
		return nil, nil
	}
	file, err := os.Open(p.o.RouterLog)
	if err != nil {
		return nil, pathless(p.o.RouterLog, err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, pathless(p.o.RouterLog, err)
	case info.IsDir():
		return nil, fmt.Errorf("found the directory %s, want the router's log file", p.o.RouterLog)
	}
	out := &logView{cut: info.Size() > logBytesMax}
	if out.cut {
		if _, err := file.Seek(-logBytesMax, io.SeekEnd); err != nil {
			return nil, pathless(p.o.RouterLog, err)
		}
	}
	world := sim.NewWall(sim.WallOptions{})
	log := harness.NewRouterLog(world, nil, time.Time{})
	if _, err := io.Copy(locked{world, log}, io.LimitReader(file, logBytesMax)); err != nil {
		return nil, pathless(p.o.RouterLog, err)
	}
	out.view = log.View()
	out.place(p.now(), p.start.Add(time.Duration(float64(p.now())/p.o.Scale)), p.o.Scale)
	return out, nil
}

// zoneSlack is how far the log's last line may be from now and be of this machine's clock: less than
// the smallest difference of time zones, and health checks write a line each minute.
const zoneSlack = 14 * time.Minute

// place shifts the instants of the view to the probe's clock.
func (l *logView) place(now sim.Instant, wall time.Time, scale float64) {
	shift := now.Sub(sim.InstantOf(wall))
	if behind := sim.InstantOf(wall).Sub(l.view.Last); scale != 1 || behind > zoneSlack || behind < -zoneSlack {
		shift = now.Sub(l.view.Last)
	}
	l.view.Last = l.view.Last.Add(shift)
	if l.view.AnsweredFrom != 0 {
		l.view.AnsweredFrom = l.view.AnsweredFrom.Add(shift)
	}
	for i := range l.view.Open {
		l.view.Open[i].Since = l.view.Open[i].Since.Add(shift)
	}
}

// locked writes to a router's log, which wants its world's monitor held.
type locked struct {
	w   sim.World
	log *harness.RouterLog
}

func (l locked) Write(b []byte) (int, error) {
	l.w.Lock()
	defer l.w.Unlock()
	return l.log.Write(b)
}

func pathless(path string, err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Errorf("%s: %v", path, err)
}
