import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, text, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, openPi, submit } from "./support.js";

const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const RUNS = 12;

test("a hook is put into the shadow, shows what it would have saved on this session, and is turned on", async () => {
	const provider = await startProvider();
	const models = provider.modelsJson({ cost: COST, contextWindow: 1_000_000 });
	const agentDir = agentDirFor(provider, { models });
	const cwd = tempDir("pi-project-");
	const content = (at: number) => `export const theValueOfFile${at} = ${at};\n`.repeat(900);
	writeFiles(cwd, Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`file${at}.ts`, content(at)])));
	let [request, cached] = [0, 0];
	provider.on(({ body }) => {
		const tokens = Math.ceil(JSON.stringify(body).length / 3.3);
		const usage = { input: 0, output: 20, cacheRead: cached, cacheWrite: tokens - cached };
		cached = tokens;
		const step = request++ % 3;
		const answer = text(`done ${Math.floor(request / 3)}`);
		return { content: step < 2 ? [toolCall("read", { path: `file${(request + step) % 6}.ts` })] : [answer], usage };
	});
	const settings = () => JSON.parse(readFileSync(join(agentDir, "settings.json"), "utf8"));

	const pi = await openPi({ agentDir, cwd, columns: 80, rows: 40 });
	await submit(pi, "/hooks");
	await pi.waitForText("type to filter");
	pi.type("pi:clear");
	await pi.waitForText("→ clear");
	await pi.press("ctrl+t");
	await pi.waitForText("no requests yet");
	await pi.press("escape");
	expect(settings().shadowHooks).toEqual(["pi:clear"]);
	for (let run = 1; run <= RUNS; run++) {
		await submit(pi, `run ${run}`);
		await pi.waitForText(`done ${run}`);
	}
	// Nothing of it was sent.
	expect(provider.requests.some(({ body }) => JSON.stringify(body).includes("recall"))).toBe(false);

	await submit(pi, "/hooks");
	await pi.waitForText("type to filter");
	pi.type("pi:clear");
	const shown = (await pi.waitForText("36 requests")).replace(/\s+/g, " ");
	const [, sent, actual] = /would have sent (\S+) instead of (\S+) tokens \(−\d+ %\), \$/.exec(shown) ?? [];
	const { stdout } = await runPi(["context", "bench", "--sessions", "last:1", "pi:clear"], { agentDir, cwd });
	expect(stdout).toMatch(new RegExp(`^none +${actual} `, "m"));
	expect(stdout).toMatch(new RegExp(`^pi:clear +${sent} `, "m"));

	await pi.press("space");
	await pi.waitForText(/→ clear .*1 call/);
	expect(settings()).toMatchObject({ hooks: ["pi:clear"], shadowHooks: [] });
	await pi.press("escape");
	await submit(pi, "one more");
	await pi.waitForText(`done ${RUNS + 1}`);
	expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain("recall");
});
