package main

import (
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestBubble hangs: one goroutine is durably blocked, one is not.
func TestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := make(chan int)
		go func() { <-block }()
		go time.Sleep(time.Hour)
		var group sync.WaitGroup
		group.Add(1)
		go group.Wait()
		go func() {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Error(err)
				return
			}
			l.Accept()
		}()
		synctest.Wait()
	})
}
