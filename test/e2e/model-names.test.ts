import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { startPi } from "../helpers/pty.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, openPi, submit, submitIdle } from "./support.js";

test.each([
	[["--model", "nope"], 'pi: No model "nope" · list them with pi models list'],
	[["--provider", "nope"], 'pi: No provider "nope" · list them with pi models list'],
	[["--models", "nope,nein*"], 'pi: No model matches --models "nope", "nein*" · list them with pi models list'],
	[["--plain", "--model", "nope"], 'pi: No model "nope" · list them with pi models list'],
])("%j is refused before a screen is drawn", async (args, line) => {
	const provider = await startProvider();
	const pi = startPi({ args, agentDir: agentDirFor(provider), columns: 120 });
	expect((await pi.exited).code).toBe(2);
	expect(pi.output().trim()).toBe(line);
	const headless = await runPi(["-p", ...args, "hi"], { agentDir: agentDirFor(provider) });
	expect(headless).toMatchObject({ code: 2, stdout: "", stderr: `${line}\n` });
});

test("a name that was accepted once delays no later first paint: its check is not loaded", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	const args = ["--model", "loopback/scripted"];
	const env = { NODE_DEBUG: "module" };
	const loadsBefore = async () => {
		const pi = startPi({ args, agentDir, env, columns: 200 });
		// The report of Node writes over the rows of the screen.
		await expect.poll(() => stripVTControlCharacters(pi.output()).includes("% of"), { timeout: 20_000 }).toBe(true);
		const [before = ""] = pi.output().split("\x1b[?2026h");
		await pi.press("ctrl+d");
		expect((await pi.exited).code).toBe(0);
		return before.includes("check-models.");
	};
	expect([await loadsBefore(), await loadsBefore()]).toEqual([true, false]);
	writeFileSync(join(agentDir, "models.json"), "{}");
	const pi = startPi({ args, agentDir });
	expect((await pi.exited).code).toBe(2);
});

test("the broken models.json is named that could have defined the model", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	const file = join(agentDir, "models.json");
	writeFileSync(file, '{"providers": {"mine": }}');
	const pi = startPi({ args: ["--provider", "mine"], agentDir, columns: 300 });
	expect((await pi.exited).code).toBe(2);
	expect(pi.output()).toContain(`pi: No provider "mine" · models.json has a problem: ${file}:1:24: `);
});

test("print mode without a model describes a broken models.json once", async () => {
	const agentDir = tempDir();
	const file = join(agentDir, "models.json");
	writeFileSync(file, '{"providers": }');
	const { code, stderr } = await runPi(["-p", "hi"], { agentDir });
	expect(code).toBe(1);
	expect(stderr.split("models.json:1:15")).toHaveLength(2);
	expect(stderr).toContain("No model is chosen · fix models.json, set ANTHROPIC_API_KEY");
});

test("the model chosen in a session is used by the next one in the directory, in every mode", async () => {
	const provider = await startProvider();
	provider.on(() => "Fine.");
	const cwd = tempDir();
	const settings = { defaultProvider: undefined, defaultModel: undefined };
	const agentDir = agentDirFor(provider, { settings, models: provider.modelsJson({ reasoning: true }) });
	const pi = await openPi({ args: ["--model", "loopback/scripted"], agentDir, cwd });
	await pi.waitForText("context");
	await submit(pi, "/model loopback-anthropic/scripted:low");
	await pi.waitForText("thinking: low");
	await submitIdle(pi, "/quit");
	expect((await pi.exited).code).toBe(0);
	for (const args of [["-p"], ["--mode", "json"]]) {
		expect(await runPi([...args, "hi"], { agentDir, cwd })).toMatchObject({ code: 0 });
		expect(provider.requests.at(-1)?.api).toBe("anthropic-messages");
	}
	expect(await runPi(["-p", "hi"], { agentDir })).toMatchObject({ code: 0 });
	expect(provider.requests.at(-1)?.api).toBe("openai-completions");
});
