package reprotest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/wedge/harness/fault"
	"example.com/wedge/repro/reprotest"
)

// body is that of a request for a stream.
const body = `{"model": "any", "stream": true, "messages": [{"role": "user", "content": "Write the article."}]}`

func post(ctx context.Context, k *reprotest.Kit) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, k.BaseURL+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return k.Client.Do(req)
}

// TestMany: many at once are served, each in full.
func TestMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := reprotest.Start(t)
		var all sync.WaitGroup
		for range 30 {
			all.Go(func() {
				if article, err := writeWithNetHTTP(t.Context(), k, 0); err != nil || article == "" {
					t.Errorf("%d bytes, %v", len(article), err)
				}
			})
		}
		all.Wait()
		if got, want := k.Counts(), (reprotest.Counts{Requests: 30, Completed: 30}); got != want {
			t.Errorf("counts %+v, want %+v", got, want)
		}
	})
}

// TestLeftBehind: a test may end while requests of its harness are under way, and while somebody sends more.
func TestLeftBehind(t *testing.T) {
	var mu sync.Mutex
	var ends []error
	synctest.Test(t, func(t *testing.T) {
		k := reprotest.Start(t, reprotest.Scenario("silent-stream"))
		for range 3 {
			go func() {
				_, err := writeWithNetHTTP(context.Background(), k, 0)
				mu.Lock()
				defer mu.Unlock()
				ends = append(ends, err)
			}()
			time.Sleep(time.Minute)
		}
		go func() { // tries for ever, without a pause
			for {
				if resp, err := post(context.Background(), k); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			}
		}()
		time.Sleep(time.Minute)
	})
	if len(ends) != 3 || !errors.Is(errors.Join(ends...), reprotest.ErrClosed) {
		t.Errorf("ended with %v, want three times %v", ends, reprotest.ErrClosed)
	}
}

// TestSlow: who gets on slowly is no stall: an answer may take longer.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := reprotest.Start(t, reprotest.Faults(fault.Fault{ID: "slow", Where: fault.Decode, What: fault.Throttle, Factor: 100}))
		start := time.Now()
		if article, err := writeWithNetHTTP(t.Context(), k, 0); err != nil || article == "" || time.Since(start) < 11*time.Minute {
			t.Errorf("after %v: %d bytes, %v", time.Since(start), len(article), err)
		}
	})
}

// TestInVain: requests that are refused and sent again for ever are a stall too, with a pause between them or
// without.
func TestInVain(t *testing.T) {
	for _, pause := range []time.Duration{0, time.Second} {
		said := fails(t, func(t *testing.T, k *reprotest.Kit) {
			for {
				resp, err := post(t.Context(), k)
				if errors.Is(err, reprotest.ErrStalled) {
					return
				}
				if err == nil {
					_ = resp.Body.Close()
				}
				time.Sleep(pause)
			}
		}, reprotest.Faults(fault.Fault{ID: "limit", Where: fault.Router, What: fault.Status, StatusCode: 429}))
		if !strings.Contains(said, "none has been answered in full") || !strings.Contains(said, "storming") {
			t.Errorf("pause %v: said %s", pause, said)
		}
	}
}

// TestOwnTransport: a harness may bring its own, with limits that net/http knows.
func TestOwnTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := reprotest.Start(t, reprotest.Faults(fault.Fault{ID: "dead", Where: fault.Router, What: fault.Drop, Only: 1}))
		own := &http.Transport{DialContext: k.DialContext, ResponseHeaderTimeout: time.Minute}
		defer own.CloseIdleConnections()
		k.Client.Transport = k.Transport(own)
		if article, err := writeWithNetHTTP(t.Context(), k, 0); err != nil || article == "" {
			t.Errorf("%d bytes, %v", len(article), err)
		}
		if c := k.Counts(); c.Requests != 2 || c.Left != 1 {
			t.Errorf("counts %+v", c)
		}
	})
}

