import { expect, test } from "vitest";
import { isMessageEntry } from "../../../src/log/entry.js";
import { toolCall } from "../../helpers/loopback-provider.js";
import { writeFiles } from "../../helpers/temp.js";
import { type App, startApp } from "./app.js";

const TODO = `export default (pi) => pi.tool({
	name: "todo", description: "Keeps a list",
	parameters: { type: "object", properties: { add: { type: "string" } }, required: ["add"] },
	run: async ({ add }) => {
		if (add === "nothing") throw new Error("there is nothing to add");
		return { content: [{ type: "text", text: "Saved." }], details: { items: ["milk", add] } };
	},
	renderCall: ({ add }, theme) => theme.bold("list") + " + " + add,
	renderResult: ({ details }, theme, { expanded }) => {
		if (details.items[1] === "a wall") return { render: (width) => ["x".repeat(width + 1)], invalidate() {} };
		return details.items.map((item) => theme.dim("○ ") + item).join(expanded ? "\\n" : " · ");
	},
});`;

const CALLS = ["tea", "nothing", "a wall"].map((add) => toolCall("todo", { add }));

/** The rows of the calls, without gutter and padding. */
async function calls(app: App): Promise<string[]> {
	const rows = (await app.terminal.screen()).map((row) =>
		row
			.replace(/^[▎┆◆ ] /, "")
			.replace(/ {2,}/g, " | ")
			.trimEnd(),
	);
	const from = rows.findIndex((row) => row.startsWith("list + tea"));
	return rows
		.slice(
			from,
			rows.findIndex((row) => row.endsWith("Done.")),
		)
		.filter((row) => !/^▎?$/.test(row));
}

async function open(columns: number): Promise<App> {
	const app = await startApp({ columns, rows: 40, hooks: { "todo.ts": TODO } });
	app.provider.reply(CALLS, "Done.");
	await app.terminal.waitFor("0%");
	await app.submit("write it down");
	await app.terminal.waitFor("Done.");
	return app;
}

test.each([40, 80, 120])(
	"a hook draws calls and results of its tool at %d columns; a line that is too wide is cut",
	async (columns) => {
		const rows = await calls(await open(columns));
		const text = rows.join(" ").replaceAll(" │ ", " ");
		expect(text).toBe(
			[
				"list + tea ○ milk · ○ tea",
				"list + nothing | failed ✗ Hook todo.ts:5:32 failed on tool todo: there is nothing to add",
				`list + a wall ${"x".repeat(columns - 5)}…`,
			].join(" "),
		);
		if (columns > 40) expect(rows).toHaveLength(6);
	},
);

test("a resumed session and the transcript pager draw it too, and without the hook it is drawn as any tool", async () => {
	const app = await open(80);
	const { sessionFile } = app.session();
	expect(
		app.session().entries.filter((entry) => isMessageEntry(entry) && entry.message.role === "toolResult"),
	).toHaveLength(3);
	const resumed = await startApp({
		rows: 40,
		agentDir: app.agentDir,
		cwd: app.cwd,
		session: { kind: "open", target: sessionFile ?? "", copy: true },
	});
	await resumed.terminal.waitFor("Done.");
	expect((await calls(resumed)).slice(0, 2)).toEqual(["list + tea", "│ ○ milk · ○ tea"]);
	await resumed.terminal.press("ctrl+o");
	await resumed.terminal.waitFor((screen) => /Transcript ·[\s\S]*list \+ a wall/.test(screen.join("\n")));
	await resumed.terminal.press("escape");
	await resumed.terminal.waitFor((screen) => !screen.join("").includes("Transcript ·"));
	writeFiles(app.agentDir, { "hooks/todo.ts": "export default () => {};" });
	await resumed.submit("/reload");
	await resumed.terminal.waitFor("hook loaded");
	const later = await startApp({
		rows: 40,
		agentDir: app.agentDir,
		cwd: app.cwd,
		session: { kind: "open", target: sessionFile ?? "", copy: true },
	});
	await later.terminal.waitFor("Done.");
	expect(await later.terminal.text()).toContain("todo  add=tea");
});
