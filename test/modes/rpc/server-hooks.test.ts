import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { serve } from "./serve.js";

describe("hooks", () => {
	const ASK = `export default (pi) => {
		pi.command("ask", { async handler(ctx) {
			const chosen = await ctx.ui.select("Which?", [{ label: "A", value: 1, description: "first" }, { label: "A", value: 2 }]);
			const sure = await ctx.ui.confirm("Sure?", "really");
			const word = await ctx.ui.input("Word", "a word", { initial: "wo" });
			ctx.ui.notify("done", "warning");
			return { status: JSON.stringify([chosen, sure, word, ctx.hasUI]) };
		} });
		pi.command("hang", { handler: (ctx) => ctx.ui.select("Which?", ["a"]).then((value) => ({ status: String(value) })) });
		pi.command("brief", { handler: (ctx) => ctx.ui.confirm("Now?", "", { timeout: 1 }).then((value) => ({ status: String(value) })) });
		pi.command("both", { async handler(ctx) {
			return { status: JSON.stringify(await Promise.all([ctx.ui.input("one"), ctx.ui.input("two")])) };
		} });
		pi.command("fail", { handler() { throw new Error("no luck"); } });
	}`;

	test("ask through the client, one dialog after another", async () => {
		const { client, events } = await serve({ hooks: { "ask.ts": ASK } });
		client.onDialog((dialog) => {
			if (dialog.method === "select") return dialog.options[1] ?? null;
			return dialog.method === "confirm" ? true : "word";
		});
		expect(await client.call("prompt", { message: "/ask" })).toEqual({
			outcome: "command",
			status: '[2,true,"word",false]',
		});
		expect(events("hook_ui_request")).toEqual([
			expect.objectContaining({
				hook: "ask",
				method: "select",
				title: "Which?",
				options: ["A", "A (2)"],
				descriptions: ["first", null],
			}),
			expect.objectContaining({ hook: "ask", method: "confirm", title: "Sure?", message: "really" }),
			expect.objectContaining({ hook: "ask", method: "input", title: "Word", placeholder: "a word", initial: "wo" }),
			expect.objectContaining({ method: "notify", message: "done", notifyType: "warning" }),
		]);
	});

	test("that ask concurrently get one dialog at a time", async () => {
		const { client, events, write } = await serve({ hooks: { "ask.ts": ASK } });
		client.onDialog((dialog) => {
			// The other dialog must not be open yet: its answer would be ignored.
			for (const { id } of events("hook_ui_request")) {
				if (id !== dialog.id) write(`${JSON.stringify({ type: "hook_ui_response", id, value: "late" })}\n`);
			}
			return dialog.title;
		});
		expect(await client.call("prompt", { message: "/both" })).toMatchObject({ status: '["one","two"]' });
	});

	test("get the canceled result on abort and timeout, and late answers are ignored", async () => {
		const { client, events, write } = await serve({ hooks: { "ask.ts": ASK } });
		client.onDialog(() => new Promise(() => {}));
		expect(await client.call("prompt", { message: "/brief" })).toMatchObject({ status: "false" });
		const [request] = events("hook_ui_request");
		expect(events("hook_ui_closed")).toEqual([{ type: "hook_ui_closed", id: request?.id }]);
		write(`${JSON.stringify({ type: "hook_ui_response", id: request?.id, confirmed: true })}\n`);

		const asked = client.nextEvent(({ type }) => type === "hook_ui_request");
		const hanging = client.call("prompt", { message: "/hang" });
		await asked;
		expect(await client.call("get_state")).toMatchObject({ isStreaming: false });
		await client.call("abort");
		expect(await hanging).toMatchObject({ outcome: "command" });
		expect(events("hook_ui_closed")).toHaveLength(2);
	});

	test("of an aborted built-in command close, and late answers change nothing", async () => {
		const { client, session, events, write } = await serve();
		client.onDialog(() => new Promise(() => {}));
		const asked = client.nextEvent(({ type }) => type === "hook_ui_request");
		const naming = client.call("prompt", { message: "/name" });
		await asked;
		await client.call("abort");
		expect(await naming).toMatchObject({ outcome: "command" });
		const [request] = events("hook_ui_request");
		expect(events("hook_ui_closed")).toEqual([{ type: "hook_ui_closed", id: request?.id }]);
		write(`${JSON.stringify({ type: "hook_ui_response", id: request?.id, value: "late" })}\n`);
		await client.call("get_state");
		expect(session.sessionName).toBeNull();
	});

	test.each([
		["select", `select("Which?", ["red", "green"])`, { value: "purple" }, 'value must be one of "red", "green"'],
		["select", `select("Which?", ["red", "green"])`, {}, 'value must be one of "red", "green"'],
		[
			"select",
			`select("Which?", ["red"], { multiple: true })`,
			{ value: ["red", "blue"] },
			'value must be a list of "red"',
		],
		["confirm", `confirm("Sure?", "")`, { value: "yes" }, "confirmed must be true or false"],
		["input", `input("Word")`, { value: 5 }, "value must be a string"],
		["editor", `editor("Text", "")`, { confirmed: true }, "value must be a string"],
	])(
		"that ask in a %s get the canceled result of an invalid answer, and the client an error: %#",
		async (method, call, answer, error) => {
			const hook = `export default (pi) => pi.command("ask", { handler: async (ctx) => ({ status: String(await ctx.ui.${call}) }) });`;
			const { client, lines, write } = await serve({ hooks: { "ask.ts": hook } });
			client.onDialog(({ id, method: asked }) => {
				expect(asked).toBe(method);
				write(`${JSON.stringify({ type: "hook_ui_response", id, ...answer })}\n`);
				return new Promise(() => {});
			});
			const { outcome, status } = Object(await client.call("prompt", { message: "/ask" }));
			expect([outcome, status]).toEqual(["command", method === "confirm" ? "false" : "null"]);
			const command = "hook_ui_response";
			expect(lines).toContainEqual({
				id: expect.any(String),
				type: "response",
				command,
				success: false,
				error: `${error} · the dialog was canceled`,
				code: "bad_arguments",
			});
		},
	);

	test("that fail are reported by name", async () => {
		const { client, events, agentDir } = await serve({ hooks: { "ask.ts": ASK } });
		const path = join(agentDir, "hooks/ask.ts");
		await expect(client.call("prompt", { message: "/fail" })).rejects.toThrow(
			"Hook ask.ts:14:42 failed on /fail: no luck",
		);
		const failure = { type: "hook_error", hookPath: path, event: "/fail", error: "no luck" };
		expect(events("hook_error")).toEqual([{ ...failure, file: path, line: 14, column: 42 }]);
	});

	test("that do not load are reported as notices", async () => {
		const { client, events } = await serve({ hooks: { "bad.ts": "throw new Error('broken')" } });
		await client.call("get_state");
		expect(events("notice")).toMatchObject([{ level: "warning", message: expect.stringContaining("broken") }]);
	});
});