// TestUnwatched: who goes past the kit's transports is told so in the end.
func TestUnwatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tap := &tapped{TB: t}
		k := reprotest.Start(tap, reprotest.Scenario("silent-stream"))
		k.Client.Transport = &http.Transport{DialContext: k.DialContext}
		if _, err := writeWithNetHTTP(t.Context(), k, 0); err == nil {
			t.Error("a silent stream has ended well")
		}
		if !strings.Contains(tap.text(), "1 are open that have come by neither") {
			t.Errorf("said %s", tap.text())
		}
		k.Client.CloseIdleConnections()
	})
}

// TestDeadConnection: both sides say that a request is lost.
func TestDeadConnection(t *testing.T) {
	said := fails(t, func(t *testing.T, k *reprotest.Kit) {
		for range 2 {
			_, _ = writeWithNetHTTP(t.Context(), k, 0)
		}
	}, reprotest.Faults(fault.Fault{ID: "dead", Where: fault.Connection, What: fault.Blackhole, Only: 2}))
	if !strings.Contains(said, "cause connection-dead") || !strings.Contains(said, "at the servers: it has not come") {
		t.Errorf("said %s", said)
	}
}

// TestMarks: what the harness says of its agents is in the verdict.
func TestMarks(t *testing.T) {
	said := fails(t, func(t *testing.T, k *reprotest.Kit) {
		ctx, agent := k.Watchdog().Agent(t.Context(), "writer", "article 7")
		_, err := writeWithNetHTTP(ctx, k, 0)
		agent.End(err)
	}, reprotest.Scenario("silent-stream"))
	if !strings.Contains(said, "writer-c001") {
		t.Errorf("said %s", said)
	}
}

// TestOnTheWall: outside of a bubble, in memory and over TCP, with a clock that goes faster.
func TestOnTheWall(t *testing.T) {
	for name, way := range map[string]reprotest.Option{"memory": {}, "loopback": reprotest.Loopback()} {
		t.Run(name, func(t *testing.T) {
			k := reprotest.Start(t, reprotest.Scale(200), way)
			if article, err := writeWithGoOpenAI(t.Context(), k, 0); err != nil || article == "" {
				t.Errorf("%d bytes, %v", len(article), err)
			}
			tap := &tapped{TB: t}
			k = reprotest.Start(tap, reprotest.Scale(200), way, reprotest.Scenario("silent-stream"), reprotest.StallAfter(90*time.Second))
			if _, err := writeWithGoOpenAI(t.Context(), k, 0); !errors.Is(err, reprotest.ErrStalled) {
				t.Errorf("ended with %v", err)
			}
			if v, stalled := k.Verdict(); !stalled || v.Cause != "silent-stream" {
				t.Errorf("said %s", tap.text())
			}
		})
	}
}

// TestSeed: the same seed gives the same answers, another one others.
func TestSeed(t *testing.T) {
	write := func(given ...reprotest.Option) (article string) {
		synctest.Test(t, func(t *testing.T) {
			article, _ = writeWithNetHTTP(t.Context(), reprotest.Start(t, given...), 0)
		})
		return article
	}
	one := write(reprotest.Seed(1))
	if one == "" || one != write(reprotest.Seed(1)) || one == write(reprotest.Seed(2)) {
		t.Error("answers do not go by the seed")
	}
	t.Setenv("WEDGE_SEED", "2")
	if one == write(reprotest.Seed(1)) {
		t.Error("the environment does not set the seed")
	}
}

// TestRefused: what is wrong with an option is one line.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		option reprotest.Option
		want   string
	}{
		{reprotest.Scenario("silent-steam"), "silent-stream"},
		{reprotest.ScenarioText("faults: 3"), "faults"},
		{reprotest.ScenarioFile("testdata/none.yaml"), "none.yaml"},
		{reprotest.Set("servers.decode.running_max=many"), "servers.decode.running_max"},
		{reprotest.Set("servers"), "PATH=VALUE"},
		{reprotest.StallAfter(-1), "stall after"},
		{reprotest.Scale(-1), "scale"},
		{reprotest.Faults(fault.Fault{ID: "x"}), "where"},
	} {
		tap := &fatal{TB: t}
		tap.start(test.option)
		if tap.said == "" || strings.Contains(tap.said, "\n") || !strings.Contains(tap.said, test.want) {
			t.Errorf("said %q, want one line with %q", tap.said, test.want)
		}
	}
}

