import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pty from "@lydell/node-pty";
import headless from "@xterm/headless";
import { isLightPage, type Page, terminalSvg } from "./svg.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const manifest: { bin: { pi: string } } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const images = join(root, "docs", "images");
const WAIT_MS = 30_000;

/** The demo of the built program in a terminal whose screen can be drawn as pictures. */
export interface DemoScreen {
	write(keys: string): void;
	/** Resolves when `found` returns true for the screen. @throws after 30 s, or if the program ends */
	until(found: (screen: string) => boolean): Promise<void>;
	/** Whether `found` returns true for the screen within half a second. */
	soon(found: (screen: string) => boolean): Promise<boolean>;
	/** Writes the screen to docs/images/<name>.svg, from the first line accepted by `starts` up to one accepted by `ends`. */
	draw(name: string, title: string, starts?: (line: string) => boolean, ends?: (line: string) => boolean): void;
	/** Ends the program. */
	close(): Promise<void>;
}

export interface DemoScreenOptions {
	cols: number;
	rows: number;
	page?: Page;
	settings?: object;
}

/** Starts the demo in a temporary directory, which `close` deletes. */
export function openDemo({ cols, rows, page = "dark", settings = {} }: DemoScreenOptions): DemoScreen {
	const home = mkdtempSync(join(tmpdir(), "pi-pictures-"));
	const agentDir = join(home, ".pi", "agent");
	mkdirSync(agentDir, { recursive: true });
	writeFileSync(join(agentDir, "settings.json"), JSON.stringify(settings));
	const terminal = new headless.Terminal({ cols, rows, scrollback: 10_000, allowProposedApi: true });
	const pi = pty.spawn(process.execPath, [join(root, manifest.bin.pi), "--demo"], {
		cols,
		rows,
		cwd: home,
		env: {
			PATH: process.env.PATH ?? "",
			HOME: home,
			TMPDIR: home,
			TERM: "xterm-256color",
			npm_config_update_notifier: "false",
			COLORTERM: "truecolor",
			COLORFGBG: isLightPage(page) ? "0;15" : "15;0",
			LANG: "C.UTF-8",
			PI_CODING_AGENT_DIR: agentDir,
		},
	});
	let hasEnded = false;
	pi.onData((data) => terminal.write(anonymous(data)));
	const ended = new Promise<void>((resolve) => {
		pi.onExit(() => {
			hasEnded = true;
			resolve();
		});
	});
	terminal.onData((answer) => pi.write(answer));
	const visible = () => {
		const { active } = terminal.buffer;
		const lines = Array.from({ length: rows }, (_, row) => active.getLine(active.baseY + row));
		return lines.map((line) => line?.translateToString(true)).join("\n");
	};
	const shows = async (found: (screen: string) => boolean, timeoutMs: number) => {
		const deadline = Date.now() + timeoutMs;
		while (!found(visible())) {
			if (hasEnded || Date.now() > deadline) return false;
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
		return true;
	};
	return {
		write: (keys) => pi.write(keys),
		async until(found) {
			if (!(await shows(found, WAIT_MS))) throw new Error(`The screen did not appear. Last screen:\n${visible()}`);
		},
		soon: (found) => shows(found, 500),
		draw(name, title, starts = () => true, ends) {
			const { baseY } = terminal.buffer.active;
			const lines = visible().trimEnd().split("\n");
			const from = baseY + lines.findIndex(starts);
			const to = baseY + (ends ? lines.findIndex(ends) : lines.length);
			mkdirSync(images, { recursive: true });
			writeFileSync(join(images, `${name}.svg`), terminalSvg(terminal, { from, to, title, page }));
		},
		async close() {
			if (!hasEnded) pi.write("\x1b\x04");
			const timer = setTimeout(() => pi.kill("SIGKILL"), 5000);
			await ended;
			clearTimeout(timer);
			terminal.dispose();
			rmSync(home, { recursive: true, force: true });
		},
	};
}

/** Replaces the random part of the name of the scratch project by text of the same length. */
function anonymous(data: string): string {
	return data.replace(/pi-demo-\w{6}/g, "corner-shop   ");
}
