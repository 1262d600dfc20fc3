import { expect, test } from "vitest";
import { type LoopbackProvider, type ProviderRequest, startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { enforceWindows } from "../helpers/window-server.js";
import { openPi, submit } from "./support.js";

const agentDir = (provider: LoopbackProvider) =>
	tempAgentDir({
		models: provider.modelsJson({ contextWindow: 8192, maxTokens: 1024 }),
		settings: { defaultProvider: "loopback", defaultModel: "scripted" },
	});

const isSummary = ({ messages }: ProviderRequest) => messages[0]?.text.startsWith("You write hand-over notes") === true;

test("a session goes on in a window of 8k, says when it compacts, and /uncompact undoes it", async () => {
	const provider = await startProvider();
	const seen = enforceWindows(provider, { windows: { scripted: 8192 }, bytesPerToken: 3.8 }, (request) => {
		if (isSummary(request)) return "## Goal\nRead the file.";
		const last = request.messages.at(-1);
		const question = request.messages.findLast(({ role }) => role === "user")?.text;
		return last?.role === "user" ? [toolCall("read", { path: "long.txt" })] : `Answered ${question}.`;
	});
	const cwd = tempDir();
	writeFiles(cwd, { "long.txt": "lorem ipsum dolor sit amet\n".repeat(400) });
	const pi = await openPi({ agentDir: agentDir(provider), cwd, columns: 100, rows: 40 });
	await pi.waitForText("0%");
	for (let turn = 1; turn <= 4; turn++) {
		await submit(pi, `question ${turn}`);
		await pi.waitForText(`Answered question ${turn}.`);
		await pi.waitForGone("esc stops");
		expect(JSON.stringify(seen.accepted.findLast((request) => !isSummary(request))?.body)).toContain(
			`question ${turn}`,
		);
	}
	expect(seen.refused.length).toBeLessThanOrEqual(1);
	expect(await pi.scrollback()).toContain("compacted here");
	await submit(pi, "/uncompact anyway");
	await pi.waitForText(/entry \d+ undone/);
	await pi.press("ctrl+d");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
});

test("a prompt that does not fit ends print mode with code 1, its size and what to do, without a request", async () => {
	const provider = await startProvider();
	const cwd = tempDir();
	writeFiles(cwd, { "huge.txt": "lorem ipsum dolor sit amet\n".repeat(4000) });
	const { code, stdout, stderr } = await runPi(["-p", "@huge.txt", "what is it?"], {
		agentDir: agentDir(provider),
		cwd,
	});
	expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
	expect(stderr).toMatch(/The prompt has about [\d,]+ tokens, but Scripted has a window of 8,192.*larger window/s);
	expect(provider.requests).toEqual([]);
});
