import { describe, expect, test } from "vitest";
import { collectUncaught } from "../../helpers/uncaught.js";
import { serve } from "./serve.js";

describe("a client", () => {
	test("sends a prompt, answers a dialog and reads the answer", async () => {
		const { client, provider } = await serve({
			hooks: {
				"gate.ts": `export default (pi) => pi.on("tool_call", async ({ input }, ctx) =>
	(await ctx.ui.confirm("Run it?", input.command)) ? undefined : { block: true, reason: "no" });`,
			},
		});
		provider.reply([{ type: "toolCall", name: "bash", arguments: { command: "echo hi" } }], "it said hi");
		const printed: string[] = [];
		const confirm = (question: string) => question === "echo hi";
		const print = (text: string) => printed.push(text);
		client.subscribe((event) => {
			if (event.type === "tool_execution_start") print(`runs ${event.toolName}`);
			if (event.type === "error") print(`failed: ${event.message}`);
		});
		client.onDialog((dialog) => (dialog.method === "confirm" ? confirm(dialog.message) : null));

		const end = client.nextEvent((event) => event.type === "agent_end");
		await client.call("prompt", { message: "What does `echo hi` say?" });
		await end;
		const { text } = await client.call("get_last_assistant_text");
		print(text ?? "no answer");
		await client.close();
		expect(printed).toEqual(["runs bash", "it said hi"]);
	});

	test("cancels dialogs without a handler, and when the handler fails", async () => {
		const { client } = await serve({
			hooks: {
				"q.ts": `export default (pi) => pi.command("q", { handler: async (ctx) => ({ status: String(await ctx.ui.input("?")) }) });`,
			},
		});
		expect(await client.call("prompt", { message: "/q" })).toMatchObject({ status: "null" });
	});

	test("warns when the answer to a dialog is invalid", async () => {
		const { client } = await serve({
			hooks: {
				"q.ts": `export default (pi) => pi.command("q", { handler: async (ctx) => ({ status: String(await ctx.ui.confirm("?", "")) }) });`,
			},
		});
		const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
		client.onDialog(() => "yes");
		expect(await client.call("prompt", { message: "/q" })).toMatchObject({ status: "false" });
		expect((await warned).message).toBe(
			"Invalid answer to a dialog: confirmed must be true or false · the dialog was canceled",
		);
	});

	test("stays connected when a listener throws", async () => {
		const uncaught = collectUncaught();
		const { client } = await serve();
		client.subscribe(({ type }) => {
			if (type === "activity_changed") throw new Error("no luck");
		});
		await client.call("bash", { command: "true" });
		expect(await client.call("get_state")).toMatchObject({ isStreaming: false });
		expect(new Set(uncaught)).toEqual(new Set(["no luck"]));
	});

	test("rejects pending calls when the server exits", async () => {
		const { client } = await serve();
		const waiting = client.nextEvent(({ type }) => type === "agent_end");
		const refused = expect(waiting).rejects.toThrow("has exited");
		await client.close();
		await refused;
		await expect(client.call("get_state")).rejects.toThrow("has exited");
	});
});
