// Draws the pictures of README and docs: runs the demo of the built program in a terminal and writes docs/images/*.svg.
import { openDemo } from "./demo-screen.js";

await drawTurn();
for (const [theme, page] of [
	["dark", "dark"],
	["light", "light"],
	["high-contrast", "dark"],
] as const) {
	await drawTheme(theme, page);
}

async function drawTurn(): Promise<void> {
	const pi = openDemo({ cols: 100, rows: 48, settings: { theme: "dark" } });
	try {
		await pi.until((screen) => screen.includes("The tests fail") && screen.includes("Demo (scripted)"));
		pi.write("\r");
		await pi.until((screen) => screen.includes("esc stops"));
		await pi.until((screen) => !screen.includes("esc stops") && screen.includes("All tests pass"));
		pi.draw("turn", "A turn: pi reads, runs the tests, edits a file and runs the tests again", (line) =>
			line.includes("Found it."),
		);
		pi.write("/po");
		await pi.until((screen) => screen.includes("/pop [turn]"));
		pi.draw("palette", "The palette lists /pop, a command that a hook adds", (line) => line.startsWith("──"));
		pi.write("\r");
		await pi.until((screen) => screen.includes("Pop to which turn?"));
		pi.write("\r");
		await pi.until((screen) => screen.includes("opped to turn"));
		pi.draw("popped", "After /pop: the gutter shows that a summary replaces the work");
		pi.write("/context\r");
		await pi.until((screen) => screen.includes("Next request"));
		pi.draw("context", "/context after a pop: the summary and the hidden messages", (line) =>
			line.includes("Next request"),
		);
		pi.write("\x1b");
		await pi.until((screen) => !screen.includes("Next request"));
		pi.write("/hotkeys\r");
		await pi.until((screen) => /^ Key bindings /m.test(screen));
		pi.draw("keys", "/hotkeys shows what every key does", (line) => line.startsWith(" Key bindings "));
	} finally {
		await pi.close();
	}
}

/** Draws the sample of `/theme` with the list below it. */
async function drawTheme(theme: string, page: "dark" | "light"): Promise<void> {
	const pi = openDemo({ cols: 90, rows: 40, page, settings: { theme } });
	try {
		await pi.until((screen) => screen.includes("Demo (scripted)"));
		// Removes the suggestion that the demo starts with.
		pi.write("\x03");
		await pi.until((screen) => screen.includes("again to quit"));
		pi.write("/theme");
		await pi.until((screen) => screen.includes("Choose the color theme"));
		pi.write("\r");
		await pi.until((screen) => screen.includes("Which theme?"));
		pi.draw(
			`theme-${theme}`,
			`The theme ${theme}`,
			(line) => line.startsWith("┆"),
			(line) => line.includes("enter select"),
		);
	} finally {
		await pi.close();
	}
}
