//go:build integration

package bench

import "testing"

func TestIntegrationHuge(t *testing.T) { huge(t, 1<<30) }
