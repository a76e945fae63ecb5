package agents

import (
	"os"
	"path/filepath"
	"testing"
)

// TestForget: in either workspace, a task's articles go with it, those of other tasks stay, and what was forgotten
// can be begun again.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	memory := NewMemory(sharedOf(t))
	for name, ws := range map[string]Workspace{"memory": memory, "directory": openDirectory(t, dir)} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"task-1/article.md", "task-1/notes.md", "task-1.s1/article.md", folderOf("../odd") + "/article.md"} {
				must(t, ws.Write(path, "text"), ws.Save(path))
			}
			must(t, ws.Forget("task-1"), ws.Forget("../odd"), ws.Forget("unheard of"))
			if err := ws.Save("task-1/notes.md"); err != ErrNoDraft {
				t.Errorf("a draft that was forgotten is saved: %v", err)
			}
			must(t, ws.Append("task-1/article.md", "new"), ws.Save("task-1/article.md"), ws.Save("task-1.s1/article.md"))
		})
	}
	if text, ok := memory.Article("task-1/article.md"); !ok || text != "new" {
		t.Errorf("in memory: %q, saved: %v, want what was written since", text, ok)
	}
	must(t, memory.Forget("task-1"), memory.Forget("task-1.s1"))
	if len(memory.folders) != 0 || len(memory.articles) != 0 {
		t.Errorf("in memory are left %d folders and %d articles", len(memory.folders), len(memory.articles))
	}
	if text, err := os.ReadFile(filepath.Join(dir, "task-1/article.md")); err != nil || string(text) != "new" {
		t.Errorf("on the disk: %q, %v, want what was written since", text, err)
	}
	for _, folder := range []string{folderOf("../odd"), draftsFolder + "/" + folderOf("../odd")} {
		if _, err := os.Stat(filepath.Join(dir, folder)); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", folder, err)
		}
	}
}
