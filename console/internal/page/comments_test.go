package page

import "testing"

// Lines of comments are emptied, and nothing else is: not code behind a comment, nor that between two of them.
func TestWithoutComments(t *testing.T) {
	const module = "// One.\n/** @type {A} */ let a;\n  /**\n   * Two * 2 **\n   */\nlet b; // b\n/** @type {C} */\nlet c = \"/** */\";\n"
	const want = "\n/** @type {A} */ let a;\n\n\n\nlet b; // b\n\nlet c = \"/** */\";\n"
	if got := string(withoutComments([]byte(module))); got != want {
		t.Errorf("got\n%s", got)
	}
}
