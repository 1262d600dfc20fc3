import { expect, test } from "vitest";
import { createToolsPicker } from "../../../../src/modes/interactive/dialogs/tools-picker.js";
import { SessionTools } from "../../../../src/services/code/session-tools.js";
import { BUILTIN_TOOLS } from "../../../../src/tools/index.js";
import { createKeymap } from "../../../../src/tui/keymap.js";
import { createTheme } from "../../../../src/tui/theme.js";
import { startApp } from "../app.js";

const look = { theme: createTheme("plain"), keymap: createKeymap(), rows: () => 30 };
const paths = { cwd: "/home/ada/src/shop", home: "/home/ada" };

function open() {
	const tools = new SessionTools({
		builtins: BUILTIN_TOOLS,
		own: [
			{
				tool: { ...(BUILTIN_TOOLS[0] ?? expect.fail()), name: "lookup", description: "Look a word up" },
				file: { path: "/home/ada/.pi/agent/tools/lookup/index.ts", realPath: "", scope: "global", name: "lookup" },
			},
		],
		names: undefined,
		extra: [],
		expectsMore: false,
	});
	const closed: string[] = [];
	const picker = createToolsPicker(look, { tools, paths, onClose: () => closed.push("closed") });
	const type = (...keys: string[]) => {
		for (const key of keys) picker.handleInput(key);
	};
	return { tools, picker, closed, type };
}

test.each([80, 40])(
	"every tool is listed with its source, the selected one with its description, at %d",
	async (width) => {
		const { picker, type } = open();
		type("\x1b[B", " ", "\x1b[F");
		await expect(`${picker.render(width).join("\n")}\n`).toMatchFileSnapshot(`../../../screens/tools-${width}.txt`);
	},
);

test("space and enter turn the selected tool off and on, also in a filtered list, until escape", () => {
	const { tools, type, closed } = open();
	const off = () => tools.list().flatMap(({ name, isOn }) => (isOn ? [] : [name]));
	type(..."look", " ");
	expect(off()).toEqual(["lookup"]);
	expect(tools.current.map(({ name }) => name)).not.toContain("lookup");
	type("\r");
	expect(off()).toEqual([]);
	type("\x15", "\r", "\x1b");
	expect(off()).toHaveLength(1);
	expect(closed).toEqual(["closed"]);
});

test("a tool that replaces a built-in one says so", async () => {
	const { tools } = open();
	const [read] = BUILTIN_TOOLS;
	const path = "/home/ada/.pi/agent/hooks/mine.ts";
	const file = { path, realPath: path, scope: "global", name: "mine" } as const;
	tools.useHooks([{ tool: { ...(read ?? expect.fail()), description: "Reads aloud" }, file }]);
	const picker = createToolsPicker(look, { tools, paths, onClose() {} });
	expect(picker.render(80).slice(2, -1)).toEqual(
		expect.arrayContaining([
			expect.stringMatching(/^ → read +~\/\.pi\/agent\/hooks\/mine\.ts +on$/),
			" Replaces the built-in tool · Reads aloud",
		]),
	);
});

test("/tools opens the picker and reports the disabled tools when it closes", async () => {
	const { terminal, submit, session } = await startApp({ rows: 30 });
	await terminal.waitFor("0%");
	await submit("/tools");
	await terminal.waitFor("Tools, for this session");
	await terminal.type("bash ");
	await terminal.press("escape");
	await terminal.waitFor("Off for this session: bash");
	await submit("/tools");
	await terminal.waitFor("Tools, for this session");
	await terminal.press("escape");
	await terminal.waitFor((screen) => !screen.join("").includes("Tools, for this session"));
	expect(session().isRunning).toBe(false);
});
