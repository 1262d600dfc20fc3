import { methods } from "@agentclientprotocol/sdk";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { serve } from "./serve.js";

// The client of the tests reports answers to lines that they write themselves.
beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

test("initialize describes what pi can do", async () => {
	const { editor } = await serve();
	expect(await editor.initialize()).toMatchObject({
		protocolVersion: 1,
		agentInfo: { name: "pi", version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
		agentCapabilities: {
			loadSession: true,
			promptCapabilities: { image: true, embeddedContext: true },
			sessionCapabilities: { list: {}, resume: {}, close: {} },
		},
		authMethods: [{ id: "keys" }],
	});
	const { authMethods } = await editor.initialize({ auth: { terminal: true } });
	expect(authMethods).toMatchObject([{ id: "login", type: "terminal", args: ["--login"] }, { id: "keys" }]);
});

test("authenticate accepts its method only", async () => {
	const { editor } = await serve();
	expect(await editor.agent.request(methods.agent.authenticate, { methodId: "keys" })).toEqual({});
	await expect(editor.agent.request(methods.agent.authenticate, { methodId: "magic" })).rejects.toMatchObject({
		code: -32602,
		message: 'There is no login method "magic" · use keys',
	});
});

test("lines that are no requests get an answer, and the connection stays open", async () => {
	const { editor, write, output, id } = await serve();
	write('nonsense\n[]\n42\n{"jsonrpc":"2.0","id":77,"method":"session/dance","params":{}}\n');
	await vi.waitFor(() => expect(output()).toContain('"id":77'), 10_000);
	const errors = output()
		.trim()
		.split("\n")
		.flatMap((line) => JSON.parse(line).error ?? []);
	expect(errors.map(({ code }) => code)).toEqual([-32700, -32600, -32600, -32601]);
	await expect(editor.prompt("unknown", "hi")).rejects.toMatchObject({
		code: -32002,
		message: 'Session "unknown" is not open · begin one with session/new, or use session/load',
	});
	expect(await editor.prompt(id, "/session")).toEqual({ stopReason: "end_turn" });
});

test("every line of the output is a message with well-formed strings", async () => {
	const { editor, provider, id, output } = await serve();
	provider.reply("broken \ud800 text");
	await editor.prompt(id, "hi");
	for (const line of output().trimEnd().split("\n")) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
	expect(output()).not.toMatch(/\\ud800/i);
});

test("the end of the input answers what is open and ends the service", async () => {
	const { served, write, end, output } = await serve();
	write('{"jsonrpc":"2.0","id":"last","method":"session/list","params":{}}');
	end();
	await served;
	expect(output()).toContain('"id":"last","result":{"sessions":[]}');
});

test("updates of a new session follow the answer with its id", async () => {
	const hook = 'export default function (pi) { pi.on("session", (_, ctx) => ctx.ui.notify("hello from start")); }';
	const { output, id, editor } = await serve({
		hooks: { "hello.ts": hook },
		capabilities: { session: { notices: {} } },
	});
	expect(await editor.waitFor("notice")).toMatchObject({ title: "hello from start" });
	const lines = output().trimEnd().split("\n");
	const answer = lines.findIndex((line) => line.includes('"configOptions"'));
	expect(lines.findIndex((line) => line.includes("session/update"))).toBeGreaterThan(answer);
	expect(lines[answer]).toContain(id);
});

test("the error of a hook is shown to the user", async () => {
	const hook = 'export default function (pi) { pi.on("turn_start", () => { throw new Error("it broke"); }); }';
	const { editor, provider, id } = await serve({ hooks: { "bad.ts": hook } });
	provider.reply("ok");
	expect(await editor.prompt(id, "hi")).toEqual({ stopReason: "end_turn" });
	expect(editor.text("agent_message_chunk")).toMatch(/Error: Hook .*bad\.ts.* failed on turn_start.*it broke/);
});
