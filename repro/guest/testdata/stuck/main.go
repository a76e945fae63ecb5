// Command stuck is a harness that takes two locks in two orders: it asks for nothing, and never ends.
package main

import (
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
)

type desk struct{ journal, workspace sync.Mutex }

func main() {
	if len(os.Args) > 1 {
		go http.ListenAndServe(os.Args[1], nil)
	}
	var d desk
	var both, all sync.WaitGroup
	both.Add(2)
	all.Go(func() { d.save(&both) })
	all.Go(func() { d.appendTo(&both) })
	// A goroutine that could go on keeps the runtime from noticing.
	go func() {
		c, err := os.Stdin.Read(make([]byte, 1))
		println(c, err != nil)
		select {}
	}()
	all.Wait()
}

func (d *desk) save(both *sync.WaitGroup) {
	d.journal.Lock()
	defer d.journal.Unlock()
	both.Done()
	both.Wait()
	d.workspace.Lock()
	defer d.workspace.Unlock()
}

func (d *desk) appendTo(both *sync.WaitGroup) {
	d.workspace.Lock()
	defer d.workspace.Unlock()
	both.Done()
	both.Wait()
	d.journal.Lock()
	defer d.journal.Unlock()
}
