import { join } from "node:path";
import { test } from "vitest";
import { SessionLog } from "../../../../src/log/session-log.js";
import { sessionDirName } from "../../../../src/log/session-paths.js";
import { user } from "../../../helpers/entries.js";
import { text, toolCall } from "../../../helpers/loopback-provider.js";
import { tempAgentDir, tempDir, writeFiles } from "../../../helpers/temp.js";
import { replyAt } from "../../../helpers/usage.js";
import { hostile } from "../../../mcp/servers.js";
import type { App } from "../app.js";
import { PRUNE, TAIL } from "../dialogs/support.js";
import { playScenes, type Scene, startStory } from "./scene.js";

/** A list with the arrow at its selected row. */
const SELECTED = /^ ?→/m;

/** A scene of a command that opens a panel. */
function panel(command: string, title: RegExp, more: Partial<Scene> = {}): Scene {
	const name = command.slice(1).replaceAll(" ", "-");
	return { name, title, selected: SELECTED, open: (app) => app.submit(command), ...more };
}

/** A scene that keys open on the one before, and close. */
function within(name: string, keys: string, title: RegExp, more: Partial<Scene> = {}): Scene {
	return { name, title, selected: SELECTED, open: (app) => app.terminal.type(keys), ...more };
}

const KEEP_OPEN = { close: [] } as const;
const NOTE = { isTranscript: true, selected: undefined, close: [] } as const;
const LIMIT_MS = 60_000;

test(
	"panels of models, settings, tools and keys",
	async () => {
		const app = await startStory({
			agentSettings: { queueMode: "all", retry: { maxRetries: 5 } },
			modelOptions: { reasoning: true },
		});
		await app.terminal.waitFor("0%");
		await playScenes(app, [
			panel("/model", /Which model|Models?/, { unpinned: "pinned elsewhere" }),
			panel("/thinking", /[Tt]hinking/),
			panel("/settings", /^ Settings/m, { unpinned: "pinned elsewhere", ...KEEP_OPEN }),
			within("settings-number", "maxretries\r", /retry\.maxRetries: a whole number/, {
				selected: /^ ?>/m,
				close: ["escape", "ctrl+u", "escape"],
			}),
			panel("/theme", /Which theme\?/),
			panel("/tools", /^ Tools/m),
			panel("/hotkeys", /^ Key bindings/m, { selected: undefined }),
			panel("/help", /^ Commands and other input/m),
			panel("/login", /Which provider\?/),
			panel("/setup", /What do you want to set up\?/),
		]);
	},
	LIMIT_MS,
);

/** Earlier sessions with their usage. */
function agentWithSessions(cwd: string): string {
	const agentDir = tempAgentDir();
	for (const [says, cost] of [
		["why does checkout round down?", 1.25],
		["add the coupon field", 0],
	] as const) {
		const log = SessionLog.create({ dir: join(agentDir, "sessions", sessionDirName(cwd)), cwd });
		log.appendAll([
			user(says),
			replyAt("2026-03-01T10:00:00.000Z", { model: "anthropic/claude-opus-4-1", input: 1500, output: 200, cost }),
		]);
		log.close();
	}
	return agentDir;
}

const HOOKS = {
	"gate.ts": `export default (pi) => {
		pi.on("tool_call", () => undefined);
		pi.command("check", { description: "Check it", handler: () => {} });
	};`,
	"prune.ts": PRUNE,
	"sad.ts": `export default (pi) => pi.on("turn_end", () => { throw new Error("cannot find eslint"); });`,
	"tail.ts": TAIL,
};
const OLD = "export function price(cents) {\n\treturn Math.floor(cents) / 100;\n}\n";

async function startWithWork(): Promise<App> {
	const app = await startStory({ hooks: HOOKS, files: { "src/price.ts": OLD } });
	app.provider.reply(
		[toolCall("read", { path: "src/price.ts" })],
		[toolCall("edit", { path: "src/price.ts", oldText: "floor", newText: "round" })],
		[text("`Math.floor` cut the half cent. Fixed.")],
		"The tax code is next.",
	);
	await app.terminal.waitFor("0%");
	await app.submit("why does checkout round down?");
	await app.terminal.waitFor("Fixed.");
	await app.submit("/tail");
	await app.submit("now the tax code");
	await app.terminal.waitFor("is next.");
	return app;
}

