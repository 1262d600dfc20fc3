import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir } from "../helpers/temp.js";

/** A server that redirects every request to what `to` makes of its path. */
async function redirecting(to: (path: string) => string): Promise<string> {
	const server = createServer((request, response) => {
		response.writeHead(307, { location: to(request.url ?? "/") }).end();
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each(["openai-completions", "anthropic-messages"] as const)(
	"%s: a redirect to another server gets neither key nor prompt, and the error says what to do",
	async (api) => {
		const provider = await startProvider();
		const url = await redirecting((path) => `${provider.origin}${path}`);
		const models = JSON.parse(JSON.stringify(provider.modelsJson({ apis: [api] })).replaceAll(provider.origin, url));
		const agentDir = tempAgentDir({ models, settings: { retry: { enabled: false } } });
		const [name = ""] = Object.keys(models.providers);
		const { code, stderr } = await runPi(["-p", "--model", `${name}/scripted`, "secret plan"], { agentDir });
		expect(code).toBe(1);
		expect(stderr).toContain(
			"redirects to another server (307), which must not get your key · set baseUrl to its address",
		);
		expect(provider.requests).toEqual([]);
	},
);
