import { expect, test } from "vitest";
import { portOf, serveOllama } from "../../helpers/local-server.js";
import { startProvider } from "../../helpers/loopback-provider.js";
import { startApp } from "./app.js";

async function startOllamaApp(columns: number, model: string) {
	const server = serveOllama(await startProvider(), [
		{ id: "qwen3", loadsWith: 32_768 },
		{ id: "gemma2", capabilities: ["completion"] },
	]);
	const localServers = { ports: { ollama: portOf(server) }, timeoutMs: 5000 };
	const app = await startApp({
		columns,
		rows: 30,
		model,
		session: { kind: "memory" },
		localServers,
		agentSettings: { compaction: { enabled: false } },
	});
	await app.terminal.waitFor("0%");
	return { server, ...app };
}

test.each([120, 80, 40])(
	"the footer shows the window with which a server loaded a model, at %d columns",
	async (columns) => {
		const { terminal, submit, server, session } = await startOllamaApp(columns, "ollama/qwen3");
		const footer = async () => (await terminal.screen()).slice(-2).join("\n");
		const isWide = columns > 40;
		if (isWide) expect(await footer()).toContain("of 4.1k");
		server.reply("hello");
		await submit("hi");
		await terminal.waitFor("hello");
		if (isWide) await terminal.waitFor("of 32.8k");
		else await session().abort();
		expect(session().contextUsage().contextWindow).toBe(32_768);
	},
);

test.each([
	[120, ["ollama/gemma2 cannot call tools · pi sends requests without them, so it cannot read or change files"]],
	[80, ["ollama/gemma2 cannot call tools · pi sends requests without them, so it", "cannot read or change files"]],
	[40, ["ollama/gemma2 cannot call tools · pi", "sends requests without them, so it", "cannot read or change files"]],
])("choosing a model that cannot call tools says so, at %d columns", async (columns, expected) => {
	const { terminal, submit } = await startOllamaApp(columns, "ollama/qwen3");
	await submit("/model ollama/gemma2");
	await terminal.waitFor("cannot call tools");
	const screen = (await terminal.screen()).map((row) => row.replace(/^[▎⚠!\s]+/, "").trimEnd());
	const at = screen.findIndex((row) => row.startsWith("ollama/gemma2 cannot"));
	expect(screen.slice(at, at + expected.length)).toEqual(expected);
});
