package browser

import (
	"strings"
	"unicode/utf8"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Press presses keys: one by its name (Enter, Tab, Escape, ArrowDown, …) or its character, with modifiers
// before it if there are some: Shift+Tab, Control+k.
func (tab *Tab) Press(keys string) {
	tab.t.Helper()
	var held []chromedp.Modifier
	key := keys
	for {
		name, rest, isMore := strings.Cut(key, "+")
		modifier, isModifier := modifierOf(name)
		if !isMore || !isModifier {
			break
		}
		held, key = append(held, modifier), rest
	}
	text, isKnown := keyOf(key)
	if !isKnown {
		tab.t.Fatalf("press %s: there is no such key", keys)
	}
	tab.do("press "+keys, chromedp.KeyEvent(text, chromedp.KeyModifiers(held...)))
}

func modifierOf(name string) (m chromedp.Modifier, isModifier bool) {
	switch name {
	case "Shift":
		return chromedp.Modifier(kb.ModifierShift), true
	case "Control":
		return chromedp.Modifier(kb.ModifierCtrl), true
	case "Alt":
		return chromedp.Modifier(kb.ModifierAlt), true
	case "Meta":
		return chromedp.Modifier(kb.ModifierMeta), true
	}
	return 0, false
}

// keyOf is how chromedp writes a key.
func keyOf(name string) (key string, isKnown bool) {
	switch name {
	case "Enter":
		return kb.Enter, true
	case "Tab":
		return kb.Tab, true
	case "Escape":
		return kb.Escape, true
	case "Backspace":
		return kb.Backspace, true
	case "Delete":
		return kb.Delete, true
	case "ArrowDown":
		return kb.ArrowDown, true
	case "ArrowUp":
		return kb.ArrowUp, true
	case "ArrowLeft":
		return kb.ArrowLeft, true
	case "ArrowRight":
		return kb.ArrowRight, true
	case "Home":
		return kb.Home, true
	case "End":
		return kb.End, true
	case "PageUp":
		return kb.PageUp, true
	case "PageDown":
		return kb.PageDown, true
	case "Space":
		return " ", true
	}
	return name, utf8.RuneCountInString(name) == 1
}
