import { test } from "vitest";
import { httpError, text, thinking, toolCall } from "../../../helpers/loopback-provider.js";
import type { App } from "../app.js";
import { playScenes, type Scene, startStory } from "./scene.js";

const LIMIT_MS = 60_000;
const SELECTED = /^ ?→/m;
const PRICE = "export function price(cents) {\n\treturn Math.floor(cents) / 100;\n}\n";
const NOTES = `export default (pi) => {
	pi.on("session", (event, ctx) => {
		ctx.ui.setWidget("list", (_tui, theme) => ({
			render: () => [theme.accent("○") + " round half up", theme.dim("○ the tax code")],
			invalidate: () => {},
		}));
		ctx.ui.setStatus("count", "2 todos");
	});
	pi.command("say", { description: "Say it in three ways", handler: (ctx) => {
		ctx.ui.notify("An information");
		ctx.ui.notify("A warning", "warning");
		ctx.ui.notify("An error", "error");
	} });
};`;

function scene(name: string, title: RegExp, open: (app: App) => Promise<unknown>, more: Partial<Scene> = {}): Scene {
	return { name, title, open, ...more };
}

/** A scene of the transcript, which the next one continues. */
function shown(name: string, title: RegExp, open: (app: App) => Promise<unknown>, more: Partial<Scene> = {}): Scene {
	return scene(name, title, open, { isTranscript: true, close: [], ...more });
}

test(
	"a session: start, completion, a turn, errors, the transcript",
	async () => {
		const app = await startStory({
			hooks: { "notes.ts": NOTES },
			files: { "AGENTS.md": "Use tabs.", "src/price.ts": PRICE, "src/price.test.ts": "" },
			agentSettings: { hooks: ["pi:plan-mode"], retry: { maxRetries: 0 } },
			modelOptions: { reasoning: true },
		});
		app.provider.reply(
			[
				thinking("The price code probably floors.\nThe test will tell.", "reasoning_content"),
				text(
					"I'll look at the **price code** and `its test`.\n\n- one [link](http://example.org)\n\n> a quote\n\n```ts\nconst a = 1; // one\n```",
				),
				toolCall("read", { path: "src/price.ts" }),
				toolCall("bash", { command: "echo '✗ rounds half up'; exit 1" }),
				toolCall("edit", { path: "src/price.ts", oldText: "Math.floor(cents)", newText: "Math.round(cents)" }),
				toolCall("read", { path: "src/missing.ts" }),
			],
			"`Math.floor` cut the half cent. Fixed.",
			httpError(401, {}, "the key is not valid"),
		);
		await app.terminal.waitFor("0%");
		await playScenes(app, [
			shown("start", /^pi 0\.1/m, (one) => one.terminal.waitFor("2 todos")),
			scene("palette", /\/model/, (one) => one.terminal.type("/"), { selected: SELECTED, close: ["escape", "ctrl+u"] }),
			scene("files", /price\.ts/, (one) => one.terminal.type("see @pri"), {
				selected: SELECTED,
				close: ["escape", "ctrl+u"],
			}),
			shown(
				"turn",
				/Fixed\./,
				async (one) => {
					await one.submit("why does checkout round down?");
					await one.terminal.waitFor("Fixed.");
				},
				{ rows: 60 },
			),
			shown("notices", /An error/, (one) => one.submit("/say")),
			shown("error", /the key is not valid/, async (one) => {
				await one.submit("and the tax code?");
				await one.terminal.waitFor("the key is not valid");
			}),
			shown("refused-command", /not found/, (one) => one.submit("/theme nosuch"), { close: ["ctrl+u"] }),
			shown("shell", /a line of output/, (one) => one.submit("! echo a line of output")),
			shown("mode", /plan mode/, (one) => one.terminal.press("shift+tab"), { styledOnce: /plan mode/ }),
			scene("pager", /Transcript/, (one) => one.terminal.press("ctrl+o"), {
				selected: SELECTED,
				close: [],
				unpinned: "pinned elsewhere",
			}),
			scene("pager-search", /"round" 1 of/, (one) => one.terminal.type("/round\r"), { selected: SELECTED, close: [] }),
			scene("pager-all-open", /Transcript|of/, (one) => one.terminal.type("E"), { selected: SELECTED }),
			shown("quit-hint", /again to quit/, (one) => one.terminal.press("ctrl+c"), { styledOnce: /plan mode/ }),
		]);
	},
	LIMIT_MS,
);

test(
	"a run with queued prompts",
	async () => {
		const app = await startStory();
		const hold = new Promise<never>(() => {});
		app.provider.reply({ content: [text("I am looking at it.")], hold });
		await app.terminal.waitFor("0%");
		await playScenes(app, [
			shown("running", /looking at it/, (one) => one.submit("why does checkout round down?")),
			shown("queued", /and the tax code/, async (one) => {
				await one.submit("also look at the coupons");
				await one.terminal.type("and the tax code");
				await one.terminal.press("alt+enter");
			}),
			shown("stopped", /stopped/, (one) => one.terminal.press("escape"), { close: ["ctrl+u"] }),
		]);
	},
	LIMIT_MS,
);

test(
	"a retry",
	async () => {
		const app = await startStory({ agentSettings: { retry: { maxRetries: 3, baseDelayMs: 60_000 } } });
		app.provider.reply(httpError(529, {}, "Overloaded"));
		await app.terminal.waitFor("0%");
		await playScenes(app, [shown("retry", /retry 1\/3/, (one) => one.submit("hi"), { close: ["escape"] })]);
	},
	LIMIT_MS,
);
