package sim

import (
	"context"
	"testing"
)

// TestContextsForget: a long-lived context must not remember the processes and contexts that lived
// under it.
func TestContextsForget(t *testing.T) {
	k := NewVirtual(VirtualOptions{})
	k.SleepSlowly() // so that each sleep is a wait
	err := k.Run(context.Background(), func(ctx context.Context) {
		for range 10 {
			below, cancel := k.WithCancel(ctx)
			_ = k.Spawn(ctx, "p", func(ctx context.Context) { _ = k.Sleep(ctx, 1) }).Wait(ctx)
			_ = k.Spawn(below, "p", func(ctx context.Context) { _ = k.Sleep(ctx, 1) }).Wait(ctx)
			_ = k.Sleep(below, 1)
			cancel(nil)
			_ = k.Sleep(ctx, 1)
		}
		for p := k.root.members; p != nil; p = p.ctxNext {
			if p != ProcessOf(ctx) {
				t.Errorf("process %d is still a member", p.id)
			}
		}
		if k.root.kids != nil || k.root.lastKid != nil {
			t.Error("the root still has children")
		}
	})
	if err != nil {
		t.Error(err)
	}
}
