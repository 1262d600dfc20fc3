import { expect, test } from "vitest";
import type { Reply } from "../helpers/loopback-provider.js";
import { startProvider } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, openPi, submit, submitIdle } from "./support.js";

/** A provider whose other model writes titles, and settings that name it. */
async function start(title: Reply) {
	const provider = await startProvider();
	provider.on(({ api }) => (api === "anthropic-messages" ? title : "The sum is rounded too early."));
	const agentDir = agentDirFor(provider, { settings: { titleModel: "loopback-anthropic/scripted" } });
	return { provider, agentDir, cwd: tempDir() };
}

test("the title of the model names the session, and /resume lists it", async () => {
	const { agentDir, cwd } = await start("Rounding of prices");
	const pi = await openPi({ agentDir, cwd, columns: 120 });
	await submit(pi, "Why is the total wrong by a cent?");
	await pi.waitForText("The sum is rounded");
	await pi.waitForText("Rounding of prices");
	await submitIdle(pi, "/quit");
	expect(await pi.exited).toMatchObject({ code: 0 });
	const list = await runPi(["sessions", "list", "--json"], { agentDir, cwd });
	expect(JSON.parse(list.stdout)).toMatchObject([{ name: "Rounding of prices" }]);
	for (const columns of [40, 80]) {
		const again = await openPi({ agentDir, cwd, columns, args: ["-r"] });
		await again.waitForText("Rounding of prices");
	}
});

test("quitting does not wait for the title", async () => {
	const { provider, agentDir, cwd } = await start({ fault: { kind: "stall", at: "headers" } });
	const pi = await openPi({ agentDir, cwd });
	await submit(pi, "Why is the total wrong by a cent?");
	await pi.waitForText("The sum is rounded");
	const { closed } = await provider.request(2);
	await submitIdle(pi, "/quit");
	expect(await pi.exited).toMatchObject({ code: 0 });
	expect(await closed).toBe(false);
	const list = await runPi(["sessions", "list", "--json"], { agentDir, cwd });
	expect(JSON.parse(list.stdout)[0]?.name ?? null).toBeNull();
});

test("pi -p asks for no title", async () => {
	const { provider, agentDir, cwd } = await start("Rounding of prices");
	for (const args of [[], ["--no-session"]])
		expect(await runPi(["-p", ...args, "Why?"], { agentDir, cwd })).toMatchObject({ code: 0 });
	expect(provider.requests.map(({ api }) => api)).toEqual(["openai-completions", "openai-completions"]);
});