test(
	"panels of a session: context, hooks, branches, changes",
	async () => {
		const app = await startWithWork();
		await playScenes(app, [
			panel("/context", /Next request|Context of the next request/, KEEP_OPEN),
			within("context-entry", "\r", /lines? 1/, { selected: undefined }),
			within("context-hidden", "h", /without hidden/, KEEP_OPEN),
			within("context-diff", "hd", /Changes/, { selected: undefined, ...KEEP_OPEN }),
			within("context-without-hook", "dt", /ithout/, { unpinned: "varies", close: ["escape", "escape"] }),
			panel("/hooks", /^ Hooks/m, { unpinned: "varies", ...KEEP_OPEN }),
			within("hook-details", "\r", /bundled/, { unpinned: "varies", selected: undefined, close: ["escape", "escape"] }),
			panel("/branch", /Branch from which message\?/),
			panel("/diff", /^ Changes/m, { selected: /^▌/m, unpinned: "pinned elsewhere" }),
			panel("/trust", /Code of project and packages/),
			panel("/session", /^ {2}Session$/m, { ...NOTE, unpinned: "varies" }),
		]);
	},
	LIMIT_MS,
);

test(
	"earlier sessions",
	async () => {
		const cwd = tempDir("pi-shop-");
		const app = await startStory({ cwd, agentDir: agentWithSessions(cwd) });
		await app.terminal.waitFor("0%");
		await playScenes(app, [
			panel("/resume", /Resume|[Ss]ession/, { unpinned: "varies", ...KEEP_OPEN }),
			{
				...within("resume-delete", "", /Move this session to the trash/),
				open: (one) => one.terminal.press("ctrl+d"),
				unpinned: "varies",
				close: ["escape", "escape"],
			},
			panel("/usage", /Usage by day/, { ...NOTE, unpinned: "pinned elsewhere" }),
		]);
	},
	LIMIT_MS,
);

test(
	"background commands",
	async () => {
		const app = await startStory();
		app.provider.reply(
			[toolCall("bash", { command: "echo listening on 3000; sleep 1000", background: true })],
			"Started.",
		);
		await app.terminal.waitFor("0%");
		await app.submit("start the server");
		await app.terminal.waitFor("▎ Started.");
		await playScenes(app, [
			{ name: "running-job", title: /1 job/, isTranscript: true, open: async () => {}, close: [] },
			panel("/jobs", /Background commands/, { unpinned: "ticks", ...KEEP_OPEN }),
			within("job", "\r", /Stop it/, { unpinned: "ticks" }),
		]);
	},
	LIMIT_MS,
);

test(
	"a compaction with its preview",
	async () => {
		const app = await startStory({ agentSettings: { compaction: { keepRecentTokens: 10 } } });
		app.provider.reply(
			`Because price.ts uses Math.floor.${" So do others.".repeat(20)}`,
			`Done, the test passes.${" Every caller was checked.".repeat(20)}`,
			"I will read tax.ts.",
		);
		await app.terminal.waitFor("0%");
		for (const [prompt, reply] of [
			["why does checkout round down?", "uses Math.floor"],
			["fix it", "the test passes"],
			["now the tax code", "I will read tax.ts"],
		] as const) {
			await app.submit(prompt);
			await app.terminal.waitFor(reply);
		}
		app.provider.reply(
			"## Goal\nCheckout must round half up.\n## Done\n- `Math.round` in src/price.ts\n## Next\nThe tax code.",
		);
		await playScenes(app, [
			panel("/compact", /summary by Scripted|Compact/, KEEP_OPEN),
			{
				name: "compacted",
				title: /compacted here/,
				isTranscript: true,
				open: (one) => one.terminal.press("enter"),
				close: [],
			},
		]);
	},
	LIMIT_MS,
);

test(
	"MCP servers",
	async () => {
		const agentDir = tempAgentDir();
		writeFiles(agentDir, { "mcp.json": { mcpServers: { ours: hostile(), broken: hostile("dies") } } });
		const app = await startStory({ agentDir });
		await app.terminal.waitFor("0%");
		const ready = async (one: App) => {
			await one.submit("/mcp");
			await one.terminal.waitFor(/ours.*ready/);
			await one.terminal.waitFor(/broken.*failed/);
		};
		await playScenes(app, [
			panel("/mcp", /MCP servers/, { unpinned: "pinned elsewhere", open: ready, ...KEEP_OPEN }),
			within("mcp-log", "l", /Log of/, { unpinned: "varies", selected: undefined, ...KEEP_OPEN }),
			within("mcp-server", "l\r", /^ server /m, {
				unpinned: "varies",
				selected: undefined,
				close: ["escape", "escape"],
			}),
		]);
	},
	LIMIT_MS,
);
