import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pty from "@lydell/node-pty";
import { expect, onTestFinished, test } from "vitest";
import { corners } from "../helpers/images.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { missingPrograms } from "../helpers/programs.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor } from "./support.js";

const NO_TMUX = missingPrograms("tmux", { tmux: "tmux" });
/** How kitty answers when tmux asks for its name. */
const KITTY = "\x1bP>|kitty(0.40.0)\x1b\\";
const PLACEHOLDER = "\u{10eeee}";

/** Runs pi in tmux in a terminal that names itself, with a PNG in the project. */
async function inTmux({ passthrough, name }: { passthrough: "on" | "off"; name: string }) {
	const provider = await startProvider();
	const cwd = tempDir();
	writeFileSync(join(cwd, "shot.png"), Buffer.from(corners(180, 90, "png").data, "base64"));
	const { env } = piPlace({ agentDir: agentDirFor(provider), cwd });
	const config = join(tempDir(), "tmux.conf");
	writeFileSync(config, `set -g allow-passthrough ${passthrough}\nset -g status off\nset -sg escape-time 0\n`);
	const socket = join(tempDir(), "s");
	const command = `${process.execPath} ${piProgram()}`;
	const child = pty.spawn("tmux", ["-S", socket, "-f", config, "new-session", command], {
		cols: 80,
		rows: 24,
		cwd,
		env: { ...env, TERM: "xterm-256color" },
	});
	let output = "";
	let isAnswered = false;
	child.onData((data) => {
		output += data;
		if (isAnswered || !output.includes("\x1b[>q")) return;
		isAnswered = true;
		child.write(name);
	});
	onTestFinished(() => {
		spawnSync("tmux", ["-S", socket, "kill-server"]);
		child.kill();
	});
	const tmux = (...args: string[]) => spawnSync("tmux", ["-S", socket, ...args], { encoding: "utf8" }).stdout;
	const shows = (text: string | RegExp) =>
		expect.poll(() => tmux("capture-pane", "-p"), { timeout: 10_000, interval: 50 }).toMatch(text);
	provider.reply([toolCall("read", { path: "shot.png" })], "I see it.");
	await shows(/^────/m);
	await expect.poll(() => tmux("list-clients", "-F", "#{client_termtype}"), { timeout: 10_000 }).toContain("(");
	child.write("look at the picture\r");
	await shows("I see it.");
	return { tmux, shows, output: () => output };
}

test.skipIf(NO_TMUX)(
	"in tmux with passthrough, an image is sent to the terminal once and drawn over cells of text",
	async () => {
		const { tmux, shows, output } = await inTmux({ passthrough: "on", name: KITTY });
		await shows(PLACEHOLDER);
		// tmux shows a cell in its copy of the screen before its client has written it.
		await expect.poll(output, { timeout: 10_000 }).toContain(PLACEHOLDER);
		const [sent = "", id] = /\x1b_Ga=t,f=100,i=(\d+),q=2,m=\d;/.exec(output()) ?? [];
		expect(sent).not.toBe("");
		expect(output()).toContain(`\x1b_Ga=p,U=1,i=${id},c=20,r=5,q=2\x1b\\`);
		const rows = tmux("capture-pane", "-p")
			.split("\n")
			.filter((line) => line.includes(PLACEHOLDER));
		expect(rows.map((row) => row.split(PLACEHOLDER).length - 1)).toEqual([20, 20, 20, 20, 20]);
		// Each cell says which part of the image it is, with the id's first byte.
		expect(rows[0]?.slice(rows[0].indexOf(PLACEHOLDER)).startsWith(`${PLACEHOLDER}\u0305\u0305`)).toBe(true);
		expect(rows[1]).toContain(`${PLACEHOLDER}\u030d\u030d`);
		expect(output().split("\x1b_Ga=t").length - 1).toBe(1);
	},
);

test.skipIf(NO_TMUX).each([
	["without passthrough", { passthrough: "off", name: KITTY }],
	["in a terminal that draws no cells", { passthrough: "on", name: "\x1bP>|WezTerm (20240203)\x1b\\" }],
] as const)("in tmux %s, an image is described in a line", async (_where, options) => {
	const { shows, output } = await inTmux(options);
	await shows("image  shot.png  180×90  png");
	expect(output()).not.toContain("\x1b_Ga=t");
});
