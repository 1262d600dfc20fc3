import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
	type AssistantMessage,
	type Message,
	streamSimple,
	type ToolCall,
	validateToolArguments,
} from "@mariozechner/pi-ai";
import { expect, test } from "vitest";
import { registerDemoModel } from "../../src/demo/demo-model.js";
import { createScratchProject, SCRATCH_BUG } from "../../src/demo/scratch-project.js";
import { DEMO_PROMPTS } from "../../src/demo/script.js";
import { BUILTIN_TOOLS } from "../../src/tools/index.js";
import { createLocalMachine } from "../../src/tools/machine/local-machine.js";
import { tempDir } from "../helpers/temp.js";

const MAX_TURNS = 10;

/** Runs a tool call, like the agent. */
async function run(call: ToolCall, cwd: string): Promise<Message> {
	const tool = BUILTIN_TOOLS.find(({ name }) => name === call.name);
	if (!tool) throw new Error(`No tool is named ${call.name}`);
	const host = createLocalMachine(cwd);
	const context = { cwd, host, signal: new AbortController().signal, toolCallId: call.id, tmpDir: tempDir() };
	const { content, isError = false } = await tool.run(validateToolArguments(tool, call), context);
	return { role: "toolResult", toolCallId: call.id, toolName: call.name, content, isError, timestamp: 0 };
}

test("the scripted model repairs the scratch project with the real tools", async () => {
	const model = await registerDemoModel({ pace: 0 });
	const { dir } = await createScratchProject(tempDir());
	const messages: Message[] = [{ role: "user", content: DEMO_PROMPTS[0]?.text ?? "", timestamp: 0 }];
	const called: string[][] = [];
	let last: AssistantMessage | undefined;
	for (let turn = 0; turn < MAX_TURNS && last?.stopReason !== "stop"; turn++) {
		last = await streamSimple(model, { messages, tools: [...BUILTIN_TOOLS] }).result();
		messages.push(last);
		const calls = last.content.filter((block) => block.type === "toolCall");
		called.push(calls.map(({ name }) => name));
		for (const call of calls) messages.push(await run(call, dir));
	}

	expect(called).toEqual([["grep", "read"], ["bash"], ["edit"], ["bash"], []]);
	expect(last?.content).toEqual([
		{ type: "text", text: expect.stringMatching(/All tests pass[\s\S]*\/context[\s\S]*\/pop/) },
	]);
	expect(readFileSync(join(dir, SCRATCH_BUG.path), "utf8")).toContain(SCRATCH_BUG.newText);

	const asked: Message = { role: "user", content: 'Summarize as "completed work". Be concise.', timestamp: 0 };
	const summary = await streamSimple(model, { messages: [...messages, asked] }).result();
	expect(summary.content).toEqual([
		{ type: "text", text: expect.stringMatching(/Ran[\s\S]*Edited[\s\S]*all tests pass/) },
	]);
}, 30_000);
