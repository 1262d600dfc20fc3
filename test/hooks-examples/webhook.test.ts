import { connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { startSession } from "../helpers/session.js";
import { example } from "./example.js";

const HOOK = example("webhook.ts");

async function start() {
	const notes: string[] = [];
	const test = await startSession({ hookFiles: [HOOK], ui: { notify: (message) => void notes.push(message) } });
	test.provider.on(() => "ok");
	return { ...test, notes };
}

/** Runs /webhook. @returns the address and the token from its notice */
async function open(test: Awaited<ReturnType<typeof start>>, command = "/webhook") {
	expect(await test.session.prompt(command)).toMatchObject({
		status: expect.stringContaining("The webhook listens at"),
	});
	const [, token = "", origin = ""] = /Bearer ([\w-]+)" -d ".*" (http:\S+)$/.exec(test.notes.at(-1) ?? "") ?? [];
	const post = (body: string, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
		fetch(origin, { method: "POST", body, headers });
	return { token, origin, post, port: Number(new URL(origin).port) };
}

function refuses(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect(port, "127.0.0.1");
		socket.on("error", () => resolve(true));
		socket.on("connect", () => {
			socket.destroy();
			resolve(false);
		});
	});
}

test("sends the body of a request with the token as a prompt", async () => {
	const test = await start();
	const { post, origin } = await open(test);
	expect(new URL(origin).hostname).toBe("127.0.0.1");
	expect((await post("the build failed\n")).status).toBe(202);
	await test.provider.request(1);
	expect(test.sent(1)).toEqual(["user: the build failed"]);
});

test.each([
	["no token", "hi", {}, 401],
	["another token", "hi", { authorization: `Bearer ${"A".repeat(32)}` }, 401],
	["a token of another length", "hi", { authorization: "Bearer x" }, 401],
	["an empty body", " \n", undefined, 400],
	["a body that is too long", "x".repeat(65 * 1024), undefined, 413],
])("refuses a request with %s", async (_, body, headers, status) => {
	const test = await start();
	const { post } = await open(test);
	expect((await post(body, headers)).status).toBe(status);
	expect(test.provider.requests).toEqual([]);
});

test("rejects other methods", async () => {
	const test = await start();
	const { origin, token } = await open(test);
	const response = await fetch(origin, { headers: { authorization: `Bearer ${token}` } });
	expect(response.status).toBe(405);
});

test("opens a port only on command, and closes it on stop and when the session ends", async () => {
	const test = await start();
	expect(await test.session.prompt("/webhook stop")).toMatchObject({ status: "The webhook is not open" });
	const first = await open(test);
	expect(await test.session.prompt("/webhook stop")).toMatchObject({ status: "The webhook is closed" });
	expect(await refuses(first.port)).toBe(true);
	const second = await open(test, `/webhook ${first.port}`);
	expect(second.port).toBe(first.port);
	expect(second.token).not.toBe(first.token);
	expect((await first.post("old token")).status).toBe(401);
	await test.session.dispose();
	expect(await refuses(first.port)).toBe(true);
});

test("reports why a port cannot be opened", async () => {
	const test = await start();
	const taken = createServer();
	await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
	const address = taken.address();
	const port = typeof address === "object" && address ? address.port : 0;
	expect(await test.session.prompt(`/webhook ${port}`)).toMatchObject({
		status: expect.stringMatching(/^Port \d+ cannot be opened: .*EADDRINUSE/),
	});
	await new Promise((resolve) => taken.close(resolve));
	expect(await test.session.prompt("/webhook http")).toMatchObject({ status: "http is not a port" });
});
