// Floor for a conversation that pi's own library holds: pi-ai sends the requests and builds the messages; with a
// third argument, each tool call runs in that shell with pipes for its output, like pi; without it, nothing runs.
import { spawn } from "node:child_process";
import { streamSimple } from "@mariozechner/pi-ai/compat";

const [url, prompt, shell] = process.argv.slice(2);
const model = {
	id: "scripted",
	name: "scripted",
	provider: "bench",
	api: "openai-completions",
	baseUrl: `${url}/v1`,
	reasoning: false,
	input: ["text"],
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
	contextWindow: 100_000_000,
	maxTokens: 4096,
};
const tools = [
	{
		name: "bash",
		description: "Run a command",
		parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
	},
];
const messages = [{ role: "user", content: prompt, timestamp: Date.now() }];

for (;;) {
	const answer = await streamSimple(model, { messages, tools }, { apiKey: "key" }).result();
	messages.push(answer);
	if (answer.stopReason !== "toolUse") {
		process.stdout.write(`${answer.content.map(({ text }) => text).join("")}\n`);
		break;
	}
	for (const call of answer.content.filter(({ type }) => type === "toolCall")) {
		if (shell) {
			const child = spawn(shell, ["-c", call.arguments.command], { detached: true, stdio: ["ignore", "pipe", "pipe"] });
			await new Promise((resolve) => child.once("close", resolve));
		}
		messages.push({
			role: "toolResult",
			toolCallId: call.id,
			toolName: call.name,
			content: [{ type: "text", text: "(no output)" }],
			isError: false,
			timestamp: Date.now(),
		});
	}
}
process.exit();
