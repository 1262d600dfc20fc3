// Draws the pictures of README and docs: runs the demo of the built program in a terminal and writes docs/images/*.svg.
import { setTimeout } from "node:timers/promises";
import { type DemoScreen, openDemo } from "./demo-screen.js";
import type { Page } from "./svg.js";

await drawTurn();
await drawApproval();
for (const [theme, page] of [
	["dark", "dark"],
	["light", "light"],
	["high-contrast", "dark"],
	["solarized-dark", "solarized-dark"],
	["solarized-light", "solarized-light"],
	["gruvbox", "gruvbox"],
	["nord", "nord"],
	["catppuccin-mocha", "catppuccin-mocha"],
	["catppuccin-latte", "catppuccin-latte"],
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
		await pi.until((screen) => screen.includes("→ Leave them as they are"));
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

/** Draws the question of a guard with its mode in the footer, and the changes in `/diff`. */
async function drawApproval(): Promise<void> {
	const pi = openDemo({ cols: 90, rows: 56, settings: { theme: "dark", hooks: ["pi:permissions"] } });
	try {
		await pi.until((screen) => screen.includes("The tests fail") && screen.includes("Demo (scripted)"));
		pi.write("\x1b[Z");
		await pi.until((screen) => /^accept edits/m.test(screen));
		pi.write("\r");
		await pi.until((screen) => screen.includes("→ n  No") && screen.includes("bash  npm test"));
		pi.draw("approval", "The guard asks before a command runs", (line) => line.includes("› The tests fail"));
		await choose(pi, "y  Yes, once");
		await pi.until((screen) => screen.includes("tests again") && screen.includes("→ n  No"));
		await choose(pi, "y  Yes, once");
		await pi.until((screen) => !screen.includes("esc stops") && screen.includes("All tests pass"));
		pi.write("/diff\r");
		await pi.until((screen) => screen.includes("Changes of this session"));
		pi.draw("diff", "/diff shows what tools changed, and keeps or reverts it", (line) =>
			line.includes("Changes of this session"),
		);
	} finally {
		await pi.close();
	}
}

/** Selects an answer with the arrow keys, and accepts it once it has been on the screen for a while. */
async function choose(pi: DemoScreen, label: string): Promise<void> {
	// A key counts once the question can have been read.
	await setTimeout(1000);
	pi.write("\x1b[B");
	await pi.until((screen) => screen.includes(`→ ${label}`));
	while (true) {
		pi.write("\r");
		if (await pi.soon((screen) => !screen.includes(`→ ${label}`))) return;
	}
}

/** Draws the sample of `/theme` with the list below it. */
async function drawTheme(theme: string, page: Page): Promise<void> {
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
