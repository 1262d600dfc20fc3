import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { installPackage } from "../helpers/installed-package.js";
import { piPlace } from "../helpers/pi-environment.js";
import { AUTHORITY, startProxy, startSocksProxy, startTlsServer } from "../helpers/proxy.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

/** Asks in one session for each environment at the same time, and prints the failures; then uses fetch itself. */
const PROGRAM = `
import { createAgentSession } from "@mariozechner/pi-coding-agent";

const dispatcher = () => globalThis[Symbol.for("undici.globalDispatcher.1")];
const ask = async (env) => {
	const session = await createAgentSession({ env, session: { kind: "memory" }, model: "lab/one", settings: { retry: { enabled: false } } });
	await session.start();
	const { outcome } = await session.prompt("hi");
	await session.dispose();
	return outcome.last.errorMessage;
};
const failures = await Promise.all(JSON.parse(process.env.ENVIRONMENTS).map(ask));
const own = await fetch("https://models.test").then(String, (error) => error.cause.code);
console.log(JSON.stringify({ failures, own, isOwnDispatcher: dispatcher()?.constructor.name }));
`;

test("sessions of a program reach a TLS server through their own proxies, which the program does not use", async () => {
	const port = await startTlsServer((request, response) => {
		request.resume().on("end", () => {
			response.writeHead(418, { "content-type": "application/json" }).end('{"error":{"message":"it arrived"}}');
		});
	});
	const [http, socks, refusing] = [
		await startProxy({ port }),
		await startSocksProxy({ port }),
		await startProxy({ refuses: 403 }),
	];
	const lab = { baseUrl: "https://models.test/v1", api: "openai-completions", apiKey: "k", models: [{ id: "one" }] };
	const agentDir = tempAgentDir({ models: { providers: { lab } } });
	const environments = [
		{ HTTPS_PROXY: `http://127.0.0.1:${http.port}` },
		{ ALL_PROXY: `socks5://127.0.0.1:${socks.port}` },
		{ HTTPS_PROXY: `http://127.0.0.1:${refusing.port}` },
		{},
	].map((env) => ({ PI_CODING_AGENT_DIR: agentDir, ...env }));
	const project = tempDir();
	const tarball = inject("installation")?.tarball;
	if (!tarball) throw new Error("The program is not installed");
	installPackage(project, tarball);
	writeFiles(project, { "package.json": { type: "module" }, "main.js": PROGRAM });
	const { env, cwd } = piPlace({ agentDir });
	const child = spawn(process.execPath, [join(project, "main.js")], {
		cwd,
		env: { ...env, NODE_EXTRA_CA_CERTS: AUTHORITY, ENVIRONMENTS: JSON.stringify(environments) },
	});
	let output = "";
	for (const stream of [child.stdout, child.stderr]) {
		stream.setEncoding("utf8").on("data", (chunk: string) => {
			output += chunk;
		});
	}
	expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
	expect(JSON.parse(output)).toEqual({
		failures: [
			"418 it arrived",
			"418 it arrived",
			`proxy 127.0.0.1:${refusing.port} refused to connect to lab at models.test:443 (403)`,
			expect.stringMatching(/^cannot connect to lab at models\.test:443: DNS/),
		],
		own: expect.stringMatching(/^(?:ENOTFOUND|EAI_AGAIN)$/),
		isOwnDispatcher: "Agent",
	});
	expect([http.requests, socks.requests, refusing.requests].map(([first]) => first)).toEqual([
		"CONNECT models.test:443",
		"models.test:443",
		"CONNECT models.test:443",
	]);
});
