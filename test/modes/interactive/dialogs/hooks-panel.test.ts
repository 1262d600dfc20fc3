import { expect, test } from "vitest";
import { toolCall } from "../../../helpers/loopback-provider.js";
import { type App, startApp } from "../app.js";

/** The first lines of the panel, title short or in full. */
const OPEN = /^ Hooks(, in the order| {2,})/m;

const HOOKS = {
	"broken.ts": "export default 7;",
	"gate.ts": `export default (pi) => {
		pi.on("tool_call", () => ({ block: true, reason: "no" }));
		pi.command("check", { handler: () => {} });
	};`,
	"later.ts": `export default (pi) => { pi.on("session", ({ reason }) => { if (reason === "clear") throw new Error("x"); }); pi.command("check", { handler: () => {} }); };`,
	"sad.ts": `export default (pi) => pi.on("turn_end", () => { throw new Error("cannot find eslint"); });`,
	"short.ts": `export default (pi) => pi.on("context", ({ messages }) => ({ messages: messages.slice(0, 1) }));`,
	"silent.ts": `export default (pi) => pi.on("before_request", () => {});`,
	"unused.ts": `export default (pi) => pi.on("tool_result", () => {});`,
};

/** A screen in which the parts that differ between runs are normalized. */
async function stable(app: App): Promise<string> {
	const screen = await app.terminal.screen();
	const from = screen.findIndex((line) => OPEN.test(line) || line.startsWith(" sad"));
	const to = screen.findIndex((line, at) => at > from && (line.startsWith("~") || line.startsWith("/tmp")));
	const text = screen.slice(from, to).join("\n");
	return `${text.replace(/\/tmp\/pi-agent-\w+/g, "/tmp/pi-agent-xxxxxx")}\n`;
}

/** Durations differ between runs, also in their width. */
function stopClock(app: App): void {
	const { inspector } = app.session();
	const measured = inspector.hookStatuses.bind(inspector);
	inspector.hookStatuses = () =>
		measured().map((status) => ({
			...status,
			figures: { ...status.figures, p50Ms: status.figures.p50Ms && 0, p95Ms: status.figures.p95Ms && 0 },
		}));
}

async function openPanel(columns: number): Promise<App> {
	const app = await startApp({ columns, rows: 40, hooks: HOOKS });
	app.provider.reply([toolCall("bash", { command: "true" })], "Blocked.");
	await app.terminal.waitFor("0%");
	await app.submit("run it");
	await app.terminal.waitFor("Blocked.");
	stopClock(app);
	await app.submit("/hooks");
	await app.terminal.waitFor(OPEN);
	return app;
}

test("the panel names calls, times, errors, conflicts and hooks that never fired", async () => {
	const app = await openPanel(100);
	await expect(await stable(app)).toMatchFileSnapshot("../../../screens/hooks-panel.txt");
	await app.terminal.press("down", "down", "down", "down", "down", "enter");
	await expect(await stable(app)).toMatchFileSnapshot("../../../screens/hooks-panel-details.txt");
	await app.terminal.press("escape", "escape");
	expect(await app.terminal.text()).not.toMatch(OPEN);
});

test("at 40 columns each hook has a line with its name and state", async () => {
	const app = await openPanel(40);
	await expect(await stable(app)).toMatchFileSnapshot("../../../screens/hooks-panel-40.txt");
});

test("space turns a hook off and on, ctrl+r reloads all hooks", async () => {
	const app = await openPanel(80);
	expect(app.session().context.messages).toHaveLength(1);
	await app.terminal.press("down", "down", "down", "down", "down", "down");
	await app.terminal.type(" ");
	await app.terminal.waitFor(/short .* off/);
	expect(app.session().context.messages.length).toBeGreaterThan(1);
	await app.terminal.type(" ");
	await app.terminal.waitFor((screen) => screen.some((line) => /short .*calls/.test(line)));
	expect(app.session().context.messages).toHaveLength(1);
	const reloads = app.session().loaded.hooks.length;
	await app.terminal.press("ctrl+r");
	await app.terminal.waitFor(OPEN);
	expect(app.session().loaded.hooks).toHaveLength(reloads);
});

test("a hook that fails to load is listed with the reason", async () => {
	const app = await openPanel(100);
	// After the hooks that are loaded, and before the bundled ones that are off.
	for (let row = 0; row < 9; row++) await app.terminal.press("down");
	await app.terminal.press("enter");
	const text = (await app.terminal.text()).replace(/\s*\n\s*/g, " ");
	expect(text).toMatch(/problem +Hook \S+broken\.ts did not load: its default export is not a function/);
});

