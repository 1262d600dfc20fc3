/** Maximum length of a title or a notification, in characters. */
const MAX_LENGTH = 1000;

/** OSC, a number, text without control characters, and the end. */
const OSC = /\x1b\](\d{1,3});([^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]{0,4096})(?:\x07|\x1b\\)/g;

/** Text that starts like a command: some terminals run macros and programs with OSC 9. */
const COMMAND = /^\s*\d+(?:;|$)/;
const PROGRESS = /^4;[0-4](?:;\d{1,3})?$/;
/** Of OSC 99, what only shows a text: nothing that the terminal answers, which would be input for pi. */
const SHOWN_KEYS = /^(?:[dieuo]=[\w+./=-]*|p=(?:title|body))?$/;

const HARMLESS: Readonly<Record<string, (text: string) => boolean>> = {
	// The title of the window, of the icon, or of both.
	"0": () => true,
	"1": () => true,
	"2": () => true,
	"9": (text) => !COMMAND.test(text) || PROGRESS.test(text),
	"99": (text) => text.includes(";") && (text.split(";")[0] ?? "").split(":").every((key) => SHOWN_KEYS.test(key)),
	"777": (text) => text.startsWith("notify;"),
};

/**
 * Separates the sequences that only show a notification, a progress or a title of the window from the rest of a text, which
 * must not reach the terminal unchanged.
 */
export function takeHarmless(text: string): { sequences: string; rest: string } {
	let sequences = "";
	const rest = text.replace(OSC, (sequence, number, content) => {
		const isHarmless = Object.hasOwn(HARMLESS, number) && HARMLESS[number]?.(content) === true;
		if (!isHarmless || content.length > MAX_LENGTH) return sequence;
		sequences += sequence;
		return "";
	});
	return { sequences, rest };
}
