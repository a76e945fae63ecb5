package agents

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"
)

// articleName is the file that tools work on unless the model names another.
const articleName = "article.md"

// nameBytesMax bounds the names of files and folders, well below what file systems allow.
const nameBytesMax = 100

// fileName says whether a name is one that every file system takes and that stays in its folder.
func fileName(name string) bool {
	return name != "" && len(name) <= nameBytesMax && name[0] != '.' && name[0] != ' ' && filepath.IsLocal(name) &&
		strings.IndexFunc(name, func(c rune) bool { return !plainRune(c) && c != ' ' }) < 0
}

func plainRune(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}

// folderOf returns the name of a task's folder. Ids come from traces and may be anything: what is not
// plain is spelled in hexadecimal, and what is long is cut and told apart by a hash.
func folderOf(task string) string {
	if task != "" && len(task) <= nameBytesMax && task[0] != '.' && strings.IndexFunc(task, func(c rune) bool { return !plainRune(c) }) < 0 {
		return task
	}
	var b strings.Builder
	b.WriteByte('=') // which no plain id has, so that no two ids share a folder
	for i := range len(task) {
		if c := task[i]; plainRune(rune(c)) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "=%02x", c)
		}
	}
	if b.Len() <= nameBytesMax {
		return b.String()
	}
	h := fnv.New64a()
	h.Write([]byte(task)) // never fails
	return fmt.Sprintf("%s=%016x", b.String()[:nameBytesMax-17], h.Sum64())
}

// shorten cuts what a model wrote to a length that fits into a line.
func shorten(text string) string {
	if len(text) <= 60 {
		return text
	}
	return strings.ToValidUTF8(text[:60], "") + "…"
}
