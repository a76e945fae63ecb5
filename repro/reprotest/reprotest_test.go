package reprotest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/repro/reprotest"
)

// ask is a harness of few lines: it asks for a stream and reads it, with an idle limit or none.
func ask(ctx context.Context, kit *reprotest.Kit, idle time.Duration) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	body := fmt.Sprintf(`{"model":%q,"stream":true,"messages":[{"role":"user","content":"write"}]}`, kit.Model)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, kit.BaseURL+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	if idle > 0 {
		timer := time.AfterFunc(idle, func() { cancel(errIdle) })
		defer timer.Stop()
		resp, err := kit.Client.Do(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		n := 0
		for lines.Scan() {
			timer.Reset(idle)
			n++
		}
		return n, lines.Err()
	}
	resp, err := kit.Client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	n := 0
	for lines.Scan() {
		n++
	}
	return n, lines.Err()
}

var errIdle = errors.New("nothing has come for too long")

func TestHealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kit := reprotest.Start(t)
		n, err := ask(t.Context(), kit, 0)
		if c := kit.Counts(); n == 0 || err != nil || c.Completed != 1 || c.Requests != 1 {
			t.Errorf("%d lines, %v, %+v", n, err, c)
		}
	})
}
