import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { type ProviderLogin, registerLogin } from "../../../src/models/logins.js";
import { untilIdle } from "../../helpers/activity.js";
import { startApp } from "./app.js";

const ADDRESS = "https://example.test/authorize?client_id=pi";
const TOKENS = { type: "oauth" as const, access: "access", refresh: "refresh", expires: Date.now() + 3_600_000 };

type Login = ProviderLogin["login"];

/** Registers a provider under a name of its own until the test ends. */
function provide(provider: string, login: Login): void {
	const refresh: ProviderLogin["refresh"] = async (credential) => credential;
	const toAuth: ProviderLogin["toAuth"] = async ({ access }) => ({ apiKey: access });
	onTestFinished(registerLogin({ provider, name: "Test Login", login, refresh, toAuth }));
}

/** Shows the address, and asks for the URL to which the browser is sent. */
function askForUrl({ notify, prompt }: Parameters<Login>[0], signal?: AbortSignal): Promise<string> {
	notify({ type: "auth_url", url: ADDRESS });
	return prompt({ type: "manual_code", message: "Paste the code", ...(signal && { signal }) });
}

/** As pi-ai's own providers: a server on this machine waits for the browser until the user pastes the URL instead. */
function serverLogin(pasted: string[]): { login: Login; isListening(): boolean } {
	const server = createServer();
	return {
		isListening: () => server.listening,
		login: async (interaction) => {
			await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
			try {
				pasted.push(await askForUrl(interaction));
				return TOKENS;
			} finally {
				server.close();
			}
		},
	};
}

test("a redirect URL pasted during a login reaches the provider and nothing else", async () => {
	const pasted: string[] = [];
	provide("server-login", serverLogin(pasted).login);
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
	provide("slow-login", async (interaction) => {
		await askForUrl(interaction);
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
	provide("server-login", first.login);
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

test.each([40, 80])("progress of a login disappears with it, at %d columns", async (columns) => {
	provide("server-login", async (interaction) => {
		interaction.notify({ type: "progress", message: "Listening for the browser" });
		await askForUrl(interaction);
		return TOKENS;
	});
	const app = await startApp({ columns });
	await app.terminal.waitFor("0%");
	await app.submit("/login server-login");
	await app.terminal.waitFor("Listening for the browser");
	await app.terminal.press("escape");
	await untilIdle(app.session());
	await app.terminal.waitFor((screen) => !screen.some((line) => line.includes("redirect URL")));
	expect(await app.terminal.text()).not.toContain("Listening for");
});

test("the question closes when the browser answers, and the editor works again", async () => {
	let answer = () => {};
	provide("browser-login", async (interaction) => {
		const question = new AbortController();
		const asked = askForUrl(interaction, question.signal).catch(() => {});
		await new Promise<void>((resolve) => {
			answer = resolve;
		});
		question.abort();
		await asked;
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
	provide("device-login", async ({ notify }) => {
		notify({ type: "device_code", verificationUri: ADDRESS, userCode: "ABCD" });
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
