package serving_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/wedge/repro/serving"
)

// TestManyConversations checks that the router remembers where a conversation is, and forgets the
// oldest when there are very many: its memory is bounded.
func TestManyConversations(t *testing.T) {
	setup{cfg: func(c *serving.Config) { unified(2)(c); even(c) }}.run(t, 1, func(p *play) {
		at := ""
		p.s.OnEnd(func(r *serving.Record) { at = r.Decode })
		ask := func(user string) string {
			q := whole(user, 10, 1)
			q.User = user
			p.must(p.serve(p.ctx, q, time.Hour).err)
			return at
		}
		ask("other")
		first := ask("first")
		if again := ask("first"); again != first {
			t.Errorf("a conversation is at %s, then at %s", first, again)
		}
		for i := range 1<<14 + 10 {
			ask(fmt.Sprint(i))
		}
		ask("first") // anywhere
	})
}
