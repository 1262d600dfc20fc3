// Floor for a conversation: one HTTP client, the same exchange as pi in print mode, `true` run for each tool call; with a
// third argument, in that shell and with pipes for its output.
import { spawn } from "node:child_process";
import { Agent, request } from "node:http";

const [url, prompt, shell] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const messages = [{ role: "user", content: prompt }];

/** Sends the conversation and collects the answer: its text and, if any, its tool call. */
function exchange() {
	return new Promise((resolve, reject) => {
		const outgoing = request(`${url}/v1/chat/completions`, { method: "POST", agent, headers: { "content-type": "application/json" } });
		outgoing.once("error", reject);
		outgoing.once("response", (response) => {
			let rest = "";
			const answer = { role: "assistant", content: "" };
			response.setEncoding("utf8");
			response.on("data", (chunk) => {
				const lines = (rest + chunk).split("\n");
				rest = lines.pop();
				for (const line of lines) {
					if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
					const delta = JSON.parse(line.slice(6)).choices[0]?.delta ?? {};
					if (delta.content) answer.content += delta.content;
					if (delta.tool_calls) answer.tool_calls = delta.tool_calls;
				}
			});
			response.once("end", () => resolve(answer));
		});
		outgoing.end(JSON.stringify({ model: "scripted", stream: true, messages }));
	});
}

for (;;) {
	const answer = await exchange();
	messages.push(answer);
	if (!answer.tool_calls) {
		process.stdout.write(`${answer.content}\n`);
		break;
	}
	for (const call of answer.tool_calls) {
		const child = shell
			? spawn(shell, ["-c", "true"], { detached: true, stdio: ["ignore", "pipe", "pipe"] })
			: spawn("true", { stdio: "ignore" });
		await new Promise((resolve) => child.once("close", resolve));
		messages.push({ role: "tool", tool_call_id: call.id, content: "(no output)" });
	}
}
agent.destroy();
