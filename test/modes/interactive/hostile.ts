/** One text with everything that could move the cursor, write to the clipboard, hide text or break a layout. */
export const HOSTILE_TEXT = [
	"plain \x1b[2J\x1b[H\x1b[3J cleared",
	"\x1b]0;title\x07 \x1b]52;c;aGk=\x07 \x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
	"\x1b[8mhidden\x1b[0m \x1b[31mred stays open",
	"\x9b2J \x9d0;t\x9c \x90q\x1b\\ \x1b_apc\x1b\\ \x1b[?1049h \x1b[5A \x1b[6n \x1bc",
	"\u202eright to left\u202c \u2066isolate\u2069 zero\u200bwidth \u{e0041}tag",
	"bell\x07 back\b\b\b tab\tnul\x00 del\x7f over\rwritten",
	`${"x".repeat(20_000)}`,
	`${"宽".repeat(3000)}`,
	`\`\`\`js\n\x1b[2J code\n\`\`\``,
	"| a | b |\n|---|---|\n| \x1b[1A | \x1b]0;x\x07 |",
].join("\n");