// TestLoopbackInBubble is refused: it would wait for ever.
func TestLoopbackInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tap := &fatal{TB: t}
		tap.start(reprotest.Loopback())
		if !strings.Contains(tap.said, "Loopback in a synctest bubble") {
			t.Errorf("said %q", tap.said)
		}
	})
}

// TestKeepTimes: a scenario's faults may stay where they are.
func TestKeepTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := reprotest.Start(t, reprotest.Scenario("silent-stream"), reprotest.KeepTimes())
		if article, err := writeWithNetHTTP(t.Context(), k, 0); err != nil || article == "" {
			t.Errorf("%d bytes, %v", len(article), err)
		}
		time.Sleep(20 * time.Minute)
		if _, err := writeWithNetHTTP(t.Context(), k, time.Minute); err != nil || k.Counts().Left == 0 {
			t.Errorf("%v, %+v", err, k.Counts())
		}
	})
}

// deadlockVariable has the test below take place in a process of its own: synctest ends it. Its value is the
// scenario.
const deadlockVariable = "WEDGE_TEST_DEADLOCK"

// TestDeadlock: a harness that waits for itself is told so, be it that it has no request under way or that its
// requests have been ended, and synctest says what it has to say.
func TestDeadlock(t *testing.T) {
	if scenario := os.Getenv(deadlockVariable); scenario != "" {
		deadlock(t, scenario)
		return
	}
	for _, test := range []struct {
		scenario string
		want     []string
	}{
		{"healthy", []string{"no request is under way, and none has been sent for 24h", "had 1 requests, and answered 1 in full. They owe nothing"}},
		{"silent-stream", []string{"no request has been answered in full for 10m", "cause silent-stream"}},
	} {
		child := exec.Command(os.Args[0], "-test.run=^TestDeadlock$")
		child.Env = append(os.Environ(), deadlockVariable+"="+test.scenario)
		out, err := child.CombinedOutput()
		for _, want := range append(test.want, "kit_test.go", "deadlock: all goroutines in bubble are blocked") {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: want %q", test.scenario, want)
			}
		}
		if err == nil || t.Failed() {
			t.Errorf("%s: ended with %v:\n%s", test.scenario, err, out)
		}
	}
}

func deadlock(t *testing.T, scenario string) {
	synctest.Test(t, func(t *testing.T) {
		k := reprotest.Start(t, reprotest.Scenario(scenario))
		if _, err := writeWithNetHTTP(t.Context(), k, 0); err != nil {
			t.Log(err)
		}
		var mu sync.Mutex
		waiting := sync.NewCond(&mu)
		mu.Lock()
		waiting.Wait()
	})
}

// noticed are scenarios that a single call meets.
var noticed = []string{"silent-stream", "comment-stream", "inflight-pin", "connection-dead"}

// TestEach: the small harness survives what it is made for, and does not without its limit.
func TestEach(t *testing.T) {
	met := 0
	reprotest.Each(t, func(t *testing.T, k *reprotest.Kit) {
		if !slices.Contains(noticed, path.Base(t.Name())) {
			return
		}
		met++
		if article, err := writeWithNetHTTP(t.Context(), k, time.Minute); err != nil || article == "" {
			t.Errorf("%d bytes, %v", len(article), err)
		}
	}, reprotest.Seed(3))
	if met != len(noticed) {
		t.Errorf("met %d of %v", met, noticed)
	}
	for _, name := range noticed {
		said := fails(t, func(t *testing.T, k *reprotest.Kit) {
			_, _ = writeWithNetHTTP(t.Context(), k, 0)
		}, reprotest.Scenario(name))
		if !strings.Contains(said, "verdict: wedged") {
			t.Errorf("%s: said %s", name, said)
		}
	}
}
