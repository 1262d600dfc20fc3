// Draws the pictures of the README: plays the demo of the built program in a terminal and writes docs/images/*.svg.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pty from "@lydell/node-pty";
import headless from "@xterm/headless";
import { terminalSvg } from "./svg.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const images = join(root, "docs", "images");
const SIZE = { cols: 100, rows: 48 };
const WAIT_MS = 30_000;

const home = mkdtempSync(join(tmpdir(), "pi-pictures-"));
const terminal = new headless.Terminal({ ...SIZE, scrollback: 10_000, allowProposedApi: true });
const pi = pty.spawn(process.execPath, [join(root, "bin", "pi.js"), "--demo"], {
	...SIZE,
	cwd: home,
	env: {
		PATH: process.env.PATH ?? "",
		HOME: home,
		TMPDIR: home,
		TERM: "xterm-256color",
		npm_config_update_notifier: "false",
		COLORTERM: "truecolor",
		LANG: "C.UTF-8",
		PI_CODING_AGENT_DIR: join(home, ".pi", "agent"),
	},
});
let ended = false;
pi.onData((data) => terminal.write(anonymous(data)));
pi.onExit(() => {
	ended = true;
});
terminal.onData((answer) => pi.write(answer));

try {
	mkdirSync(images, { recursive: true });
	await until((screen) => screen.includes("The tests fail") && screen.includes("Demo (scripted)"));
	pi.write("\r");
	await until((screen) => screen.includes("esc stops"));
	await until((screen) => !screen.includes("esc stops") && screen.includes("All tests pass"));
	draw("turn", "A turn: pi reads, runs the tests, edits a file and runs the tests again", (line) =>
		line.includes("Found it."),
	);
	pi.write("/po");
	await until((screen) => screen.includes("/pop [turn]"));
	draw("palette", "The palette lists /pop, a command that a hook adds", (line) => line.startsWith("──"));
	pi.write("\r");
	await until((screen) => screen.includes("Pop to which turn?"));
	pi.write("\r");
	await until((screen) => screen.includes("opped to turn"));
	draw("popped", "After /pop: the gutter shows that a summary stands in place of the work");
	pi.write("/hotkeys\r");
	await until((screen) => screen.includes("Yank pop"));
	draw("keys", "/hotkeys shows what every key does", (line) => line.includes("Keys"));
	pi.write("\x04");
	await until(() => ended);
} finally {
	if (!ended) pi.kill("SIGKILL");
	terminal.dispose();
	rmSync(home, { recursive: true, force: true });
}

/** Writes what the screen shows, from the first line that `starts` says yes to. */
function draw(name: string, title: string, starts: (line: string) => boolean = () => true): void {
	const { baseY } = terminal.buffer.active;
	const lines = visible().trimEnd().split("\n");
	const from = baseY + lines.findIndex(starts);
	writeFileSync(join(images, `${name}.svg`), terminalSvg(terminal, { from, to: baseY + lines.length, title }));
}

function visible(): string {
	const { active } = terminal.buffer;
	const lines = Array.from({ length: SIZE.rows }, (_, row) => active.getLine(active.baseY + row));
	return lines.map((line) => line?.translateToString(true)).join("\n");
}

async function until(found: (screen: string) => boolean): Promise<void> {
	const deadline = Date.now() + WAIT_MS;
	while (!found(visible())) {
		if (Date.now() > deadline) throw new Error(`Waited ${WAIT_MS} ms in vain. The screen:\n${visible()}`);
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}

/** The scratch project without the random part of its name, as long as before. */
function anonymous(data: string): string {
	return data.replace(/pi-demo-\w{6}/g, "corner-shop   ");
}