async function openBundled(columns: number): Promise<App> {
	const app = await startApp({ columns, rows: 30 });
	await app.terminal.waitFor("0%");
	await app.submit("/hooks");
	await app.terminal.waitFor(OPEN);
	return app;
}

/** The rows of the panel without its title and keys. */
async function rows(app: App): Promise<string[]> {
	const screen = await app.terminal.screen();
	const from = screen.findIndex((line) => OPEN.test(line));
	const to = screen.findIndex((line) => line.startsWith(" ↑↓"));
	return screen.slice(from, to).map((line) => line.trimEnd());
}

test.each([
	[
		40,
		[
			" Hooks     1/49 · 3 on · 46 bundled off",
			" Loaded, in the order they run",
			" → fold          /fold /u…  never fired",
			"   pin           /pin /un…  never fired",
			"   stacking      /pop /un…  never fired",
			" Off · context",
			"   clear         clears old tool result…",
		],
	],
	[
		80,
		[
			" Hooks  type to filter                             1/49 · 3 on · 46 bundled off",
			" Loaded, in the order they run",
			" → fold                 bundled  /fold /unfold · agent_start agen…  never fired",
			"   pin                  bundled              /pin /unpin · context  never fired",
			"   stacking             bundled  /pop /unpop · agent_start agent_…  never fired",
			" Off · context",
			"   clear                clears old tool results when that saves money",
		],
	],
	[
		120,
		[
			" Hooks  type to filter                                                                     1/49 · 3 on · 46 bundled off",
			" Loaded, in the order they run",
			" → fold                 bundled                              /fold /unfold · agent_start agent_end context  never fired",
			"   pin                  bundled                                                      /pin /unpin · context  never fired",
			"   stacking             bundled                                /pop /unpop · agent_start agent_end context  never fired",
			" Off · context",
			"   clear                clears old tool results when that saves money",
		],
	],
])(
	"at %i columns the panel lists the bundled hooks, and those that are off after them by group",
	async (columns, first) => {
		const app = await openBundled(columns);
		expect((await rows(app)).slice(0, 7)).toEqual(first);
	},
);

test("every guard is described in one line of 80 columns, and the selected one completely in a narrow window", async () => {
	const app = await openBundled(80);
	await app.terminal.type("guards");
	expect((await rows(app)).slice(1)).toEqual([
		" Off · guards",
		" → claude-hooks         runs hooks of Claude Code, after pi import claude",
		"   confirm-destructive  asks when you leave a session with uncommitted changes",
		"   dirty-repo-guard     asks once before changes to a dirty work tree",
		"   permission-gate      asks before each command that is not clearly harmless",
		"   permissions          asks before everything but reading, by your rules",
		"   protected-paths      blocks writes to .env, .git and node_modules, unasked",
		"   redact               masks secrets in tool results",
	]);
	app.terminal.resize(40, 30);
	await app.terminal.waitFor("import claude");
});

test("typing filters the hooks by name, command and description, and keeps the selected one", async () => {
	const app = await openBundled(80);
	await app.terminal.type("pop");
	expect(await rows(app)).toEqual([
		" Hooks  pop                                         1/1 · 3 on · 46 bundled off",
		" Loaded, in the order they run",
		expect.stringContaining(" → stacking "),
	]);
	await app.terminal.press("backspace", "backspace", "backspace");
	await app.terminal.waitFor(/→ stacking/);
	expect((await rows(app))[0]).toContain("3/49 ·");
	await app.terminal.type("nothing like it");
	expect((await rows(app))[0]).toContain("0/0");
	expect(await app.terminal.text()).toContain("nothing matches");
	await app.terminal.press("enter");
	await app.terminal.type("x");
	await app.terminal.press("escape");
	expect(await app.terminal.text()).not.toMatch(OPEN);
});

test("space turns bundled hooks off and on in the user's settings, at once and for later sessions", async () => {
	const app = await openBundled(80);
	await app.terminal.type(" ");
	await app.terminal.waitFor(/→ fold +replaces a range of turns with a summary$/m);
	expect(app.settings.current.hooks).toEqual(["-pi:fold"]);
	expect(
		app
			.session()
			.palette()
			.map(({ name }) => name),
	).not.toContain("fold");
	await app.terminal.type("clear");
	await app.terminal.waitFor(/→ clear +clears/);
	await app.terminal.type(" ");
	await app.terminal.waitFor(/→ clear .* 1 call/);
	expect(app.settings.current.hooks).toEqual(["-pi:fold", "pi:clear"]);
	expect(
		app
			.session()
			.palette()
			.map(({ name }) => name),
	).toContain("cleared");
	const again = await startApp({ agentDir: app.agentDir });
	await again.terminal.waitFor("0%");
	expect(again.session().loaded.hooks.map(({ path }) => path)).toEqual(["pi:clear", "pi:pin", "pi:stacking"]);
});

