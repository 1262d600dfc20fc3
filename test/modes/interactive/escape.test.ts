import { registerOAuthProvider, unregisterOAuthProvider } from "@mariozechner/pi-ai/oauth";
import { expect, onTestFinished, test } from "vitest";
import { untilIdle } from "../../helpers/activity.js";
import { httpError } from "../../helpers/loopback-provider.js";
import { startApp } from "./app.js";

test("a prompt queued during a failing run returns to the editor, and Enter sends it", async () => {
	const app = await startApp();
	await app.terminal.waitFor("0%");
	let fail = () => {};
	const failing = new Promise<void>((resolve) => {
		fail = resolve;
	});
	app.provider.reply(() => failing.then(() => httpError(400, {}, "no such model")), "Here it is.");
	await app.submit("first question");
	await app.provider.request(1);
	await app.submit("second question");
	await app.terminal.waitFor("→ next: second question");
	fail();
	await app.terminal.waitFor("no such model");
	await untilIdle(app.session());
	await app.terminal.waitFor((screen) => !screen.some((line) => line.includes("→ next")));
	expect((await app.terminal.screen()).filter((line) => line.trim() === "second question")).toHaveLength(1);
	await app.terminal.press("enter");
	await app.terminal.waitFor("Here it is.");
});

test("one Escape ends a login that waits for the browser, even after typing", async () => {
	const id = "waiting-login";
	registerOAuthProvider({
		id,
		name: "Waiting Login",
		login: ({ onAuth }) => {
			onAuth({ url: "https://example.test/authorize" });
			return new Promise(() => {});
		},
		refreshToken: async (credentials) => credentials,
		getApiKey: ({ access }) => access,
	});
	onTestFinished(() => unregisterOAuthProvider(id));
	const app = await startApp();
	await app.terminal.waitFor("0%");
	await app.submit(`/login ${id}`);
	await app.terminal.waitFor("esc cancels");
	await app.submit("/name while it waits");
	await app.terminal.waitFor("while it waits");
	expect(app.session().activity.operations.map(({ name }) => name)).toEqual(["login"]);
	await app.terminal.press("escape");
	await app.terminal.waitFor((screen) => !screen.some((line) => line.includes("esc cancels")));
	expect(app.session().activity.state).toBe("idle");
});

test("Escape ends the wait for a context handler that hangs during startup", async () => {
	const app = await startApp({
		hooks: { "hangs.ts": "export default (pi) => pi.on('context', () => new Promise(() => {}));" },
	});
	await app.terminal.waitFor("hook hangs · context");
	expect(app.session().activity.state).toBe("switching");
	await app.terminal.press("escape");
	await app.terminal.waitFor("0%");
	await untilIdle(app.session());
});
