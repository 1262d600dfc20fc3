import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RpcEvent } from "../../../src/modes/rpc/protocol.js";
import { text } from "../../helpers/loopback-provider.js";
import { serve } from "./serve.js";

const ended = (event: RpcEvent) => event.type === "agent_end";

describe("lines", () => {
	test("that are not commands are answered with an error, and the session continues", async () => {
		const { client, write, responses } = await serve();
		const garbage = [
			"",
			"nonsense",
			"null",
			"7",
			"[]",
			'"text"',
			"{}",
			'{"type":7,"id":"x"}',
			'{"type":"get_stat","id":"y"}',
			'{"type":"toString"}',
			'{"type":"__proto__"}',
			'{"type":"prompt","id":"z"}',
			'{"type":"prompt","message":7}',
			'{"type":"set_thinking_level","level":"huge"}',
			'{"type":"branch","entryIndex":1.5}',
			'{"type":"bash","command":["ls"]}',
			'{"type":"hook_ui_response"}',
			'{"type":"prompt","message":"x","attachments":[{}]}',
			"\u0000\ufffd",
			`{"type":"get_state","id":${"[".repeat(3000)}${"]".repeat(3000)}}`,
		];
		write(`${garbage.join("\n")}\n`);
		await client.call("get_state");
		const answers = responses();
		expect(answers).toHaveLength(garbage.length + 1);
		const errors = answers.flatMap((answer) => (answer.type === "response" && !answer.success ? [answer] : []));
		expect(errors).toHaveLength(garbage.length);
		expect(errors.find(({ id }) => id === "y")?.error).toBe('Unknown command "get_stat" · did you mean get_state?');
		expect(errors.find(({ id }) => id === "z")?.error).toBe("prompt requires message");
		expect(errors.map(({ error }) => error)).toContain(
			'set_thinking_level: level must be one of "off", "minimal", "low", "medium", "high", "xhigh", "max"',
		);
		expect(errors.every(({ error }) => !error.includes("\n"))).toBe(true);
	});

	test("get an answer with their id, whatever its type", async () => {
		const { client, write, responses } = await serve();
		for (const id of [7, "seven", null, { a: [1] }, false]) write(`${JSON.stringify({ id, type: "get_commands" })}\n`);
		write('{"type":"get_commands"}\r\n');
		await client.call("get_state");
		const ids = responses().map((line) => ("id" in line ? line.id : "none"));
		expect(ids.slice(0, 6)).toEqual([7, "seven", null, { a: [1] }, false, "none"]);
	});

	test("can contain any character except a line feed", async () => {
		const { client, provider } = await serve();
		provider.reply("ok");
		const end = client.nextEvent(ended);
		await client.call("prompt", { message: "a\u2028b\u2029c\nd😀" });
		await end;
		expect(provider.requests[0]?.messages.at(-1)?.text).toBe("a\u2028b\u2029c\nd😀");
	});
});

describe("shutdown", () => {
	test("at the end of the input aborts the run, notifies the hooks and closes the session", async () => {
		const { client, provider, served, session, end, cwd } = await serve({
			session: { kind: "new" },
			hooks: {
				"bye.ts": `import { writeFileSync } from "node:fs";
export default (pi) => pi.on("session", ({ reason }, ctx) => { if (reason === "shutdown") writeFileSync(ctx.cwd + "/bye", "x"); });`,
			},
		});
		let release = () => {};
		provider.reply({
			content: [text("long story")],
			hold: new Promise<void>((resolve) => {
				release = resolve;
			}),
		});
		await client.call("prompt", { message: "tell" });
		await client.nextEvent(({ type }) => type === "message_update");
		end();
		await served;
		release();
		expect(session.isRunning).toBe(false);
		expect(existsSync(join(cwd, "bye"))).toBe(true);
		await expect(client.call("get_state")).rejects.toThrow("has exited");
	});

	test("answers earlier commands and cancels open dialogs", async () => {
		const { write, end, served, responses } = await serve({
			hooks: {
				"q.ts": `export default (pi) => pi.command("q", { handler: (ctx) => ctx.ui.input("?").then((v) => ({ status: String(v) })) });`,
			},
		});
		write('{"id":1,"type":"get_state"}\n{"id":2,"type":"prompt","message":"/q"}\n{"id":3,"type":"get_commands"}');
		end();
		await served;
		expect(responses()).toMatchObject([
			{ id: 1, success: true },
			{ id: 3, success: true },
			{ id: 2, success: true, data: { outcome: "command" } },
		]);
	});
});
