import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readKeybindings } from "../../../src/config/keybindings-file.js";
import { tempAgentDir, writeFiles } from "../../helpers/temp.js";
import { startApp } from "./app.js";

/** An app with a file of each kind, whose themes and keys are read from the agent directory. */
async function start(columns: number) {
	const agentDir = tempAgentDir({
		files: {
			"keybindings.json": { "app.model": "alt+up" },
			"themes/mine.json": { colors: {} },
			"skills/tea/SKILL.md": "---\nname: tea\ndescription: Tea\n---\nBoil water.\n",
			"prompts/ask.md": "Ask.",
		},
	});
	const app = await startApp({
		agentDir,
		columns,
		theme: "mine",
		files: { "AGENTS.md": "rules" },
		mode: {
			keybindings: () => readKeybindings(join(agentDir, "keybindings.json")),
			theme: { level: 3, dirs: { user: join(agentDir, "themes"), project: join(agentDir, "none") } },
		},
	});
	await app.terminal.waitFor("1 skill");
	return app;
}

test.each([
	[
		40,
		[
			"  · only pi's own hooks loaded · read",
			"    again: keys, 1 theme, settings, 2",
			"    models, 1 context file, 1 skill, 1",
			"    prompt, 8 tools",
		],
	],
	[
		80,
		[
			"  · only pi's own hooks loaded · read again: keys, 1 theme, settings, 2 models,",
			"    1 context file, 1 skill, 1 prompt, 8 tools",
		],
	],
	[
		120,
		[
			"  · only pi's own hooks loaded · read again: keys, 1 theme, settings, 2 models, 1 context file, 1 skill, 1 prompt, 8",
			"    tools",
		],
	],
])("/reload at %i columns says in one line what it read", async (columns, lines) => {
	const app = await start(columns);
	await app.submit("/reload");
	await app.terminal.waitFor("hooks loaded");
	const screen = await app.terminal.screen();
	const first = screen.findIndex((line) => line.includes("hooks loaded"));
	expect(screen.slice(first, first + lines.length)).toEqual(lines);
});

test.each([
	[
		40,
		[
			"  · 1 hook and pi:agents loaded · read",
			"    again: keys, 0 themes, settings, 2",
			"    models, 0 context files, 0 skills, 0",
			"    prompts, 10 tools, 1 MCP server, 1",
			"    agent",
		],
	],
	[
		80,
		[
			"  · 1 hook and pi:agents loaded · read again: keys, 0 themes, settings, 2",
			"    models, 0 context files, 0 skills, 0 prompts, 10 tools, 1 MCP server, 1",
			"    agent",
		],
	],
	[
		120,
		[
			"  · 1 hook and pi:agents loaded · read again: keys, 0 themes, settings, 2 models, 0 context files, 0 skills, 0 prompts,",
			"    10 tools, 1 MCP server, 1 agent",
		],
	],
])("/reload at %i columns names bundled hooks that are on, MCP servers and agents", async (columns, lines) => {
	const agentDir = tempAgentDir({
		files: {
			"hooks/mine.ts": "export default () => {};",
			"agents/scout.md": "---\nname: scout\ndescription: finds files\n---\nYou are a scout.\n",
			"mcp.json": { mcpServers: { tea: { command: "true" } } },
		},
	});
	const app = await startApp({ agentDir, columns, agentSettings: { hooks: ["pi:agents"] } });
	await app.terminal.waitFor("0%");
	await app.submit("/reload");
	await app.terminal.waitFor("loaded · read");
	const screen = await app.terminal.screen();
	const first = screen.findIndex((line) => line.includes("loaded · read"));
	// The server may have been started by then, and is started again.
	const shown = screen.slice(first, first + lines.length).map((line) => line.replace(/ · restarted.*/, ""));
	expect(shown).toEqual(lines);
});

test("/reload reads keys and themes again; a broken file keeps its last good state and is named with its line", async () => {
	const app = await start(120);
	writeFiles(app.agentDir, {
		"keybindings.json": { "app.model": "ctrl+x" },
		"themes/second.json": { colors: {} },
	});
	await app.submit("/reload");
	await app.terminal.waitFor("2 themes");
	await app.terminal.press("ctrl+x");
	await app.terminal.waitFor("Which model?");
	await app.terminal.press("escape");

	writeFiles(app.agentDir, { "keybindings.json": '{\n"app.model": }', "themes/mine.json": '{\n"colors": }' });
	await app.submit("/reload");
	await app.terminal.waitFor(/failed: keybindings\.json:2:14, mine\.json:2:11/);
	await app.terminal.press("ctrl+x");
	await app.terminal.waitFor("Which model?");
});

test("/new reads keys, skills and templates again and shows in the header what it found", async () => {
	const app = await start(80);
	writeFiles(app.agentDir, {
		"keybindings.json": { "app.model": "ctrl+x" },
		"skills/coffee/SKILL.md": "---\nname: coffee\ndescription: Coffee\n---\nGrind.\n",
	});
	await app.submit("/new");
	await app.terminal.waitFor("New session");
	expect((await app.terminal.screen())[0]).toContain("2 skills · 1 prompt");
	await app.terminal.press("ctrl+x");
	await app.terminal.waitFor("Which model?");
});

test.each([40, 120])(
	"a command of a new hook that is typed during /reload runs once it has loaded, at %i",
	async (columns) => {
		let open = () => {};
		onTestFinished(() => void Reflect.deleteProperty(globalThis, "__reloadGate"));
		const slow = `export default (pi) => pi.on("session", async ({ reason }) => { if (reason === "start") await globalThis.__reloadGate; });`;
		const app = await startApp({ columns, hooks: { "slow.ts": slow } });
		await app.terminal.waitFor("0%");
		const gate = new Promise<void>((resolve) => {
			open = resolve;
		});
		Reflect.set(globalThis, "__reloadGate", gate);
		const fresh = `export default (pi) => pi.command("fresh", { handler: () => ({ status: "it is fresh" }) });`;
		writeFiles(app.agentDir, { "hooks/fresh.ts": fresh });
		await app.submit("/reload");
		await app.terminal.waitFor(/reload/);
		await app.submit("/fresh");
		open();
		await app.terminal.waitFor("it is fresh");
		expect(await app.terminal.text()).not.toContain("Unknown command");
	},
);
