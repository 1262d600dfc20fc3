import { createServer } from "node:http";
import {
	type OAuthLoginCallbacks,
	type OAuthProviderInterface,
	registerOAuthProvider,
	unregisterOAuthProvider,
} from "@mariozechner/pi-ai/oauth";
import { expect, onTestFinished, test } from "vitest";
import { untilIdle } from "../../helpers/activity.js";
import { startApp } from "./app.js";

const ADDRESS = "https://example.test/authorize?client_id=pi";
const TOKENS = { access: "access", refresh: "refresh", expires: Date.now() + 3_600_000 };

type Login = OAuthProviderInterface["login"];

/** Registers a provider under a name of its own until the test ends. */
function provide(id: string, usesCallbackServer: boolean, login: Login): void {
	const refreshToken: OAuthProviderInterface["refreshToken"] = async (credentials) => credentials;
	registerOAuthProvider({
		id,
		name: "Test Login",
		usesCallbackServer,
		login,
		refreshToken,
		getApiKey: ({ access }) => access,
	});
	onTestFinished(() => unregisterOAuthProvider(id));
}

/** As pi-ai's own providers: a server on this machine waits for the browser until the user pastes the URL instead. */
function serverLogin(pasted: string[]): { login: Login; isListening(): boolean } {
	const server = createServer();
	return {
		isListening: () => server.listening,
		login: async ({ onAuth, onManualCodeInput }: OAuthLoginCallbacks) => {
			await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
			try {
				onAuth({ url: ADDRESS });
				pasted.push((await onManualCodeInput?.()) ?? "");
				return TOKENS;
			} finally {
				server.close();
			}
		},
	};
}

test("a redirect URL pasted during a login reaches the provider and nothing else", async () => {
	const pasted: string[] = [];
	provide("server-login", true, serverLogin(pasted).login);
	const app = await startApp();
	await app.terminal.waitFor("0%");
	await app.submit("/login server-login");
	await app.terminal.waitFor("paste the redirect URL");
	await app.terminal.paste("http://localhost:1/callback?code=secret-code");
	await app.terminal.press("enter");
	await app.terminal.waitFor("Saved your Test Login account");
	expect(pasted).toEqual(["http://localhost:1/callback?code=secret-code"]);
	expect(app.provider.requests).toEqual([]);
	expect(JSON.stringify(app.session().entries)).not.toContain("secret-code");
	await app.terminal.press("up");
	expect(await app.terminal.text()).not.toContain("secret-code");
});

test("what is typed while the provider checks a pasted code reaches nothing", async () => {
	let finish = () => {};
	const checked = new Promise<void>((resolve) => {
		finish = resolve;
	});
	provide("slow-login", true, async ({ onAuth, onManualCodeInput }) => {
		onAuth({ url: ADDRESS });
		await onManualCodeInput?.();
		await checked;
		return TOKENS;
	});
	const app = await startApp();
	await app.terminal.waitFor("0%");
	await app.submit("/login slow-login");
	await app.terminal.waitFor("paste the redirect URL");
	await app.terminal.paste("the-code");
	await app.terminal.press("enter");
	await app.terminal.waitFor("Waiting for Test Login");
	await app.terminal.type("the-code again");
	finish();
	await app.terminal.waitFor("Saved your Test Login account");
	expect(app.provider.requests).toEqual([]);
	expect(await app.terminal.text()).not.toContain("the-code");
});

test("Escape ends a login completely: the port is free, nothing failed, and the next login works", async () => {
	const pasted: string[] = [];
	const first = serverLogin(pasted);
	provide("server-login", true, first.login);
	const app = await startApp();
	await app.terminal.waitFor("0%");
	await app.submit("/login server-login");
	await app.terminal.waitFor("paste the redirect URL");
	expect(first.isListening()).toBe(true);
	await app.terminal.press("escape");
	await untilIdle(app.session());
	expect(first.isListening()).toBe(false);
	await app.terminal.waitFor((screen) => !screen.some((line) => line.includes("paste the redirect URL")));
	const text = await app.terminal.text();
	expect(text).not.toMatch(/failed|✗/);
	// The address is of no use any more.
	expect(text).not.toMatch(/example\.test|Log in to/);
	await app.submit("/login server-login");
	await app.terminal.waitFor("paste the redirect URL");
	await app.terminal.paste("code");
	await app.terminal.press("enter");
	await app.terminal.waitFor("Saved your Test Login account");
});

test("the question closes when the browser answers, and the editor works again", async () => {
	let answer = () => {};
	provide("browser-login", true, async ({ onAuth, onManualCodeInput }) => {
		onAuth({ url: ADDRESS });
		void onManualCodeInput?.().catch(() => {});
		await new Promise<void>((resolve) => {
			answer = resolve;
		});
		return TOKENS;
	});
	const app = await startApp();
	await app.terminal.waitFor("0%");
	await app.submit("/login browser-login");
	await app.terminal.waitFor("paste the redirect URL");
	answer();
	await app.terminal.waitFor("Saved your Test Login account");
	app.provider.reply("Hello.");
	await app.submit("hi");
	await app.terminal.waitFor("Hello.");
});

test("a login that only waits has the keyboard too, and one Escape ends it", async () => {
	provide("device-login", false, async ({ onAuth }) => {
		onAuth({ url: ADDRESS, instructions: "Enter the code ABCD" });
		return new Promise(() => {});
	});
	const app = await startApp();
	await app.terminal.waitFor("0%");
	await app.submit("/login device-login");
	await app.terminal.waitFor("Waiting for Test Login");
	await app.terminal.type("typed in the meantime");
	await app.terminal.press("escape");
	await untilIdle(app.session());
	await app.terminal.waitFor((screen) => !screen.some((line) => line.includes("Waiting for")));
	expect(app.provider.requests).toEqual([]);
	expect(await app.terminal.text()).not.toContain("typed in the meantime");
});
