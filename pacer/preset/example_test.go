package preset_test

import (
	"fmt"

	"example.com/wedge/pacer/preset"
)

func ExampleGet() {
	p, err := preset.Get("openai-go-3")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Imitates())
	fmt.Println("headers within", p.Policy.ResponseHeader, "and silence of any length")
	// Output:
	// openai-go 3.99.0 (2026-11-12)
	// headers within 10m0s and silence of any length
}
