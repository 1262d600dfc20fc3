import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { toolCall } from "../../../helpers/loopback-provider.js";
import { skipTime } from "../../../helpers/skip-time.js";
import { tempAgentDir, tempDir } from "../../../helpers/temp.js";
import { type App, startApp } from "../app.js";
import { TAIL } from "../dialogs/support.js";
import { playScenes, type Scene, startStory } from "./scene.js";

const LIMIT_MS = 60_000;
const SELECTED = /^ ?→/m;
const ASKS = `export default (pi) => {
	const colors = ["red", "green", "blue"].map((label) => ({ label, value: label, description: "a color" }));
	const command = (name, handler) => pi.command(name, { handler: async (ctx) => void (await handler(ctx.ui)) });
	command("fresh", (ui) => ui.confirm("Clear session?", "This starts a new session; the old one stays in /resume."));
	command("pick", (ui) => ui.select("Which color?", colors));
	command("many", (ui) => ui.select("Which colors?", colors, { multiple: true, initial: ["green"] }));
	command("word", (ui) => ui.input("Which word?", "any"));
	command("write", (ui) => ui.editor("Commit message", "fix: round half up"));
};`;

/** A scene that submits a line, or presses keys on the scene before. */
function scene(name: string, title: RegExp, submits: string, more: Partial<Scene> = {}): Scene {
	return { name, title, selected: SELECTED, open: (app) => app.submit(submits), ...more };
}

test(
	"questions of hooks",
	async () => {
		const app = await startStory({ hooks: { "asks.ts": ASKS } });
		await app.terminal.waitFor("0%");
		await playScenes(app, [
			scene("confirm", /Clear session\?/, "/fresh"),
			scene("select", /Which color\?/, "/pick"),
			scene("select-many", /Which colors\?/, "/many"),
			scene("input", /Which word\?/, "/word", { selected: /^ ?>/m }),
			scene("text", /Commit message/, "/write", { selected: /fix: round half up/ }),
		]);
	},
	LIMIT_MS,
);

const EDIT = { path: "src/price.ts", oldText: "floor", newText: "round" };
const PRICE = "export function price(cents) {\n\treturn Math.floor(cents) / 100;\n}\n";

test(
	"approvals",
	async () => {
		const app = await startStory({
			agentSettings: { hooks: ["pi:permissions"] },
			files: { "src/price.ts": PRICE },
		});
		app.provider.reply(
			[toolCall("bash", { command: "git push --force origin main" })],
			[toolCall("edit", EDIT)],
			"As you wish.",
		);
		const begin = async (one: App) => {
			await one.submit("publish it");
			await one.terminal.waitFor("→ n  No");
		};
		await app.terminal.waitFor("0%");
		const chooseRule = async (one: App) => {
			await one.terminal.press("down", "down", "down");
			skipTime(1);
			await one.terminal.press("enter");
		};
		await playScenes(app, [
			scene("approval", /Run this command\?/, "", { open: begin, close: [] }),
			scene("approval-rule", /enter accept the rule/, "", { open: chooseRule, selected: /^ ?>/m }),
			scene("approval-message", /> not on main/, "", {
				open: (one) => one.terminal.type("not on main"),
				selected: undefined,
				close: ["escape"],
			}),
			scene("approval-diff", /Change this file\?/, "", {
				open: async (one) => {
					skipTime(1);
					await one.terminal.type("n");
					await one.terminal.waitFor("Change this file?");
				},
			}),
			scene("refused", /As you wish/, "", {
				open: async (one) => one.terminal.waitFor("As you wish"),
				isTranscript: true,
				selected: undefined,
				close: [],
			}),
			scene("permissions", /[Pp]ermissions|[Rr]ules/, "/permissions", { isTranscript: true, selected: undefined }),
		]);
	},
	LIMIT_MS,
);

const PROJECT_HOOK = 'export default (pi) => pi.command("deploy", { description: "it ran", handler() {} });';

test(
	"the question about a project's code",
	async () => {
		const app = await startStory({ files: { ".pi/hooks/deploy.ts": PROJECT_HOOK } });
		await playScenes(app, [
			scene("trust-project", /Run\s+it\?/, "", {
				open: async () => {},
				selected: /→ n {2}No/,
				close: [],
				unpinned: "pinned elsewhere",
			}),
			scene("trust-project-code", /lines 1–/, "", {
				open: async (one) => {
					skipTime(1);
					await one.terminal.type("v");
				},
				selected: undefined,
			}),
		]);
	},
	LIMIT_MS,
);

test(
	"the question about a handle",
	async () => {
		const agentDir = tempAgentDir({
			hooks: { "asks.ts": 'export default (pi) => pi.requires("systemItems");' },
		});
		const app = await startStory({ agentDir });
		await playScenes(app, [
			scene("grant", /asks for systemItems/, "", {
				open: async () => {},
				selected: /→ n {2}Do not/,
				unpinned: "varies",
			}),
		]);
	},
	LIMIT_MS,
);

test(
	"missing hooks",
	async () => {
		const agentDir = tempAgentDir({ hooks: { "tail.ts": TAIL } });
		const cwd = tempDir("pi-shop-");
		const first = await startApp({ agentDir, cwd });
		first.provider.reply("It rounds down.", "The tax code is next.");
		await first.terminal.waitFor("0%");
		await first.submit("why does checkout round down?");
		await first.terminal.waitFor("It rounds down.");
		await first.submit("/tail");
		await first.submit("now the tax code");
		await first.terminal.waitFor("is next.");
		const target = first.session().sessionFile ?? "";
		await first.terminal.press("ctrl+d");
		await first.exit;
		rmSync(join(agentDir, "hooks", "tail.ts"));
		const app = await startStory({ agentDir, cwd, session: { kind: "open", target } });
		await playScenes(app, [scene("missing-hooks", /The hooks of/, "", { open: async () => {}, unpinned: "varies" })]);
	},
	LIMIT_MS,
);

test(
	"the first start",
	async () => {
		const app = await startStory({ withoutModel: true, mode: { startDemo: () => {} } });
		await playScenes(app, [
			scene("first-run", /pi has no model/, "", { open: async () => {}, close: [] }),
			scene("first-run-provider", /Which provider\?/, "", {
				open: (one) => one.terminal.press("down", "enter"),
				close: [],
			}),
			scene("first-run-key", /API key for/, "", {
				open: async (one) => {
					await one.terminal.type("groq");
					await one.terminal.press("enter");
					await one.terminal.waitFor("API key for");
					await one.terminal.paste("gsk_0123456789");
				},
				selected: /^ ?>/m,
				close: ["escape", "escape"],
			}),
		]);
	},
	LIMIT_MS,
);
