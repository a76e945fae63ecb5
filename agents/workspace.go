package agents

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoDraft is returned by Save for a path that was never written.
var ErrNoDraft = errors.New("agents: nothing was written yet")

// Workspace keeps the articles that agents write: a draft of each, and what was last saved of it.
// Paths are relative and use slashes. It is safe for concurrent use, but calls for one path must not
// overlap. [*Memory] and [*Directory] are the workspaces.
type Workspace interface {
	// Write starts the draft over with text.
	Write(path, text string) error
	// Append adds text to the draft, which may not exist yet.
	Append(path, text string) error
	// Save makes the draft as it is durable. It returns ErrNoDraft if there is none.
	Save(path string) error
	// Forget drops all articles of a task that has ended, for a run in which there is no end of them.
	Forget(task string) error
	// Shared returns what agents share besides.
	Shared() *Shared
}

// Memory is a workspace that keeps the texts it is given as they are: an operation costs the same
// whatever the size of the article, and texts shared by their owners stay shared. It suits worlds of
// both kinds. Make one with [NewMemory].
type Memory struct {
	shared *Shared
	// Guarded by the monitor:
	articles map[string]*article
	folders  map[string]*article // the article that was begun last in each folder
}

type article struct {
	draft, saved []string // pieces; nil: none
	path         string
	before       *article // begun before it in the same folder
}

var _ Workspace = (*Memory)(nil)

// NewMemory returns an empty workspace in memory.
func NewMemory(s *Shared) *Memory {
	return &Memory{shared: s, articles: map[string]*article{}, folders: map[string]*article{}}
}

// Shared implements Workspace.
func (m *Memory) Shared() *Shared { return m.shared }

// Write implements Workspace.
func (m *Memory) Write(path, text string) error {
	return m.update(path, func(a *article) error {
		a.draft = []string{text}
		return nil
	})
}

// Append implements Workspace.
func (m *Memory) Append(path, text string) error {
	return m.update(path, func(a *article) error {
		a.draft = append(a.draft, text)
		return nil
	})
}

// Save implements Workspace.
func (m *Memory) Save(path string) error {
	return m.update(path, func(a *article) error {
		if a.draft == nil {
			return ErrNoDraft
		}
		// Clipped, so that a later append copies the pieces instead of writing behind those saved.
		a.draft = slices.Clip(a.draft)
		a.saved = a.draft
		return nil
	})
}

func (m *Memory) update(path string, change func(*article) error) error {
	m.shared.w.Lock()
	defer m.shared.w.Unlock()
	a := m.articles[path]
	if a == nil {
		if err := checkPath(path); err != nil {
			return err
		}
		folder, _, _ := strings.Cut(path, "/")
		a = &article{path: path, before: m.folders[folder]}
		m.articles[path], m.folders[folder] = a, a
	}
	return change(a)
}

// Forget implements Workspace.
func (m *Memory) Forget(task string) error {
	m.shared.w.Lock()
	defer m.shared.w.Unlock()
	folder := folderOf(task)
	for a := m.folders[folder]; a != nil; a = a.before {
		delete(m.articles, a.path)
	}
	delete(m.folders, folder)
	return nil
}

// Article returns what was last saved under a path, and whether anything was.
func (m *Memory) Article(path string) (text string, saved bool) {
	m.shared.w.Lock()
	defer m.shared.w.Unlock()
	a := m.articles[path]
	if a == nil || a.saved == nil {
		return "", false
	}
	return strings.Join(a.saved, ""), true
}

// checkPath refuses paths that leave the workspace, and names that it keeps for itself.
func checkPath(path string) error {
	if !filepath.IsLocal(path) || filepath.ToSlash(filepath.Clean(path)) != path || strings.HasPrefix(path, ".") {
		return fmt.Errorf("agents: workspace path %q: want a relative path within the workspace that does not start with a dot", path)
	}
	return nil
}
