//go:build integration

package clients

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

const nodeDir = "testdata/node"

// node is the official client for Node, which has helpers for streams and for tool loops.
func node(t *testing.T) client {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(nodeDir, "node_modules/openai/package.json"))
	if err != nil {
		t.Fatalf("%v: run .ci/clients, which installs it", err)
	}
	var pkg struct{ Version string }
	if err := json.Unmarshal(text, &pkg); err != nil {
		t.Fatal(err)
	}
	return client{
		name:    "openai for Node " + pkg.Version,
		helpers: []string{callStream, callTool, callLoop},
		run:     runNode,
		helper: func(t *testing.T, baseURL, call string, patience time.Duration) []turn {
			return runNode(t, baseURL, call+"-helper", patience)
		},
	}
}

// nodeProgram returns the Node that is installed with the client, or else the machine's.
func nodeProgram(t *testing.T) string {
	t.Helper()
	// Not node_modules/.bin/node: some versions of npm do not make that link.
	found, err := filepath.Glob(filepath.Join(nodeDir, "node_modules/node-*/bin/node"))
	if err == nil && len(found) > 0 {
		found[0], err = filepath.Abs(found[0])
	} else if err == nil { // there is none for this kind of machine
		found = []string{""}
		found[0], err = exec.LookPath("node")
	}
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

func runNode(t *testing.T, baseURL, name string, patience time.Duration) []turn {
	cmd := exec.CommandContext(t.Context(), nodeProgram(t), "client.mjs", baseURL, name, strconv.FormatInt(patience.Milliseconds(), 10))
	cmd.Dir = nodeDir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // no settings of anybody's account
	stdin, err := cmd.StdinPipe()                   // its end is the script's; see there
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd, err, stdout.Bytes(), stderr.Bytes())
	}
	if stderr.Len() > 0 {
		t.Errorf("%v: standard error:\n%s", cmd, stderr.Bytes())
	}
	var turns []turn
	if err := json.Unmarshal(stdout.Bytes(), &turns); err != nil {
		t.Fatalf("%v: %v in\n%s", cmd, err, stdout.Bytes())
	}
	return turns
}