test("the last row is reached with end, and space turns it on", async () => {
	const app = await openBundled(80);
	await app.terminal.press("end");
	await app.terminal.waitFor(/→ ssh +runs tools on another machine/);
	for (let row = 0; row < 3; row++) await app.terminal.press("up");
	await app.terminal.waitFor(/→ status-line +shows branch/);
	await app.terminal.type(" ");
	await app.terminal.waitFor(/→ status-line +bundled/);
	expect(app.settings.current.hooks).toEqual(["pi:status-line"]);
});

test.each([40, 80, 120])(
	"a hook's tools are listed, with those that replace a built-in tool, at %d",
	async (columns) => {
		const tool = (name: string) =>
			`pi.tool({ name: "${name}", description: "d", parameters: { type: "object" }, run() {} });`;
		const hooks = { "mine.ts": `export default (pi) => { ${tool("read")} ${tool("shout")} };` };
		const app = await startApp({ columns, rows: 40, hooks });
		await app.terminal.waitFor("0%");
		await app.submit("/hooks");
		await app.terminal.waitFor(OPEN);
		if (columns > 40) expect(await app.terminal.text()).toMatch(/mine .*tool read tool shout/);
		for (let row = 0; !/→ .*mine /.test(await app.terminal.text()) && row < 9; row++) await app.terminal.press("down");
		await app.terminal.press("enter");
		await app.terminal.waitFor("calls     never fired");
		const lines = (await app.terminal.text()).split("\n").map((line) => line.trim());
		const from = lines.findIndex((line) => line.startsWith("tools "));
		const text = lines
			.slice(
				from,
				lines.findIndex((line) => line.startsWith("calls ")),
			)
			.join(" ");
		expect(text).toBe("tools     read (replaces the built-in tool), shout");
	},
);

test.each([
	[
		40,
		[
			"   bus           listens …  never fired",
			"   flag          --deep     never fired",
			"   keys          key ctrl…  never fired",
			"   lab           provider…  never fired",
			"   none          register…  never fired",
		],
	],
	[
		80,
		[
			"   bus                  /tmp/pi-agent-xxxxxx…  listens to deploy:done  never fired",
			"   flag                 /tmp/pi-agent-xxxxxx/hooks/flag.ts  --deep  never fired",
			"   keys                 /tmp/pi-agent-xxxxxx/h…  key ctrl+y key f5  never fired",
			"   lab                  /tmp/pi-agent-xxxxxx/hooks…  provider corp  never fired",
			"   none                 /tmp/pi-agent-xxxxxx/h…  registers nothing  never fired",
		],
	],
	[
		120,
		[
			"   bus                  /tmp/pi-agent-xxxxxx/hooks/bus.ts                           listens to deploy:done  never fired",
			"   flag                 /tmp/pi-agent-xxxxxx/hooks/flag.ts                                          --deep  never fired",
			"   keys                 /tmp/pi-agent-xxxxxx/hooks/keys.ts                               key ctrl+y key f5  never fired",
			"   lab                  /tmp/pi-agent-xxxxxx/hooks/lab.ts                                    provider corp  never fired",
			"   none                 /tmp/pi-agent-xxxxxx/hooks/none.ts                               registers nothing  never fired",
		],
	],
])(
	"hooks with only keys, flags, providers or events between hooks are listed with these, at %d",
	async (columns, rows) => {
		const hooks = {
			"bus.ts": `export default (pi) => pi.events.on("deploy:done", () => {});`,
			"flag.ts": `export default (pi) => pi.flag("deep", { type: "boolean" });`,
			"keys.ts": `export default (pi) => { pi.shortcut("ctrl+y", { handler() {} }); pi.shortcut("f5", { handler() {} }); };`,
			"lab.ts": `export default (pi) => pi.provider("corp", { models: [{ id: "m" }], async *stream() {} });`,
			"none.ts": `export default () => {};`,
		};
		const app = await startApp({ columns, rows: 40, hooks });
		await app.terminal.waitFor("0%");
		await app.submit("/hooks");
		await app.terminal.waitFor(OPEN);
		const lines = (await stable(app)).split("\n").map((line) => line.trimEnd());
		const shown = lines.filter((line) => /^ . (bus|flag|keys|lab|none) /.test(line));
		expect(shown).toEqual(rows);
		while (!/→ .*keys /.test(await app.terminal.text())) await app.terminal.press("down");
		await app.terminal.press("enter");
		expect(await app.terminal.waitFor("calls     never fired")).toContain(" keys      ctrl+y, f5");
	},
);
