package main

import (
	"bufio"
	"context"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/sashabaranov/go-openai"
)

func get(c *http.Client, url string) {
	resp, err := c.Get(url)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	for s := bufio.NewScanner(resp.Body); s.Scan(); {
	}
}

// clients runs n goroutines that fetch the URL once, and waits for them.
func clients(n int, c *http.Client, url string) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { get(c, url) })
	}
	wg.Wait()
}

func httpHeaders() { clients(8, http.DefaultClient, server("silent")) }

func httpPool() {
	clients(8, &http.Client{Transport: &http.Transport{MaxConnsPerHost: 2}}, server("silent"))
}

func h2Slots() {
	c, url := h2("silent")
	clients(8, c, url)
}

func h2Stream() {
	c, url := h2("stream")
	clients(2, c, url)
}

// h2Write has a peer that takes nothing after the first settings.
func h2Write() {
	url := server("deaf")
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	c := &http.Client{Transport: &http.Transport{Protocols: &protocols}}
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			req, _ := http.NewRequest("GET", url, nil)
			req.Header.Set("X-Large", strings.Repeat("abcdefgh", 64<<10))
			if resp, err := c.Do(req); err == nil {
				resp.Body.Close()
			}
		})
	}
	wg.Wait()
}

func sse() {
	config := openai.DefaultConfig("none")
	config.BaseURL = server("stream")
	c := openai.NewClientWithConfig(config)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			stream, err := c.CreateChatCompletionStream(context.Background(), openai.ChatCompletionRequest{Model: "m"})
			if err != nil {
				return
			}
			defer stream.Close()
			for {
				if _, err := stream.Recv(); err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
}

func execAlive() { exec.Command("sleep", "600").Run() }

func execPipe() {
	cmd := exec.Command("sh", "-c", "sleep 600 & exit 0")
	cmd.Stdout = &strings.Builder{}
	cmd.Run()
}

func idle() {
	jobs := make(chan int)
	for range 4 {
		go func() {
			for range jobs {
			}
		}()
	}
	go func() {
		for range time.Tick(time.Second) {
		}
	}()
	select {}
}

// busy computes and hands results on.
func busy() {
	out := make(chan int)
	for range 3 {
		go func() {
			for n := 0; ; n++ {
				sum := 0
				for i := range 1_000_000 {
					sum += i * n
				}
				out <- sum
			}
		}()
	}
	for range out {
	}
}

// pipeline hands items through slow stages.
func pipeline() {
	a, b := make(chan int), make(chan int)
	go func() {
		for n := 0; ; n++ {
			a <- n
		}
	}()
	for range 4 {
		go func() {
			for n := range a {
				b <- n
			}
		}()
	}
	for range b {
		time.Sleep(20 * time.Millisecond)
	}
}

// workers has workers in slow calls, and a main goroutine that waits for them.
func workers() {
	url := server("slow")
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for {
				get(http.DefaultClient, url)
			}
		})
	}
	wg.Wait()
}

// lostWakeup waits for a signal that came before the wait.
func lostWakeup() {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	c.Signal()
	go func() {
		mu.Lock()
		defer mu.Unlock()
		awaitWork(c)
	}()
	for range time.Tick(200 * time.Millisecond) {
	}
}

func awaitWork(c *sync.Cond) { c.Wait() }

// results has workers that send what a slow collector takes, one at a time.
func results() {
	out := make(chan int)
	for n := range 5 {
		go func() { sendAll(out, n) }()
	}
	for range out {
		time.Sleep(30 * time.Millisecond)
	}
}

func sendAll(out chan<- int, n int) {
	for {
		out <- n
	}
}
